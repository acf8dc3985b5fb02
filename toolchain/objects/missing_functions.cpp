#include "toolchain/objects/missing_functions.h"

#include "support/pattern.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace warplens::toolchain {
namespace {

struct Library {
  const char* prefix; ///< the common prefix of its functions
  const char* name;
};

/// A prefix that begins another comes after it. cuFFTW's functions cannot be distinguished from FFTW's.
constexpr Library libraries[] = {
    {"cublas", "cuBLAS"},     {"cufft", "cuFFT"},           {"curand", "cuRAND"}, {"cusolver", "cuSOLVER"},
    {"cusparse", "cuSPARSE"}, {"cudnn", "cuDNN"},           {"npp", "NPP"},       {"nvjpeg", "nvJPEG"},
    {"nvrtc", "NVRTC"},       {"nvJitLink", "nvJitLink"},   {"nvml", "NVML"},     {"cupti", "CUPTI"},
    {"nccl", "NCCL"},         {"cuda", "the CUDA runtime"},
};

/// Returns the library of a function. The driver API's names go on with a capital: cuInit, cuModuleLoad.
std::optional<std::string> library_of(const std::string& function) {
  for (const Library& library : libraries)
    if (function.starts_with(library.prefix))
      return library.name;
  if (function.size() > 2 && function.starts_with("cu") && function[2] >= 'A' && function[2] <= 'Z')
    return "the CUDA driver API";
  return std::nullopt;
}

/// Returns "a, b, c and 5 more".
std::string list(const std::set<std::string>& functions) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> all(functions.begin(), functions.end());
  const std::vector<std::string> first(all.begin(), all.begin() + std::min(most, all.size()));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     all.size() > most ? fmt::format(" and {} more", all.size() - most) : "");
}

} // namespace

std::string explain_missing(const std::string& linker_output) {
  static const Pattern reference("undefined reference to [`']([^'\n]+)'");
  std::map<std::string, std::set<std::string>> missing;
  std::string first;
  for (const auto& match : reference.all_matches(linker_output)) {
    const std::string& function = match[1];
    if (first.empty())
      first = function;
    if (const auto library = library_of(function))
      missing[*library].insert(function);
  }
  if (missing.empty())
    return first.empty() ? "" : fmt::format("undefined reference to `{}'", first);
  std::vector<std::string> calls;
  for (const auto& [library, functions] : missing)
    calls.push_back(fmt::format("{} ({})", library, list(functions)));
  return fmt::format(
      "it calls {}: the CPU back end has no such {}; on a machine with a GPU --backend gpu runs it",
      fmt::join(calls, ", "),
      missing.size() == 1 && missing.contains("the CUDA runtime") ? "function" : "library");
}

} // namespace warplens::toolchain
