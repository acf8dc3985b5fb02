// The Model Context Protocol over stdio: JSON-RPC 2.0, a message per line (modelcontextprotocol.io,
// specification of 2025-06-18). Agents call tools through it.
#pragma once

#include "support/expected.h"
#include "support/process.h"

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warplens::driver::mcp {

/// The answer of a tool: a text, and the same as data if there is more to it.
struct Answer {
  std::string text;
  nlohmann::ordered_json data = nullptr;
};

struct Tool {
  std::string name, description;
  nlohmann::ordered_json input_schema;
  /// Runs with the call's arguments; a cancellation ends its processes. The error is for the agent to read.
  std::function<Expected<Answer>(const nlohmann::json& arguments, Cancellation& cancellation)> call;
};

/// Answers the messages of a client until the input ends; then waits for the calls under way. Calls run one
/// after the other, while other messages are answered at once: a client can cancel.
void serve(std::istream& input, std::ostream& output, const std::string& version,
           const std::vector<Tool>& tools);

} // namespace warplens::driver::mcp
