#include "toolchain/nvcc/clang_arguments.h"

#include "toolchain/nvcc/host_compiler.h"
#include "toolchain/nvcc/host_options.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace warplens::toolchain {
namespace {

// CUDA 13 compiles for sm_75 and newer; Clang 19 knows none newer than sm_90a.
constexpr int lowest_architecture = 75, highest_architecture = 90;

constexpr std::string_view architecture_flag = "--cuda-gpu-arch=sm_";
constexpr std::string_view list_flag = "-DWARPLENS_ARCH_LIST=";
constexpr std::string_view features_flag = "-DWARPLENS_FEATURES_OF=",
                           all_features_flag = "-DWARPLENS_ALL_FEATURES";

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns at least one architecture; the one to be compiled for stands first, the others ascend.
std::vector<int> parsed_architectures(const NvccArguments& nvcc, int capability) {
  std::vector<int> numbers;
  for (const std::string& text : nvcc.architectures) {
    const int number = std::clamp(number_of(text), lowest_architecture, highest_architecture);
    if (numbers.empty() || numbers.back() != number)
      numbers.push_back(number);
  }
  if (numbers.empty())
    return {lowest_architecture};
  const auto newer = std::ranges::upper_bound(numbers, capability);
  if (newer != numbers.begin())
    std::rotate(numbers.begin(), newer - 1, newer);
  return numbers;
}

/// Returns the newest architecture with features of its own (90a, 100f) that Clang compiles for as for this
/// one; empty if the command names none.
std::string featured_architecture(const NvccArguments& nvcc, int architecture) {
  std::string newest;
  for (const std::string& text : nvcc.architectures)
    if ((text.ends_with('a') || text.ends_with('f')) &&
        std::min(number_of(text), highest_architecture) == architecture &&
        number_of(text) > number_of(newest))
      newest = text;
  return newest;
}

/// Returns the number that device code has in __CUDA_ARCH__.
int compiled_architecture(const NvccArguments& nvcc, int architecture) {
  const std::string featured = featured_architecture(nvcc, architecture);
  return featured.empty() ? architecture : number_of(featured);
}

} // namespace

std::vector<std::string> clang_arguments(const NvccArguments& nvcc, const Toolkit& toolkit, int capability) {
  const auto& parts = resources();
  const auto architectures = parsed_architectures(nvcc, capability);
  std::vector<std::string> arguments{
      clang, "-x", "cuda", "--cuda-path=" + toolkit.root.string(), "-std=" + dialect_with_probes(nvcc),
      "-isystem", parts.compatibility.string(), "-isystem", (toolkit.root / "include/cccl").string(), "-I",
      parts.include.string(),
      // CUB's host code chooses the kernels that it launches among these, so the list names the compiled
      // architecture alone. It is also in the names of CUB's kernels, so that both halves must agree on it.
      fmt::format("{}{}0", list_flag, compiled_architecture(nvcc, architectures.front())),
      // Differences between the warnings of the two compilers do not concern the user.
      "-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-Wno-register",
      "-Wno-reserved-user-defined-literal", "-w"};
  for (const int architecture : architectures)
    arguments.push_back(fmt::format("{}{}", architecture_flag, architecture));
  if (const std::string featured = featured_architecture(nvcc, architectures.front()); !featured.empty()) {
    arguments.push_back(fmt::format("{}{}0", features_flag, number_of(featured)));
    if (featured.ends_with('a'))
      arguments.emplace_back(all_features_flag);
  }
  for (const char* header : {"warplens_compatibility.h"})
    arguments.insert(arguments.end(), {"-include", (parts.compatibility / header).string()});
  // As in nvcc's commands: the first folder with a header counts, and the last definition of a macro.
  const auto host = sort_host_options(nvcc.host_compiler);
  arguments.insert(arguments.end(), host.both_halves.begin(), host.both_halves.end());
  arguments.insert(arguments.end(), nvcc.preprocessing.begin(), nvcc.preprocessing.end());
  const char* variable = std::getenv("NVCC_CCBIN");
  if (const std::string compiler = !nvcc.compiler_binary.empty() ? nvcc.compiler_binary
                                   : variable                    ? variable
                                                                 : "";
      !compiler.empty()) {
    const auto settings = host_compiler_settings(compiler);
    arguments.insert(arguments.end(), settings.begin(), settings.end());
  }
  if (nvcc.extended_lambda)
    arguments.push_back("-DWARPLENS_EXTENDED_LAMBDA");
  if (nvcc.relaxed_constexpr)
    arguments.push_back("-DWARPLENS_RELAXED_CONSTEXPR");
  if (nvcc.device_debug)
    arguments.push_back("-D__CUDACC_DEBUG__");
  if (nvcc.relocatable)
    arguments.push_back("-D__CUDACC_RDC__");
  if (nvcc.per_thread_stream)
    arguments.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  // Not -ffast-math: nvcc reorders no sums, and keeps NaN.
  if (nvcc.fast_math)
    arguments.push_back("-fcuda-approx-transcendentals");
  if (nvcc.flush_to_zero)
    arguments.push_back("-fcuda-flush-denormals-to-zero");
  if (!nvcc.fused_multiply_add)
    arguments.push_back("-ffp-contract=off");
  return arguments;
}

std::vector<std::vector<std::string>> with_older_architectures(const std::vector<std::string>& arguments) {
  std::vector<int> architectures;
  for (const auto& argument : arguments)
    if (argument.starts_with(architecture_flag))
      architectures.push_back(number_of(std::string_view(argument).substr(architecture_flag.size())));
  std::vector<std::vector<std::string>> all{arguments};
  if (architectures.empty())
    return all;
  const int first = architectures.front();
  std::erase_if(architectures, [&](int architecture) { return architecture >= first; });
  std::ranges::sort(architectures, std::ranges::greater());
  for (const int architecture : architectures) {
    auto& older = all.emplace_back();
    for (const auto& argument : arguments)
      if (argument.starts_with(list_flag))
        older.push_back(fmt::format("{}{}0", list_flag, architecture));
      else if (!argument.starts_with(architecture_flag) && !argument.starts_with(features_flag) &&
               argument != all_features_flag)
        older.push_back(argument);
    older.push_back(fmt::format("{}{}", architecture_flag, architecture));
  }
  return all;
}

} // namespace warplens::toolchain
