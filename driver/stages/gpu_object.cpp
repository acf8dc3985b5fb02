#include "driver/stages/gpu_object.h"

#include "driver/resources.h"
#include "driver/stages/compiler.h"

namespace warplens::driver {

bool concerns_dependencies(Meaning meaning) {
  switch (meaning) {
  case Meaning::dependencies:
  case Meaning::user_dependencies:
  case Meaning::dependency_file:
  case Meaning::dependency_target:
  case Meaning::dependency_phony: return true;
  default: return false;
  }
}

bool describes_result(const NvccArgument& argument) {
  switch (argument.meaning) {
  case Meaning::input:
  case Meaning::language:
  case Meaning::output:
  case Meaning::output_directory:
  case Meaning::compile:
  case Meaning::compile_relocatable:
  case Meaning::compile_whole:
  case Meaning::link:
  case Meaning::library_archive:
  case Meaning::run:
  case Meaning::no_object: return true;
  default: return concerns_dependencies(argument.meaning);
  }
}

std::string phase_of_object(const NvccArguments& nvcc) {
  return nvcc.phase == Meaning::compile_whole ? "-dw" : nvcc.relocatable ? "-dc" : "-c";
}

std::vector<std::string> gpu_object_command(const Toolkit& toolkit, const NvccArguments& nvcc,
                                            const std::filesystem::path& source,
                                            const std::filesystem::path& original,
                                            const std::filesystem::path& object) {
  std::vector<std::string> command{(toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(nvcc, describes_result))
    command.push_back(word);
  // Launches go through the documented cudaLaunchKernel, which is then redirected to our hook.
  command.insert(command.end(),
                 {"-isystem", resources().include.string(), "-Xcompiler", "-D__NV_LEGACY_LAUNCH"});
  // The copy names what lies beside the original by its full path; this is for names that macros make. nvcc
  // splits at commas and knows no way to quote one.
  const auto folder = std::filesystem::absolute(original).parent_path().string();
  if (folder.find_first_of(", \"'") == std::string::npos)
    command.insert(command.end(), {"-Xcompiler", "-iquote," + folder});
  // nvcc names intermediate files after its own process, and the object tells of them. Where it is to keep
  // them it does not, and the same input gives the same bytes.
  if (!nvcc.keep)
    command.insert(command.end(), {"--keep", "--keep-dir", object.parent_path().string()});
  command.insert(command.end(), {"-x", "cu", phase_of_object(nvcc), source.string(), "-o", object.string()});
  return command;
}

Expected<void> redirect_launches(const std::filesystem::path& object) {
  const auto redirected = run_compiler(
      {"objcopy", "--redefine-syms=" + resources().redirected_symbols.string(), object.string()});
  if (!redirected)
    return tl::unexpected(redirected.error());
  return {};
}

} // namespace warplens::driver
