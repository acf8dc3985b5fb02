// `warplens mcp`: the tools of Warplens for agents, by the Model Context Protocol over stdio.

#include "driver/commands/commands.h"
#include "driver/mcp/tools.h"
#include "toolchain/version.h"

#include <iostream>

namespace warplens::driver {

void declare_mcp(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("mcp", "serve agents: profile, explain_line and compare over stdio (MCP)");
  command->footer(
      "A client starts it as the command `warplens mcp`. The tools compile and run the programs that\n"
      "they are given, with the rights of this process.");
  command->callback([&chosen] {
    chosen = [] {
      mcp::serve(std::cin, std::cout, toolchain::version, mcp::make_tools());
      return Expected<void>();
    };
  });
}

} // namespace warplens::driver
