// Converts a kernel's machine code to JSON and back.
#pragma once

#include "result/code.h"
#include "result/json_node.h"

namespace warplens {

/// Figures that are 0 or not known are left out.
nlohmann::ordered_json code_to_json(const CodeResult& code);
void read_code(const JsonNode& node, CodeResult& target);

} // namespace warplens
