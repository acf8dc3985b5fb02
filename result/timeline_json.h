// Converts a kernel's timeline to JSON and back.
#pragma once

#include "result/json_node.h"
#include "result/timeline.h"

namespace warplens {

nlohmann::ordered_json timeline_to_json(const Timeline& timeline);
void read_timeline(const JsonNode& node, Timeline& target);

} // namespace warplens
