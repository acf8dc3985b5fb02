#include "driver/stages/read_kernels.h"

#include "driver/stages/read_result.h"
#include "driver/stages/simulate.h"
#include "trace/format.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace warplens::driver {

bool is_trace(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, trace::file_magic.size()> begin{};
  in.read(begin.data(), begin.size());
  return in && std::ranges::equal(begin, trace::file_magic,
                                  [](char read, std::uint8_t byte) { return std::uint8_t(read) == byte; });
}

Expected<std::vector<KernelResult>> read_kernels(std::span<const std::string> files,
                                                 std::span<const model::Gpu> gpus,
                                                 const ModelOptions& options, const OutputOptions& output) {
  const auto model_trace = [&](const std::string& file) -> Expected<Result> {
    TRY_LET(trace, trace::Reader::open(file));
    return simulate(*trace, {gpus.begin(), gpus.end()}, options, output);
  };
  std::vector<KernelResult> kernels;
  for (const std::string& file : files) {
    TRY_LET(result, is_trace(file) ? model_trace(file) : read_result(file));
    std::ranges::move(result->kernels, std::back_inserter(kernels));
  }
  return kernels;
}

} // namespace warplens::driver
