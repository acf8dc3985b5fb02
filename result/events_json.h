// Converts a kernel's events, and what it does alone, to JSON and back.
#pragma once

#include "result/events.h"
#include "result/json_node.h"
#include "result/sharing_profile.h"

namespace warplens {

/// Kinds without instructions, and events that do not occur, are left out.
nlohmann::ordered_json kinds_to_json(const ByInstructionKind& work);
nlohmann::ordered_json memory_events_to_json(const ByMemoryEvent& events);
nlohmann::ordered_json events_to_json(const Events& events);
nlohmann::ordered_json sharing_profile_to_json(const SharingProfile& profile);

void read_kinds(const JsonNode& node, ByInstructionKind& target);
void read_memory_events(const JsonNode& node, ByMemoryEvent& target);
void read_events(const JsonNode& node, Events& target);
void read_sharing_profile(const JsonNode& node, SharingProfile& target);

} // namespace warplens
