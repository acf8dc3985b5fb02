// The figures of a result, a row for each field. JSON both ways, the tables of metrics (metrics.h), and what
// test/result/facts_test.cpp writes follow from these rows: the fields' lines in docs/schemas/result.json,
// the types of the page and of Python, and the table in docs/result-figures.md.
#pragma once

#include "result/metrics.h"

#include <string_view>
#include <tuple>
#include <type_traits>

namespace warplens {

/// The properties that make a field a metric, beyond its value. `Owner` is KernelResult or SiteResult.
template <class Owner> struct MetricTraits {
  unsigned column; ///< the metric's place among those of its owner, in CSV and comparisons; 0: no metric
  Worse worse = Worse::neither;
  std::string_view ncu = "";
  double (*weight)(const Owner&) = nullptr;
  Extent extent = Extent::one_request;
  bool stops_trials = false;
  /// Returns the value where the field alone does not say whether it was observed; null: the field says it.
  std::optional<MetricValue> (*value)(const Owner&) = nullptr;
};

template <class Member> struct MemberTypes;
template <class Object, class Type> struct MemberTypes<Type Object::*> {
  using Value = Type;
};

/// A field of such a type is a figure; others are objects with fields of their own.
template <class Value> inline constexpr bool is_figure = std::is_arithmetic_v<Value>;
template <class Value>
inline constexpr bool is_figure<std::optional<Value>> =
    std::is_arithmetic_v<Value> || std::is_same_v<Value, Statistic>;

/// A field of an object in the result. `Owner` has the metrics of such objects.
template <auto member_pointer, class Owner> struct Fact {
  using Value = typename MemberTypes<decltype(member_pointer)>::Value;
  static constexpr auto member = member_pointer;

  std::string_view name; ///< in the JSON
  Unit unit;             ///< of a figure; of an object with fields of its own it says nothing
  std::string_view meaning;
  MetricTraits<Owner> metric = {0};
  std::string_view since = "0.1"; ///< the first version of Warplens whose results have it
};

/// Weights of metrics in a mean over accesses.
double executions_of(const SiteResult& site);
double lookups_of(const SiteResult& site);
double lookups_in_l2(const SiteResult& site); ///< those that the first cache passes on

/// The values of metrics that an access without executions lacks, or always has.
std::optional<MetricValue> executions_metric(const SiteResult& site);
std::optional<MetricValue> lanes_metric(const SiteResult& site);

template <auto member> using TotalFact = Fact<member, KernelResult>;
template <auto member> using SiteFact = Fact<member, SiteResult>;

/// The fields of `totals`, in the order of the JSON.
inline constexpr std::tuple total_facts = {
    TotalFact<&Totals::l1_read_hit_rate>{"l1_read_hit_rate",
                                         Unit::fraction,
                                         "hit rate of loads in the L1",
                                         {.column = 3,
                                          .worse = Worse::low,
                                          .ncu = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
                                          .stops_trials = true}},
    TotalFact<&Totals::l2_read_hit_rate>{"l2_read_hit_rate",
                                         Unit::fraction,
                                         "hit rate of loads in the L2",
                                         {.column = 4,
                                          .worse = Worse::low,
                                          .ncu = "lts__t_sector_op_read_hit_rate.pct",
                                          .stops_trials = true}},
    TotalFact<&Totals::l2_write_hit_rate>{"l2_write_hit_rate",
                                          Unit::fraction,
                                          "hit rate of stores and atomics in the L2",
                                          {.column = 5,
                                           .worse = Worse::low,
                                           .ncu = "lts__t_sector_op_write_hit_rate.pct",
                                           .stops_trials = true}},
    TotalFact<&Totals::constant_hit_rate>{
        "constant_hit_rate",
        Unit::fraction,
        "hit rate of addresses in the SMs' constant caches",
        {.column = 6, .worse = Worse::low, .ncu = "idc__requests_lookup_hit.sum", .stops_trials = true}},
    TotalFact<&Totals::constant_group_hit_rate>{"constant_group_hit_rate",
                                                Unit::fraction,
                                                "hit rate in the constant caches of groups of SMs",
                                                {.column = 7, .worse = Worse::low, .stops_trials = true}},
    TotalFact<&Totals::l2_near_hit_rate>{"l2_near_hit_rate",
                                         Unit::fraction,
                                         "hit rate of loads in the L2 partition next to the SM",
                                         {.column = 8, .worse = Worse::low}},
    TotalFact<&Totals::l2_crossing_share>{
        "l2_crossing_share",
        Unit::fraction,
        "sectors that cross to the other L2 partition, per sector that loads look up",
        {.column = 9, .worse = Worse::high}},
    TotalFact<&Totals::dram_latency_ns>{"dram_latency_ns",
                                        Unit::nanoseconds,
                                        "mean latency of a read of DRAM, from the SM and back",
                                        {.column = 10, .worse = Worse::high, .stops_trials = true}},
    TotalFact<&Totals::dram_read_bytes>{"dram_read_bytes",
                                        Unit::bytes,
                                        "bytes read from DRAM",
                                        {.column = 11,
                                         .worse = Worse::high,
                                         .ncu = "dram__bytes_read.sum",
                                         .extent = Extent::whole_snapshot}},
    TotalFact<&Totals::dram_write_bytes>{"dram_write_bytes",
                                         Unit::bytes,
                                         "bytes written to DRAM",
                                         {.column = 12,
                                          .worse = Worse::high,
                                          .ncu = "dram__bytes_write.sum",
                                          .extent = Extent::whole_snapshot}},
    TotalFact<&Totals::dram_write_bytes_before>{"dram_write_bytes_before",
                                                Unit::bytes,
                                                "bytes written to DRAM that were in the L2 before",
                                                {.column = 13, .extent = Extent::whole_snapshot}},
    TotalFact<&Totals::cold_miss_share>{"cold_miss_share",
                                        Unit::fraction,
                                        "share of first touches among the sectors that loads miss in the L2",
                                        {.column = 14}},
    TotalFact<&Totals::dram_latencies>{"dram_latencies", Unit::nanoseconds,
                                       "the latencies of the lines that the first trial reads"},
};

/// The lists of `trial_values`: a total's value in each trial.
inline constexpr std::tuple trial_facts = {
    TotalFact<&TrialValues::cycles>{"cycles", Unit::cycles,
                                    "cycles of the SM clock, of the blocks in the snapshot"},
    TotalFact<&TrialValues::microseconds>{"microseconds", Unit::microseconds, "time of the whole launch"},
    TotalFact<&TrialValues::l1_read_hit_rate>{"l1_read_hit_rate", Unit::fraction,
                                              "hit rate of loads in the L1"},
    TotalFact<&TrialValues::l2_read_hit_rate>{"l2_read_hit_rate", Unit::fraction,
                                              "hit rate of loads in the L2"},
    TotalFact<&TrialValues::l2_write_hit_rate>{"l2_write_hit_rate", Unit::fraction,
                                               "hit rate of stores and atomics in the L2"},
    TotalFact<&TrialValues::constant_hit_rate>{"constant_hit_rate", Unit::fraction,
                                               "hit rate of addresses in the SMs' constant caches"},
    TotalFact<&TrialValues::constant_group_hit_rate>{"constant_group_hit_rate", Unit::fraction,
                                                     "hit rate in the constant caches of groups of SMs"},
    TotalFact<&TrialValues::dram_latency_ns>{"dram_latency_ns", Unit::nanoseconds,
                                             "mean latency of a read of DRAM, from the SM and back"},
};

/// The fields of a site behind those that say where it is, in the order of the JSON.
inline constexpr std::tuple site_facts = {
    SiteFact<&SiteResult::executions>{"executions",
                                      Unit::count,
                                      "warp-level executions in the snapshot",
                                      {.column = 12,
                                       .ncu = "smsp__inst_executed",
                                       .extent = Extent::whole_snapshot,
                                       .value = executions_metric}},
    SiteFact<&SiteResult::active_lanes>{"active_lanes",
                                        Unit::per_request,
                                        "active lanes of 32, mean",
                                        {.column = 11,
                                         .worse = Worse::low,
                                         .ncu = "smsp__thread_inst_executed_per_inst_executed.ratio",
                                         .weight = executions_of,
                                         .value = lanes_metric}},
    SiteFact<&SiteResult::sectors_per_request>{
        "sectors_per_request",
        Unit::per_request,
        "32-byte sectors per request",
        {.column = 8,
         .worse = Worse::high,
         .ncu = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
         .weight = executions_of}},
    SiteFact<&SiteResult::bytes_used>{"bytes_used",
                                      Unit::bytes,
                                      "distinct bytes that lanes requested",
                                      {.column = 13,
                                       .ncu = "smsp__sass_data_bytes_mem_global_op_ld.sum",
                                       .extent = Extent::whole_snapshot}},
    SiteFact<&SiteResult::bytes_moved>{"bytes_moved",
                                       Unit::bytes,
                                       "bytes of all sectors touched",
                                       {.column = 14,
                                        .worse = Worse::high,
                                        .ncu = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                        .extent = Extent::whole_snapshot}},
    SiteFact<&SiteResult::bank_conflicts>{"bank_conflicts",
                                          Unit::per_request,
                                          "shared memory: extra passes per request",
                                          {.column = 9,
                                           .worse = Worse::high,
                                           .ncu = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                           .weight = executions_of}},
    SiteFact<&SiteResult::constant_addresses>{
        "constant_addresses",
        Unit::per_request,
        "constant memory: addresses per request",
        {.column = 10, .worse = Worse::high, .ncu = "idc__requests.sum", .weight = executions_of}},
    SiteFact<&SiteResult::pattern>{"pattern", Unit::fraction, "how the addresses of neighbouring lanes lie"},
    SiteFact<&SiteResult::request>{"request", Unit::bytes, "one request, which stands for the site's others"},
    SiteFact<&SiteResult::l1_hit_rate>{"l1_hit_rate",
                                       Unit::fraction,
                                       "L1 hit rate",
                                       {.column = 5,
                                        .worse = Worse::low,
                                        .ncu = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
                                        .weight = lookups_of,
                                        .stops_trials = true}},
    SiteFact<&SiteResult::l2_hit_rate>{"l2_hit_rate",
                                       Unit::fraction,
                                       "L2 hit rate",
                                       {.column = 6,
                                        .worse = Worse::low,
                                        .ncu = "lts__t_sector_op_read_hit_rate.pct",
                                        .weight = lookups_in_l2,
                                        .stops_trials = true}},
    SiteFact<&SiteResult::constant_hit_rate>{"constant_hit_rate",
                                             Unit::fraction,
                                             "hit rate of the SM's constant cache",
                                             {.column = 7,
                                              .worse = Worse::low,
                                              .ncu = "idc__requests_lookup_hit.sum",
                                              .weight = executions_of,
                                              .stops_trials = true}},
    SiteFact<&SiteResult::latency_ns>{
        "latency_ns",
        Unit::nanoseconds,
        "expected latency of a request",
        {.column = 3, .worse = Worse::high, .weight = executions_of, .stops_trials = true}},
    SiteFact<&SiteResult::latency_parts>{"latency_parts", Unit::nanoseconds,
                                         "the parts of that latency, by the level that served the request"},
    SiteFact<&SiteResult::latency_share>{"latency_share",
                                         Unit::fraction,
                                         "share of the kernel's latency",
                                         {.column = 4, .worse = Worse::high}},
    SiteFact<&SiteResult::time>{"time", Unit::fraction, "the site's part in the kernel's time"},
    SiteFact<&SiteResult::events>{"events", Unit::count, "its events in the memory hierarchy"},
};

/// Calls `visit` with each row of a table, in order.
template <class Facts, class Visit> constexpr void for_each_fact(const Facts& facts, Visit&& visit) {
  std::apply([&](const auto&... fact) { (visit(fact), ...); }, facts);
}

} // namespace warplens
