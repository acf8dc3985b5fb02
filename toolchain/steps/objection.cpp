#include "toolchain/steps/objection.h"

#include "support/pattern.h"
#include "toolchain/objects/compile_source.h"
#include "toolchain/objects/gpu_object.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/version.h"

#include <string_view>

namespace warplens::toolchain {

bool is_about_source(const std::string& message) {
  static const Pattern place(":[0-9]+:[0-9]+: ");
  return place.is_found_in(message);
}

std::string only_clang_objects(const std::string& message) {
  const std::string_view full = llvm_version;
  return fmt::format("nvcc takes this, Clang {} does not: {}", full.substr(0, full.find('.')), message);
}

Error with_nvccs_opinion(Error error, const std::filesystem::path& source, const NvccArguments& nvcc,
                         const Toolkit& toolkit, const std::filesystem::path& directory) {
  const bool is_our_own = error.message.find("the CPU back end") != std::string::npos;
  if (!is_about_source(error.message) || is_our_own)
    return error;
  Command command;
  command.arguments = {(toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(nvcc, describes_result))
    command.arguments.push_back(word);
  command.arguments.insert(command.arguments.end(), {"-x", "cu", phase_of_object(nvcc), source.string(), "-o",
                                                     (directory / "query.o").string()});
  command.without = nvcc_variables;
  return run_compiler(std::move(command)) ? Error{only_clang_objects(error.message)} : error;
}

} // namespace warplens::toolchain
