// `warplens inspect`: prints the machine code in a cubin.

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "sass/decode.h"
#include "sass/print.h"
#include "support/files.h"

#include <memory>

namespace warplens::driver {
namespace {

Expected<void> inspect(const std::string& file) {
  TRY_LET(bytes, read_file(file));
  const auto code = sass::decode(std::as_bytes(std::span(*bytes)));
  if (!code)
    return fail("{}: {}", file, code.error().message);
  return print_text(sass::print(*code), "");
}

} // namespace

void declare_inspect(CLI::App& app, Action& chosen) {
  auto* command =
      app.add_subcommand("inspect", "print the machine code in a cubin: units, registers, schedule");
  auto file = std::make_shared<std::string>();
  command->add_option("cubin", *file, "a cubin, as nvcc -cubin makes it")->required()->type_name("CUBIN");
  command->callback([file, &chosen] { chosen = [file] { return inspect(*file); }; });
}

} // namespace warplens::driver
