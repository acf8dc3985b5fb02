#include "toolchain/ptx/ptxas.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string_view>

namespace warplens::toolchain {
namespace {

/// Returns the number before `what`: "12 registers".
std::uint32_t number_before(const std::string& line, std::string_view what) {
  const auto end = line.find(what);
  if (end == line.npos || end == 0)
    return 0;
  const auto last = line.find_last_not_of(' ', end - 1);
  const auto first = last == line.npos ? line.npos : line.find_last_not_of("0123456789", last) + 1;
  std::uint32_t number = 0;
  if (first != line.npos)
    std::from_chars(line.data() + first, line.data() + last + 1, number);
  return number;
}

std::string between(const std::string& line, std::string_view before, char after) {
  const auto found = line.find(before);
  if (found == line.npos)
    return {};
  const auto begin = found + before.size();
  return line.substr(begin, line.find(after, begin) - begin);
}

} // namespace

int architecture_number(const std::string& architecture) {
  int number = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number;
}

CodeChoice choose_code(const std::vector<std::string>& architectures, int capability) {
  auto ptx = architectures.front(); // the oldest
  for (const auto& architecture : architectures)
    if (architecture_number(architecture) <= capability)
      ptx = architecture;
  const int number = architecture_number(ptx);
  // Machine code runs on newer GPUs of the same major number; for the others the driver compiles the PTX.
  const bool as_it_is = number >= capability || number / 10 == capability / 10;
  return {ptx, as_it_is ? ptx : std::to_string(capability)};
}

namespace {

/// Removes nvcc's prefix of a file's own kernels under -rdc, which makes the name unique.
std::string as_written(std::string symbol) {
  const auto mangled = symbol.starts_with("__nv_static_") ? symbol.find("__Z") : symbol.npos;
  return mangled == symbol.npos ? symbol : symbol.substr(mangled + 1);
}

} // namespace

std::vector<KernelCode> read_ptxas(const std::string& log) {
  std::vector<KernelCode> kernels;
  std::string described; // the function of the next line with a stack frame
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (auto name = between(line, "Compiling entry function '", '\''); !name.empty())
      kernels.push_back({std::move(name), {}});
    else if (auto function = between(line, "Function properties for ", ' '); !function.empty())
      described = std::move(function);
    if (kernels.empty())
      continue;
    trace::MachineCode& code = kernels.back().code;
    if (line.find(" bytes stack frame") != line.npos && described == kernels.back().symbol) {
      code.stack_bytes = number_before(line, " bytes stack frame");
      code.spill_store_bytes = number_before(line, " bytes spill stores");
      code.spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (line.find(": Used ") != line.npos) {
      code.registers = number_before(line, " registers");
      code.shared_bytes = number_before(line, " bytes smem");
      code.stack_bytes = std::max(code.stack_bytes, number_before(line, " bytes cumulative stack size"));
    }
  }
  std::erase_if(kernels, [](const KernelCode& kernel) { return kernel.code.registers == 0; });
  for (KernelCode& kernel : kernels)
    kernel.symbol = as_written(std::move(kernel.symbol));
  return kernels;
}

namespace {

std::string cubin_name(std::size_t number) {
  return fmt::format("warplens_cubin_{}", number);
}

/// Returns C that declares `name` and `name_end`, between which the assembler puts the file's bytes. The
/// names are local to the object.
std::string included_file(const std::filesystem::path& file, const std::string& name) {
  std::string quoted; // first for the assembler, then for C
  for (const char character : file.string()) {
    if (character == '"' || character == '\\')
      quoted += "\\\\\\";
    quoted += character;
  }
  return fmt::format("__asm__(\".section .rodata\\n{0}: .incbin \\\"{1}\\\"\\n{0}_end:\\n.text\");\n"
                     "extern const unsigned char {0}[], {0}_end[];\n",
                     name, quoted);
}

} // namespace

std::string machine_code_table(const std::vector<KernelCode>& codes, const std::string& module,
                               const std::filesystem::path& ptx) {
  std::string text = "struct CompiledRecord { const char *symbol, *module; unsigned numbers[8]; const "
                     "unsigned char *cubin, *cubin_end; };\n";
  std::map<std::filesystem::path, std::size_t> cubins; // by number
  for (const KernelCode& kernel : codes)
    if (!kernel.cubin.empty() && cubins.emplace(kernel.cubin, cubins.size()).second)
      text += included_file(kernel.cubin, cubin_name(cubins.at(kernel.cubin)));
  text += "static const struct CompiledRecord records[] = {\n";
  for (const auto& [symbol, code, cubin] : codes) {
    const std::string bytes =
        cubin.empty() ? "0, 0" : fmt::format("{0}, {0}_end", cubin_name(cubins.at(cubin)));
    text += fmt::format("  {{\"{}\", \"{}\", {{{}, {}, {}, {}, {}, {}, {}, 0}}, {}}},\n", symbol, module,
                        code.capability, code.architecture, code.registers, code.stack_bytes,
                        code.spill_store_bytes, code.spill_load_bytes, code.shared_bytes, bytes);
  }
  text += "};\n";
  std::string registers_ptx;
  if (!ptx.empty()) {
    text += included_file(ptx, "warplens_ptx");
    text +=
        fmt::format("struct PtxRecord {{ const char *module; const unsigned char *packed, *packed_end; }};\n"
                    "static const struct PtxRecord ptx = {{\"{}\", warplens_ptx, warplens_ptx_end}};\n"
                    "void __warplens_cpu_register_ptx(const struct PtxRecord*);\n",
                    module);
    registers_ptx = "  __warplens_cpu_register_ptx(&ptx);\n";
  }
  return text +
         "void __warplens_cpu_register_compiled(const struct CompiledRecord*, unsigned long);\n"
         "__attribute__((constructor(101))) static void register_compiled(void) {\n"
         "  __warplens_cpu_register_compiled(records, sizeof records / sizeof *records);\n" +
         registers_ptx + "}\n";
}

} // namespace warplens::toolchain
