#include "driver/arguments/clang_arguments.h"

#include "driver/resources.h"
#include "driver/version.h"

#include <algorithm>
#include <charconv>

namespace warplens::driver {
namespace {

// CUDA 13 compiles for sm_75 and newer; Clang 19 knows none newer than sm_90a.
constexpr int lowest_architecture = 75, highest_architecture = 90;

/// At least one, lowest first.
std::vector<int> parsed_architectures(const NvccArguments& nvcc) {
  std::vector<int> numbers;
  for (const std::string& text : nvcc.architectures) {
    int number = lowest_architecture;
    std::from_chars(text.data(), text.data() + text.size(), number);
    number = std::clamp(number, lowest_architecture, highest_architecture);
    if (numbers.empty() || numbers.back() != number)
      numbers.push_back(number);
  }
  return numbers.empty() ? std::vector{lowest_architecture} : numbers;
}

} // namespace

std::vector<std::string> clang_arguments(const NvccArguments& nvcc, const Toolkit& toolkit) {
  const auto& parts = resources();
  const auto architectures = parsed_architectures(nvcc);
  std::vector<std::string> arguments{
      clang, "-x", "cuda", "--cuda-path=" + toolkit.root.string(),
      "-std=" + (nvcc.standard.empty() ? std::string("c++17") : nvcc.standard), // nvcc 13's default
      "-isystem", parts.shim.string(), "-isystem", (toolkit.root / "include/cccl").string(), "-I",
      parts.include.string(),
      // In the names of CUB's kernels, so that both halves have to agree on it.
      fmt::format("-DWARPLENS_ARCH_LIST={}0", architectures.front()),
      // Differences in what the two compilers warn of are no concern of the user's.
      "-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-Wno-register",
      "-Wno-reserved-user-defined-literal", "-w"};
  for (const int architecture : architectures)
    arguments.push_back(fmt::format("--cuda-gpu-arch=sm_{}", architecture));
  for (const char* header : {"warplens_bridge.h"})
    arguments.insert(arguments.end(), {"-include", (parts.shim / header).string()});
  arguments.insert(arguments.end(), nvcc.preprocessing.begin(), nvcc.preprocessing.end());
  for (const auto& flag : nvcc.host_compiler)
    if (flag.starts_with("-D") || flag.starts_with("-I") || flag == "-fopenmp")
      arguments.push_back(flag);
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

} // namespace warplens::driver
