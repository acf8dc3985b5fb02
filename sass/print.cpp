#include "sass/print.h"

#include <fmt/format.h>
#include <iterator>

namespace warplens::sass {
namespace {

/// Returns the registers separated by commas; "-" for none.
template <class List> std::string names_of(const List& registers) {
  std::string text;
  for (const RegisterSpan span : registers)
    text += (text.empty() ? "" : ",") + name_of(span);
  return text.empty() ? "-" : text;
}

std::string name_of_guard(Guard guard) {
  if (guard.is_always())
    return "";
  const RegisterFile file = guard.uniform ? RegisterFile::uniform_predicate : RegisterFile::predicate;
  return fmt::format("@{}{} ", guard.negated ? "!" : "",
                     guard.is_never() ? (guard.uniform ? "UPT" : "PT")
                                      : name_of(RegisterSpan{file, guard.predicate, 1}));
}

/// Returns the scoreboards in three columns: which one the result clears, which one the operands' read
/// clears, and those waited for, as digits; "-" for none.
std::string name_of(const Control& control) {
  const auto scoreboard = [](std::uint8_t index) {
    return index == Control::no_scoreboard ? std::string("-") : std::to_string(index);
  };
  std::string waits;
  for (unsigned i = 0; i < 6; ++i)
    waits += (control.wait_mask >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
  return fmt::format("{:2}{} {} {} {}", control.stall, control.yields ? 'y' : ' ',
                     scoreboard(control.write_scoreboard), scoreboard(control.read_scoreboard), waits);
}

/// Returns "file:line", followed by the places that it is inlined at.
std::string place_of(const CodeTable& code, std::uint32_t position) {
  std::string text;
  while (position != none) {
    const Position& place = code.positions[position];
    text += fmt::format("{}{}:{}", text.empty() ? "" : " < ", code.files[place.file], place.line);
    position = place.inlined_at;
  }
  return text;
}

class Printer {
public:
  explicit Printer(const CodeTable& code) : code_(code) {}

  std::string run() {
    line("sm_{}", code_.architecture);
    for (const Kernel& kernel : code_.kernels)
      print(kernel);
    return std::move(text_);
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(arguments)...);
    text_ += '\n';
  }

  void print(const Kernel& kernel) {
    line("\nkernel {}: {} instructions, {} registers, {} bytes shared, {} bytes local, {} barriers, {} "
         "unknown",
         kernel.name, kernel.instructions.size(), kernel.registers, kernel.shared_bytes, kernel.local_bytes,
         kernel.barriers, kernel.unknown_instructions);
    std::size_t function = 0;
    for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
      const Block& block = kernel.blocks[i];
      if (function < kernel.functions.size() && kernel.functions[function].begin == block.begin)
        line(" function {}", kernel.functions[function++].name);
      std::string successors;
      for (const std::uint32_t successor : kernel.successors_of(block))
        successors += fmt::format(" {}", successor);
      line("  block {} {}{}{}", i, name_of(block.how), successors.empty() ? "" : " ->", successors);
      for (std::uint32_t at = block.begin; at < block.end; ++at)
        print(kernel, kernel.instructions[at]);
    }
  }

  void print(const Kernel& kernel, const Instruction& instruction) {
    std::string details;
    if (instruction.access_bytes != 0)
      details += fmt::format(" {} bytes", instruction.access_bytes);
    if (instruction.barrier != Instruction::no_barrier)
      details += fmt::format(" B{}", instruction.barrier);
    if (instruction.target != none)
      details += fmt::format(" to {:04x}", kernel.instructions[instruction.target].address);
    line("    {:04x} {} {} {}{} {} <- {}{} | {}", instruction.address, name_of(instruction.control),
         name_of(instruction.kind), name_of_guard(instruction.guard), name_of(instruction),
         names_of(instruction.writes), names_of(instruction.reads), details,
         place_of(code_, instruction.position));
  }

  const CodeTable& code_;
  std::string text_;
};

} // namespace

std::string print(const CodeTable& code) {
  return Printer(code).run();
}

} // namespace warplens::sass
