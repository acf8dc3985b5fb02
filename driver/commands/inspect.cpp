// `warplens inspect`: prints the machine code in a cubin.

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "machine/program.h"
#include "sass/decode.h"
#include "sass/print.h"
#include "support/files.h"

#include <fmt/format.h>
#include <memory>

namespace warplens::driver {
namespace {

struct InspectOptions {
  std::string file;
  bool operands = false;
};

/// Returns each kernel's instructions as a disassembler lists them, and how many the executor refuses.
std::string listing_of(const machine::Program& program) {
  std::string text = fmt::format("sm_{}\n", program.architecture());
  for (const machine::Kernel& kernel : program.kernels()) {
    text += fmt::format("\nkernel {}: {} instructions, {} of them not known whole\n", kernel.name,
                        kernel.instruction_count(), kernel.unsupported().size());
    for (std::uint32_t i = 0; i < kernel.instruction_count(); ++i)
      text += fmt::format("    {:04x} {}\n", kernel.address_of(i), kernel.listing_of(i));
  }
  return text;
}

Expected<void> inspect(const InspectOptions& options) {
  TRY_LET(bytes, read_file(options.file));
  const auto cubin = std::as_bytes(std::span(*bytes));
  const auto text =
      options.operands ? machine::Program::load(cubin).map(listing_of) : sass::decode(cubin).map(sass::print);
  if (!text)
    return fail("{}: {}", options.file, text.error().message);
  return print_text(*text, "");
}

} // namespace

void declare_inspect(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("inspect", "print the machine code in a cubin: units, registers, schedule");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("cubin", options->file, "a cubin, as nvcc -cubin makes it")
      ->required()
      ->type_name("CUBIN");
  command->add_flag(
      "--operands", options->operands,
      "print each instruction with its operands and modifiers, as a disassembler does, in place of its "
      "unit and schedule; bits that nothing explains stand behind it");
  command->callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

} // namespace warplens::driver
