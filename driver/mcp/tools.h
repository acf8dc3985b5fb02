// The tools that `warplens mcp` offers to agents.
#pragma once

#include "driver/mcp/server.h"

namespace warplens::driver::mcp {

/// Returns the tools profile, explain_line and compare. They share the results of this session, which
/// `profile` and `compare` name.
std::vector<Tool> make_tools();

} // namespace warplens::driver::mcp
