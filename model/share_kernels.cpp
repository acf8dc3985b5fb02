#include "model/share_kernels.h"

#include <nlohmann/json.hpp>

namespace warplens::model {
namespace {

/// Returns the kernels in CBOR, which keeps every double's bits and every string's bytes, as text would not.
std::vector<std::byte> pack(std::vector<KernelResult> kernels) {
  Result result;
  result.kernels = std::move(kernels);
  const std::vector<std::uint8_t> bytes = nlohmann::ordered_json::to_cbor(to_json(result));
  const std::span<const std::byte> view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

Expected<std::vector<KernelResult>> unpack(const std::vector<std::byte>& bytes) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  TRY_LET(result, result_from_json(nlohmann::json::from_cbor(begin, begin + bytes.size())));
  return std::move(result->kernels);
}

} // namespace

Expected<std::vector<KernelResult>> KernelShare::join(std::vector<KernelResult> mine) const {
  if (!divides_)
    return mine;
  std::vector<std::vector<KernelResult>> by_rank;
  for (const std::vector<std::byte>& bytes : ranks_.exchange(pack(std::move(mine)))) {
    TRY_LET(kernels, unpack(bytes));
    by_rank.push_back(std::move(*kernels));
  }
  std::vector<KernelResult> all;
  for (std::size_t kernel = 0; kernel < kernels_; ++kernel) {
    std::vector<KernelResult>& rank_results = by_rank[kernel % ranks_.count];
    if (rank_results.size() <= kernel / ranks_.count)
      return fail("the processes that mpirun started do not model the same trace");
    all.push_back(std::move(rank_results[kernel / ranks_.count]));
  }
  return all;
}

} // namespace warplens::model
