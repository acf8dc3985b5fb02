#include "result/timeline_json.h"

#include <algorithm>
#include <functional>

namespace warplens {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Timeline::Lookups& lookups) {
  return {{"hits", lookups.hits}, {"all", lookups.all}};
}

void add_where_known(Json& json, const char* name, const std::vector<std::uint64_t>& bins) {
  if (!bins.empty())
    json[name] = bins;
}

/// Reads one number per bin, none negative.
template <class Number>
void read_bins(const JsonNode& node, std::vector<Number>& target, const Timeline& timeline) {
  read_list(node, target, timeline.edges.empty() ? 0 : timeline.edges.size() - 1);
  node.require(std::all_of(target.begin(), target.end(), [](Number number) { return number >= 0; }),
               "an array of numbers that are not negative");
}

void read_where_known(const JsonNode& node, const char* name, std::vector<std::uint64_t>& target,
                      const Timeline& timeline) {
  if (node.has(name))
    read_bins(node[name], target, timeline);
}

void require_hits_within(const JsonNode& node, const std::vector<std::uint64_t>& hits,
                         const std::vector<std::uint64_t>& all) {
  for (std::size_t bin = 0; node.sound() && bin < hits.size(); ++bin)
    node.require(hits[bin] <= all[bin], "free of bins with more hits than look-ups");
}

void read_lookups(const JsonNode& node, Timeline::Lookups& target, const Timeline& timeline) {
  read_bins(node["hits"], target.hits, timeline);
  read_bins(node["all"], target.all, timeline);
  require_hits_within(node, target.hits, target.all);
}

} // namespace

nlohmann::ordered_json timeline_to_json(const Timeline& timeline) {
  Json json;
  json["trial"] = timeline.trial;
  json["requests"] = timeline.requests;
  json["cycles"] = timeline.cycles;
  json["ns_per_cycle"] = timeline.ns_per_cycle;
  json["edges"] = timeline.edges;
  json["l1"] = to_json(timeline.l1);
  json["l2"] = to_json(timeline.l2);
  json["outstanding"] = timeline.outstanding;
  add_where_known(json, "instructions", timeline.instructions);
  json["active_lanes"] = timeline.active_lanes;
  Json& lines = json["lines"] = Json::array();
  for (const Timeline::Line& line : timeline.lines)
    lines.push_back({{"file", line.file}, {"line", line.line}, {"counts", line.counts}});
  Json& sms = json["sms"] = Json::array();
  for (const Timeline::Sm& sm : timeline.sms) {
    sms.push_back({{"l1_hits", sm.l1_hits}, {"l1_all", sm.l1_all}, {"requests", sm.requests}});
    add_where_known(sms.back(), "instructions", sm.instructions);
  }
  Json& slices = json["slices"] = Json::array();
  for (const Timeline::Lookups& slice : timeline.slices)
    slices.push_back(to_json(slice));
  Json& channels = json["channels"] = Json::array();
  for (const Timeline::Channel& channel : timeline.channels) {
    channels.push_back({{"requests", channel.requests}, {"outstanding", channel.outstanding}});
    add_where_known(channels.back(), "reads", channel.reads);
    add_where_known(channels.back(), "writes", channel.writes);
    add_where_known(channels.back(), "activations", channel.activations);
  }
  return json;
}

void read_timeline(const JsonNode& node, Timeline& target) {
  node["trial"].read(target.trial);
  node["requests"].read(target.requests);
  node["cycles"].read(target.cycles);
  const JsonNode ns_per_cycle = node["ns_per_cycle"];
  ns_per_cycle.read(target.ns_per_cycle);
  ns_per_cycle.require(target.ns_per_cycle > 0, "a number above 0");
  const JsonNode edges = node["edges"];
  read_list(edges, target.edges);
  edges.require(target.edges.size() >= 2 && target.edges.front() == 0 &&
                    target.edges.back() == target.cycles &&
                    std::ranges::adjacent_find(target.edges, std::greater_equal()) == target.edges.end(),
                "an array that ascends from 0 to cycles");
  read_lookups(node["l1"], target.l1, target);
  read_lookups(node["l2"], target.l2, target);
  read_bins(node["outstanding"], target.outstanding, target);
  read_where_known(node, "instructions", target.instructions, target);
  const JsonNode lanes = node["active_lanes"];
  lanes.for_each([&](const JsonNode& row) { read_bins(row, target.active_lanes.emplace_back(), target); });
  lanes.require(target.active_lanes.size() == timeline_lane_rows, "an array of 8 rows");
  node["lines"].for_each([&](const JsonNode& item) {
    Timeline::Line& line = target.lines.emplace_back();
    item["file"].read(line.file);
    item["line"].read(line.line);
    read_bins(item["counts"], line.counts, target);
  });
  node["sms"].for_each([&](const JsonNode& item) {
    Timeline::Sm& sm = target.sms.emplace_back();
    read_bins(item["l1_hits"], sm.l1_hits, target);
    read_bins(item["l1_all"], sm.l1_all, target);
    read_bins(item["requests"], sm.requests, target);
    read_where_known(item, "instructions", sm.instructions, target);
    require_hits_within(item, sm.l1_hits, sm.l1_all);
  });
  node["slices"].for_each(
      [&](const JsonNode& item) { read_lookups(item, target.slices.emplace_back(), target); });
  node["channels"].for_each([&](const JsonNode& item) {
    Timeline::Channel& channel = target.channels.emplace_back();
    read_bins(item["requests"], channel.requests, target);
    read_where_known(item, "reads", channel.reads, target);
    read_where_known(item, "writes", channel.writes, target);
    read_where_known(item, "activations", channel.activations, target);
    read_bins(item["outstanding"], channel.outstanding, target);
  });
}

} // namespace warplens
