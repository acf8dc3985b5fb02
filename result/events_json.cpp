#include "result/events_json.h"

#include "result/names.h"

#include <algorithm>

namespace warplens {
namespace {

using Json = nlohmann::ordered_json;

void read_shares(const JsonNode& node, std::vector<double>& target) {
  node.for_each([&](const JsonNode& item) { read_share(item, target.emplace_back()); });
}

} // namespace

Json kinds_to_json(const ByInstructionKind& work) {
  Json json = Json::object();
  for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
    if (work[kind].warps != 0)
      json[std::string(name_of(InstructionKind(kind)))] = {{"warps", work[kind].warps},
                                                           {"lanes", work[kind].lanes}};
  return json;
}

Json memory_events_to_json(const ByMemoryEvent& events) {
  Json json = Json::object();
  for (std::size_t event = 0; event < memory_event_count; ++event)
    if (events[event] != 0)
      json[std::string(name_of(MemoryEvent(event)))] = events[event];
  return json;
}

Json events_to_json(const Events& events) {
  Json json = {{"instructions", kinds_to_json(events.instructions)},
               {"memory", memory_events_to_json(events.memory)}};
  if (events.operations)
    json["floating_point_operations"] = {{"fp64", events.operations->fp64},
                                         {"fp32", events.operations->fp32},
                                         {"fp16", events.operations->fp16},
                                         {"tensor", events.operations->tensor}};
  return json;
}

Json sharing_profile_to_json(const SharingProfile& profile) {
  Json json;
  json["block"] = {{"warps", profile.block.warps},
                   {"registers", profile.block.registers},
                   {"shared_bytes", profile.block.shared_bytes}};
  json["warps"] = profile.warps;
  json["held_share"] = profile.held_share;
  Json& pipes = json["pipes"] = Json::array();
  for (const SharingProfile::Pipe& pipe : profile.pipes)
    pipes.push_back({{"name", pipe.name},
                     {"share", pipe.share},
                     {"interval", pipe.interval},
                     {"latency", pipe.latency},
                     {"distances", pipe.distances}});
  Json& l2 = json["l2"];
  l2 = {{"ways", profile.l2.ways},
        {"requests", profile.l2.requests},
        {"instructions", profile.l2.instructions},
        {"misses", profile.l2.misses}};
  Json& cuts = l2["cuts"] = Json::array();
  for (const SharingProfile::L2::Cut& cut : profile.l2.cuts) {
    cuts.push_back({{"ways", cut.ways}, {"seconds", cut.seconds}, {"misses", cut.misses}});
    if (cut.dram_busy)
      cuts.back()["dram_busy"] = *cut.dram_busy;
  }
  return json;
}

void read_kinds(const JsonNode& node, ByInstructionKind& target) {
  for (std::size_t kind = 0; kind < instruction_kind_count; ++kind) {
    const std::string name(name_of(InstructionKind(kind)));
    if (!node.has(name.c_str()))
      continue;
    const JsonNode kind_node = node[name.c_str()];
    read_amount(kind_node["warps"], target[kind].warps);
    read_amount(kind_node["lanes"], target[kind].lanes);
  }
}

void read_memory_events(const JsonNode& node, ByMemoryEvent& target) {
  for (std::size_t event = 0; event < memory_event_count; ++event)
    if (const std::string name(name_of(MemoryEvent(event))); node.has(name.c_str()))
      read_amount(node[name.c_str()], target[event]);
}

void read_events(const JsonNode& node, Events& target) {
  read_kinds(node["instructions"], target.instructions);
  read_memory_events(node["memory"], target.memory);
  if (!node.has("floating_point_operations"))
    return;
  const JsonNode operations = node["floating_point_operations"];
  FloatingPointOperations& lane_operations = target.operations.emplace();
  read_amount(operations["fp64"], lane_operations.fp64);
  read_amount(operations["fp32"], lane_operations.fp32);
  read_amount(operations["fp16"], lane_operations.fp16);
  if (operations.has("tensor")) // older versions did not count them
    read_amount(operations["tensor"], lane_operations.tensor);
}

void read_sharing_profile(const JsonNode& node, SharingProfile& target) {
  const JsonNode block = node["block"];
  block["warps"].read(target.block.warps);
  block["registers"].read(target.block.registers);
  block["shared_bytes"].read(target.block.shared_bytes);
  read_amount(node["warps"], target.warps);
  read_share(node["held_share"], target.held_share);
  node["pipes"].for_each([&](const JsonNode& item) {
    SharingProfile::Pipe& pipe = target.pipes.emplace_back();
    item["name"].read(pipe.name);
    item["name"].require(value_named<Resource>(pipe.name).has_value(), "the name of a resource");
    read_share(item["share"], pipe.share);
    read_amount(item["interval"], pipe.interval);
    read_amount(item["latency"], pipe.latency);
    read_shares(item["distances"], pipe.distances);
  });
  const JsonNode l2 = node["l2"];
  l2["ways"].read(target.l2.ways);
  read_amount(l2["requests"], target.l2.requests);
  read_amount(l2["instructions"], target.l2.instructions);
  const JsonNode misses = l2["misses"];
  read_shares(misses, target.l2.misses);
  misses.require(std::ranges::is_sorted(target.l2.misses, std::greater()),
                 "an array of numbers that do not ascend");
  l2["cuts"].for_each([&](const JsonNode& item) {
    SharingProfile::L2::Cut& cut = target.l2.cuts.emplace_back();
    item["ways"].read(cut.ways);
    read_amount(item["seconds"], cut.seconds);
    read_share(item["misses"], cut.misses);
    if (item.has("dram_busy"))
      read_share(item["dram_busy"], cut.dram_busy.emplace());
  });
}

} // namespace warplens
