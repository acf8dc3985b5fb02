// Atomics on a copy in each block's shared memory: at its end, behind a barrier, each word that it touched is
// added to the array.
#include "model/gpu/occupancy.h"
#include "placement/change/rewrite.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

#include <algorithm>
#include <bit>

namespace warplens::placement {
namespace {

class Privatise final : public Transformation {
public:
  Privatise(const Array& array, std::uint32_t number, std::uint64_t offset, const ChangeContext& context)
      : array_(array), offset_(offset), threads_(std::uint32_t(context.launch.block.count())),
        first_(context.site(array.first_atomic)) {
    const std::uint64_t id = (std::uint64_t{0x5a4e'e000} + number) << 32;
    barrier_ = id + 1;
    load_ = id + 2;
    add_ = id + 3;
    zero_ = id + 4;
    first_barrier_ = id + 5;
  }
  void change(Site& site) const override { site.space = Space::shared; }
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    access.space = Space::shared;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      address = offset_ + (address - array_.touched.begin);
    }
  }
  std::vector<Site> added_sites() const override {
    std::vector<Site> sites;
    const auto add = [&](std::uint64_t id, AccessKind kind, Space space) -> Site& {
      Site& site = sites.emplace_back();
      site.id = id;
      site.file = first_.file;
      site.line = first_.line;
      site.column = first_.column;
      site.expression = fmt::format("sums of {} at the block's end", array_.name);
      site.kind = kind;
      site.space = space;
      site.element_bytes = is_access(kind) ? array_.element_bytes : 0;
      site.object = array_.name;
      return site;
    };
    add(zero_, AccessKind::store, Space::shared);
    add(first_barrier_, AccessKind::barrier, Space::generic);
    add(barrier_, AccessKind::barrier, Space::generic);
    add(load_, AccessKind::load, Space::shared);
    Site& global = add(add_, AccessKind::atomic, Space::global);
    global.is_reduction = true;
    global.is_floating = first_.is_floating;
    global.depends_on = {load_};
    return sites;
  }
  void begin(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    each_piece(block, warp, [&](trace::WarpAccess in_shared, const trace::WarpAccess&) {
      in_shared.site = zero_;
      in_shared.kind = AccessKind::store;
      emit(in_shared);
    });
    put_barrier(warp, threads_, first_barrier_, emit);
  }
  void end(std::uint64_t block, std::uint32_t warp, const Emit& emit) const override {
    put_barrier(warp, threads_, barrier_, emit);
    each_piece(block, warp, [&](trace::WarpAccess in_shared, trace::WarpAccess in_memory) {
      in_shared.site = load_;
      emit(in_shared);
      in_memory.site = add_;
      in_memory.kind = AccessKind::atomic;
      emit(in_memory);
    });
  }

private:
  /// Visits the words that the block adds to, a word for each lane, as accesses to its copy and to the array.
  template <class Visit> void each_piece(std::uint64_t block, std::uint32_t warp, Visit&& visit) const {
    const auto found = array_.block_uses.find(block);
    if (found == array_.block_uses.end())
      return;
    const std::uint64_t step = array_.element_bytes, end = found->second.stored.end;
    for (std::uint64_t first = found->second.stored.begin + warp * warp_lanes * step; first < end;
         first += std::uint64_t{threads_} * step) {
      trace::WarpAccess in_shared, in_memory;
      in_shared.bytes = in_memory.bytes = std::uint16_t(step);
      in_shared.space = Space::shared;
      for (std::uint32_t lane = 0; lane < lanes_of(warp, threads_) && first + lane * step < end; ++lane) {
        in_shared.active |= 1u << lane;
        in_shared.addresses[lane] = offset_ + (first + lane * step - array_.touched.begin);
        in_memory.addresses[lane] = first + lane * step;
      }
      in_memory.active = in_shared.active;
      if (in_shared.active != 0)
        visit(in_shared, in_memory);
    }
  }

  const Array& array_;
  std::uint64_t offset_;
  std::uint32_t threads_;
  const Site& first_;
  std::uint64_t barrier_ = 0, load_ = 0, add_ = 0, zero_ = 0, first_barrier_ = 0; ///< Site::id
};

Planned privatise(const Array& array, std::uint32_t index, ChangeContext& context) {
  const auto refuse = [&](std::uint32_t site, std::string text) {
    return Planned{nullptr, {context.because(site, std::move(text))}};
  };
  if (array.space != Space::global || array.atomics == 0)
    return refuse(array.first_access, "there are no atomics on it in global memory");
  for (const std::uint32_t site : array.sites)
    if (context.site(site).kind != AccessKind::atomic || !context.site(site).is_reduction)
      return refuse(site, "the kernel uses its values before the block ends");
  const std::uint64_t taken =
      std::uint64_t{context.launch.static_shared_bytes} + context.launch.dynamic_shared_bytes;
  const std::uint64_t offset = round_up(taken, 16);
  const std::uint64_t most =
      context.gpu->shared.max_bytes_per_block - context.gpu->shared.reserved_bytes_per_block;
  if (offset + array.touched.bytes() > most)
    return refuse(array.first_atomic,
                  fmt::format("{} B of {} B of shared memory", offset + array.touched.bytes(), most));
  context.launch.static_shared_bytes += std::uint32_t(offset + array.touched.bytes() - taken);
  if (const auto occupied = model::occupancy(*context.gpu, context.launch); !occupied)
    return refuse(array.first_atomic, occupied.error().message);
  return {std::make_unique<Privatise>(array, index, offset, context), {}};
}

std::vector<Move> worth_privatising(const TracedKernel& kernel, std::uint32_t index) {
  const Array& array = kernel.arrays[index];
  if (array.space != Space::global || array.atomics == 0)
    return {};
  return {{.array = index, .rewrite = Rewrite::privatised}};
}

std::string privatising_words(const Suggested& suggested) {
  const std::string& name = suggested.array.name;
  return fmt::format("let each block add to a copy of {} in shared memory ({} B), and add that to {} at its "
                     "end",
                     name, suggested.array.touched.bytes(), name);
}

} // namespace

constinit const RewriteTraits privatised_rewrite{
    .worth_trying = worth_privatising,
    .plan = privatise,
    .words = privatising_words,
    .is_about_atomics = true,
};

} // namespace warplens::placement
