#include "placement/change/block_copy.h"

#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::placement {
namespace {

/// Returns whether the block stores to all bytes of a chunk.
bool stores_all(const BlockUse& use, std::uint64_t address, std::uint32_t bytes) {
  const StoredLine* const stored = use.stores_to(address / line_bytes);
  if (stored == nullptr)
    return false;
  const std::uint64_t mask = ((std::uint64_t{1} << bytes) - 1) << address % 64;
  return (stored->bytes[address % line_bytes / 64] & mask) == mask;
}

} // namespace

BlockCopy::BlockCopy(const std::vector<std::uint64_t>& lines, std::uint32_t padding)
    : lines_(&lines), padding_(padding) {
  if (padding == 0)
    return;
  for (std::size_t i = 0; i < lines.size(); ++i)
    run_.push_back(i == 0 ? 0 : run_.back() + (lines[i] != lines[i - 1] + 1));
}

std::uint64_t BlockCopy::offset_of(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(*lines_, address / line_bytes);
  if (found == lines_->end())
    return 0;
  const auto index = std::size_t(found - lines_->begin());
  return index * line_bytes + (run_.empty() ? 0 : std::uint64_t{run_[index]} * padding_) +
         address % line_bytes;
}

std::uint64_t BlockCopy::bytes() const {
  return lines_->size() * line_bytes + (run_.empty() ? 0 : (std::uint64_t{run_.back()} + 1) * padding_);
}

void each_piece(const BlockCopy& copy, std::uint64_t offset, std::uint32_t chunk_bytes, std::uint32_t warp,
                std::uint32_t threads, const BlockUse* stored_use,
                const std::function<void(const CopyPiece&)>& visit) {
  const std::uint64_t chunks = copy.size() * line_bytes / chunk_bytes;
  const std::uint32_t warps = (threads + warp_lanes - 1) / warp_lanes;
  for (std::uint64_t first = std::uint64_t{warp} * warp_lanes; first < chunks;
       first += std::uint64_t{warps} * warp_lanes) {
    CopyPiece piece;
    piece.in_memory.bytes = piece.in_shared.bytes = std::uint16_t(chunk_bytes);
    piece.in_memory.space = Space::global;
    piece.in_shared.space = Space::shared;
    for (std::uint32_t lane = 0; lane < lanes_of(warp, threads) && first + lane < chunks; ++lane) {
      const std::uint64_t byte = (first + lane) * chunk_bytes;
      const std::uint64_t address = copy.line(byte / line_bytes) * line_bytes + byte % line_bytes;
      if (stored_use != nullptr && !stores_all(*stored_use, address, chunk_bytes))
        continue;
      piece.in_memory.active |= 1u << lane;
      piece.in_memory.addresses[lane] = address;
      piece.in_shared.addresses[lane] = offset + copy.offset_of(address);
    }
    piece.in_shared.active = piece.in_memory.active;
    if (piece.in_memory.active != 0)
      visit(piece);
  }
}

CopySites::CopySites(const Array& array, std::uint64_t number, const Site& first)
    : array_(array), id_((std::uint64_t{0x5a4e'd000} + number) << 32), first_(first) {}

std::vector<Site> CopySites::all(Space from, std::uint32_t chunk_bytes, bool is_async,
                                 std::string_view what) const {
  const auto site = [&](std::uint64_t id, AccessKind kind, Space space) {
    Site added;
    added.id = id;
    added.file = first_.file;
    added.line = first_.line;
    added.column = first_.column;
    added.expression = fmt::format("copy of {} {} shared memory", array_.name, what);
    added.kind = kind;
    added.space = space;
    added.element_bytes = is_access(kind) ? chunk_bytes : 0;
    if (is_async && is_access(kind))
      added.cache_operator = chunk_bytes == 16 ? CacheOperator::async_cg : CacheOperator::async_ca;
    added.object = array_.name;
    return added;
  };
  const Space to = from == Space::shared ? Space::global : Space::shared;
  std::vector<Site> sites{site(load(), AccessKind::load, from), site(store(), AccessKind::store, to),
                          site(barrier(), AccessKind::barrier, Space::generic)};
  sites[1].depends_on = {load()};
  return sites;
}

void CopySites::put(const CopyPiece& piece, bool to_shared, const Transformation::Emit& emit) const {
  trace::WarpAccess load = to_shared ? piece.in_memory : piece.in_shared;
  trace::WarpAccess store = to_shared ? piece.in_shared : piece.in_memory;
  load.site = this->load();
  load.kind = AccessKind::load;
  store.site = this->store();
  store.kind = AccessKind::store;
  emit(load);
  emit(store);
}

bool has_distant_lanes(const Array& array) {
  std::uint64_t distant = 0;
  for (const auto& [stride, count] : array.lane_strides)
    distant += stride >= std::int64_t(line_bytes) || stride <= -std::int64_t(line_bytes) ? count : 0;
  return distant * 4 >= array.whole_warps && distant != 0;
}

} // namespace warplens::placement
