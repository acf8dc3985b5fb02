// Prints the time-lapse as Chrome trace events: https://perfetto.dev opens them, and chrome://tracing.
//
// Each kernel on a GPU is a process of counter tracks; so are its SMs, L2 slices and DRAM channels, and the
// source lines that were executed. Time is that of the trial, from the start of its first block.
#include "report/report.h"
#include "result/figure_text.h"
#include "result/resources.h"
#include "support/display_name.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

class Events {
public:
  explicit Events(const Timeline& timeline)
      : edges_(&timeline.edges), us_per_cycle_(timeline.ns_per_cycle / 1000) {}

  /// Starts a new process for the tracks that follow.
  void begin_process(const std::string& name, std::uint64_t process) {
    process_ = process;
    add({{"name", "process_name"}, {"ph", "M"}, {"pid", process_}, {"args", {{"name", name}}}});
    add({{"name", "process_sort_index"},
         {"ph", "M"},
         {"pid", process_},
         {"args", {{"sort_index", process_}}}});
  }

  void whole(const std::string& name, Json details) {
    add({{"name", name},
         {"ph", "X"},
         {"pid", process_},
         {"tid", 1},
         {"ts", 0},
         {"dur", time_of(edges_->back())},
         {"args", std::move(details)}});
  }

  template <class Number>
  void counter(const std::string& name, const char* series, const std::vector<Number>& values) {
    for (std::size_t bin = 0; bin < values.size(); ++bin)
      counter(name, bin, {{series, values[bin]}});
  }

  /// Prints hits and misses, and their rate if there were any.
  void lookups(const std::string& name, const std::vector<std::uint64_t>& hits,
               const std::vector<std::uint64_t>& all) {
    for (std::size_t bin = 0; bin < all.size(); ++bin) {
      counter(name + " sectors", bin,
              {{"hits", hits[bin]}, {"misses", all[bin] - std::min(hits[bin], all[bin])}});
      if (all[bin] != 0)
        counter(name + " hit rate", bin,
                {{"%", 100.0 * static_cast<double>(hits[bin]) / static_cast<double>(all[bin])}});
    }
  }

  void counter(const std::string& name, std::size_t bin, Json values) {
    add({{"name", name},
         {"ph", "C"},
         {"pid", process_},
         {"ts", time_of((*edges_)[bin])},
         {"args", std::move(values)}});
  }

  Json take() { return std::move(events_); }

private:
  void add(Json event) { events_.push_back(std::move(event)); }

  /// Returns the time in µs, which is the unit of trace events.
  double time_of(std::uint64_t cycle) const { return static_cast<double>(cycle) * us_per_cycle_; }

  const std::vector<std::uint64_t>* edges_;
  double us_per_cycle_;
  std::uint64_t process_ = 0;
  Json events_ = Json::array();
};

/// Returns the launch's time over all trials: the time-lapse is of one trial, and of the snapshot's blocks.
Json details_of(const KernelResult& kernel) {
  Json details = Json::object();
  if (kernel.time) {
    details["time of the launch"] = duration(kernel.time->microseconds);
    details["bound by"] = text_of_bound(kernel.time->bound);
  }
  return details;
}

double instructions_per_cycle(const Timeline& timeline, std::size_t bin) {
  return double(timeline.instructions[bin]) / double(timeline.edges[bin + 1] - timeline.edges[bin]);
}

void add_kernel(Events& events, const KernelResult& kernel, const Timeline& timeline) {
  events.whole(kernel.name, details_of(kernel));
  events.lookups("L1", timeline.l1.hits, timeline.l1.all);
  events.lookups("L2", timeline.l2.hits, timeline.l2.all);
  events.counter("requests not yet answered", "requests", timeline.outstanding);
  for (std::size_t bin = 0; bin < timeline.instructions.size(); ++bin)
    events.counter("instructions per cycle", bin, {{"IPC", instructions_per_cycle(timeline, bin)}});
  for (std::size_t bin = 0; bin + 1 < timeline.edges.size() && !timeline.active_lanes.empty(); ++bin) {
    Json lanes;
    for (std::size_t row = 0; row < timeline.active_lanes.size(); ++row)
      lanes[fmt::format("{}-{}", 4 * row + 1, 4 * row + 4)] = timeline.active_lanes[row][bin];
    events.counter("active lanes", bin, std::move(lanes));
  }
}

void add_lines(Events& events, const Timeline& timeline) {
  for (const Timeline::Line& line : timeline.lines)
    events.counter(fmt::format("{}:{}", line.file, line.line), "executions", line.counts);
}

void add_sms(Events& events, const Timeline& timeline) {
  for (std::size_t sm = 0; sm < timeline.sms.size(); ++sm) {
    events.lookups(fmt::format("SM {} L1", sm), timeline.sms[sm].l1_hits, timeline.sms[sm].l1_all);
    events.counter(fmt::format("SM {} requests", sm), "requests", timeline.sms[sm].requests);
  }
}

void add_slices(Events& events, const Timeline& timeline) {
  for (std::size_t slice = 0; slice < timeline.slices.size(); ++slice)
    events.lookups(fmt::format("slice {}", slice), timeline.slices[slice].hits, timeline.slices[slice].all);
}

void add_channels(Events& events, const Timeline& timeline) {
  for (std::size_t channel = 0; channel < timeline.channels.size(); ++channel) {
    events.counter(fmt::format("channel {} requests", channel), "requests",
                   timeline.channels[channel].requests);
    events.counter(fmt::format("channel {} reads", channel), "requests", timeline.channels[channel].reads);
    events.counter(fmt::format("channel {} writes", channel), "requests", timeline.channels[channel].writes);
    events.counter(fmt::format("channel {} row activations", channel), "rows",
                   timeline.channels[channel].activations);
    events.counter(fmt::format("channel {} not yet served", channel), "requests",
                   timeline.channels[channel].outstanding);
  }
}

} // namespace

Expected<std::string> print_perfetto(const Result& result) {
  Json all = Json::array();
  std::uint64_t process = 0;
  for (const KernelResult& kernel : result.kernels) {
    if (!kernel.timeline)
      continue;
    const Timeline& timeline = *kernel.timeline;
    Events events(timeline);
    const std::string name = display_name(kernel.name) + " on " + kernel.gpu;
    events.begin_process(name, ++process);
    add_kernel(events, kernel, timeline);
    const auto part = [&](const char* what, void (*add)(Events&, const Timeline&)) {
      events.begin_process(name + ": " + what, ++process);
      add(events, timeline);
    };
    part("source lines", add_lines);
    part("SMs", add_sms);
    part("L2 slices", add_slices);
    part("DRAM channels", add_channels);
    for (Json& event : events.take())
      all.push_back(std::move(event));
  }
  if (all.empty()) {
    const bool has_clock =
        std::ranges::any_of(result.kernels, [](const auto& kernel) { return kernel.time.has_value(); });
    return fail("the result has no time-lapse: {}",
                has_clock ? "ask for it with --timeline when profiling or modelling"
                          : "its trials have no clock");
  }
  Json trace;
  trace["traceEvents"] = std::move(all);
  trace["displayTimeUnit"] = "ns";
  trace["otherData"] = {{"program", result.program},
                        {"time", "of the first trial of each kernel, by the SM clock"}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
