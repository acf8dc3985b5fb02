#include "model/snapshot/beside.h"

#include <algorithm>
#include <unordered_map>

namespace warplens::model {
namespace {

/// Appends the code of one launch to that of all.
class CodeJoiner {
public:
  Expected<void> add(const Code& code) {
    if (all_.architecture != 0 && all_.architecture != code.architecture)
      return fail("kernels beside each other have code of sm_{} and of sm_{}", all_.architecture,
                  code.architecture);
    all_.architecture = code.architecture;
    const auto first_instruction = std::uint32_t(all_.kernel.instructions.size());
    const auto first_block = std::uint32_t(all_.kernel.blocks.size());
    const auto first_slot = std::uint32_t(all_.slots.size()), first_file = std::uint32_t(all_.files.size());
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all_.kernel.instructions, code.kernel.instructions);
    for (sass::Block block : code.kernel.blocks) {
      block.begin += first_instruction;
      block.end += first_instruction;
      block.successor_count = 0; // the paths are known
      all_.kernel.blocks.push_back(block);
    }
    if (!all_.first_slot.empty())
      all_.first_slot.pop_back();
    for (const std::uint32_t slot : code.first_slot)
      all_.first_slot.push_back(slot + first_slot);
    for (MemorySlot slot : code.slots) {
      slot.instruction += first_instruction;
      all_.slots.push_back(slot);
    }
    for (Path path : code.paths) {
      for (std::uint32_t& block : path.blocks)
        block = block == Path::unmatched ? Path::unmatched : block + first_block;
      all_.paths.push_back(std::move(path));
    }
    for (const auto& [instruction, product] : code.tensor_memory_products)
      all_.tensor_memory_products[instruction + first_instruction] = product;
    append(all_.files, code.files);
    for (SourceLine line : code.lines) {
      line.file += first_file;
      all_.lines.push_back(line);
    }
    return {};
  }
  std::uint32_t instructions() const { return std::uint32_t(all_.kernel.instructions.size()); }
  std::uint32_t paths() const { return std::uint32_t(all_.paths.size()); }
  std::shared_ptr<const Code> code() && { return std::make_shared<const Code>(std::move(all_)); }

private:
  Code all_;
};

class Joiner {
public:
  explicit Joiner(bool share_memory) : share_memory_(share_memory) { all_.snapshot.byte_masks.clear(); }

  Expected<void> add(const Snapshot& one) {
    if (!all_.launches.empty() && has_code_ != (one.code != nullptr))
      return fail("of kernels beside each other the code must be known of all or of none");
    has_code_ = one.code != nullptr;
    const std::uint32_t first_path = code_.paths(), first_instruction = code_.instructions();
    if (has_code_)
      TRY(code_.add(*one.code));
    TRY(add_pages(one));
    TRY(add_masks(one));
    Snapshot& all = all_.snapshot;
    const LaunchRange range{std::uint32_t(all.blocks.size()), std::uint32_t(one.blocks.size()),
                            std::uint32_t(all.sites.size()), std::uint32_t(one.sites.size()),
                            first_instruction};
    if (range.first_site + range.sites > max_sites)
      return fail("kernels beside each other have more than {} sites", max_sites);
    for (Snapshot::Block block : one.blocks) {
      block.first_warp += std::uint32_t(all.warps.size());
      all.blocks.push_back(block);
    }
    for (const Warp& warp : one.warps)
      all.warps.push_back(moved(warp, range.first_site, first_path));
    all.sites.insert(all.sites.end(), one.sites.begin(), one.sites.end());
    all.blocks_seen += one.blocks_seen;
    all.warp_accesses += one.warp_accesses;
    all.transactions += one.transactions;
    all.longest_bulk = std::max(all.longest_bulk, one.longest_bulk);
    all.reads_constants |= one.reads_constants;
    all.stores_local |= one.stores_local;
    all.reads_read_only |= one.reads_read_only;
    all.reads_textures |= one.reads_textures;
    all.has_barriers |= one.has_barriers;
    all.joins_blocks |= one.joins_blocks;
    all_.launches.push_back(range);
    return {};
  }

  JoinedSnapshot joined() && {
    if (has_code_)
      all_.snapshot.code = std::move(code_).code();
    return std::move(all_);
  }

private:
  Expected<void> add_pages(const Snapshot& one) {
    pages_.clear();
    for (const std::uint64_t page : one.pages) {
      const auto next = std::uint32_t(all_.snapshot.pages.size());
      const auto [found, is_new] = page_ids_.try_emplace(page, next);
      if (is_new || !share_memory_)
        all_.snapshot.pages.push_back(page);
      pages_.push_back(is_new || !share_memory_ ? next : found->second);
    }
    if (all_.snapshot.pages.size() > max_pages)
      return fail("kernels beside each other touch more than {} pages of 2 MiB", max_pages);
    return {};
  }

  Expected<void> add_masks(const Snapshot& one) {
    std::vector<ByteMask>& all = all_.snapshot.byte_masks;
    if (all.empty())
      all = {one.byte_masks.empty() ? ByteMask{~std::uint64_t{0}, ~std::uint64_t{0}}
                                    : one.byte_masks.front()};
    first_mask_ = std::uint32_t(all.size()) - 1;
    if (one.byte_masks.size() > 1)
      all.insert(all.end(), one.byte_masks.begin() + 1, one.byte_masks.end());
    if (all.size() > max_byte_masks)
      return fail("kernels beside each other store in more than {} patterns of bytes", max_byte_masks);
    return {};
  }

  Warp moved(Warp warp, std::uint32_t first_site, std::uint32_t first_path) const {
    warp.path += first_path;
    Transaction* transaction = warp.transactions.data();
    for (Access& access : warp.accesses) {
      access.site += first_site;
      const bool stores = access.kind == AccessKind::store || access.kind == AccessKind::update;
      for (std::uint32_t i = 0; i < access.transactions; ++i, ++transaction) {
        const std::uint32_t offset = transaction->line & ((1u << page_shift) - 1);
        transaction->line = pages_[transaction->line >> page_shift] << page_shift | offset;
        if (stores && transaction->mask != 0)
          transaction->mask += first_mask_;
      }
    }
    return warp;
  }

  bool share_memory_, has_code_ = false;
  JoinedSnapshot all_;
  CodeJoiner code_;
  std::unordered_map<std::uint64_t, std::uint32_t> page_ids_;
  std::vector<std::uint32_t> pages_; ///< by the number that the launch's page has in its own snapshot
  std::uint32_t first_mask_ = 0;
};

} // namespace

Expected<JoinedSnapshot> join(std::span<const Snapshot* const> snapshots, bool share_memory) {
  if (snapshots.size() > max_joined_launches)
    return fail("more than {} kernels beside each other", max_joined_launches);
  Joiner joiner(share_memory);
  for (const Snapshot* const one : snapshots)
    TRY(joiner.add(*one));
  return std::move(joiner).joined();
}

} // namespace warplens::model
