#include "model/snapshot/typical_request.h"

namespace warplens::model {

void TypicalRequestFinder::add(const trace::WarpAccess& access, std::uint32_t parts,
                               std::pair<std::uint64_t, std::uint32_t> warp) {
  Alike& alike = by_parts_[parts];
  const bool is_first = alike.requests++ == 0 || warp < alike.warp;
  if (!is_first)
    return;
  alike.warp = warp;
  alike.active = access.active;
  alike.bytes = access.bytes;
  alike.addresses = access.addresses;
}

TypicalRequest TypicalRequestFinder::result() const {
  TypicalRequest result;
  for (const auto& [parts, alike] : by_parts_) {
    result.requests += alike.requests;
    if (alike.requests > result.alike) { // of two that are as common, the one with fewer parts
      result.alike = alike.requests;
      result.parts = parts;
      result.active = alike.active;
      result.bytes = alike.bytes;
      result.addresses = alike.addresses;
    }
  }
  return result;
}

} // namespace warplens::model
