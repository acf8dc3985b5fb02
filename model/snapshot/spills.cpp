#include "model/snapshot/spills.h"

#include "sass/code_table.h"
#include "support/hash.h"
#include "vocabulary/spilled_registers.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace warplens::model {
namespace {

constexpr std::uint32_t word_bytes = 4;
/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": local memory per thread.
constexpr std::int32_t max_frame_bytes = 512 << 10;

/// An instruction that accesses the frame.
struct Spill {
  std::uint32_t instruction = 0;
  std::uint32_t summary = 0; ///< index into Snapshot::sites
  std::uint32_t first_word = 0, words = 0;
  bool stores = false;
};

bool accesses_frame(const sass::Instruction& instruction) {
  return (instruction.kind == sass::InstructionClass::load_local ||
          instruction.kind == sass::InstructionClass::store_local) &&
         instruction.frame_offset >= 0 &&
         instruction.frame_offset <= max_frame_bytes - std::int32_t(instruction.access_bytes) &&
         !instruction.guard.is_never();
}

/// Returns the line of the closest instruction before it, or behind it, that has one.
SourceLine line_of(const Code& code, std::uint32_t instruction) {
  for (std::uint32_t i = instruction + 1; i-- > 0;)
    if (code.lines[i].line != 0)
      return code.lines[i];
  for (std::uint32_t i = instruction; i < code.lines.size(); ++i)
    if (code.lines[i].line != 0)
      return code.lines[i];
  return {};
}

/// Returns how many accesses to their frames the snapshot's warps make.
std::uint64_t count_accesses(const Snapshot& snapshot, const Code& code, const std::vector<bool>& is_spill) {
  std::vector<std::uint64_t> spills_by_block, spills_by_path;
  for (const sass::Block& block : code.kernel.blocks)
    spills_by_block.push_back(
        std::uint64_t(std::count(is_spill.begin() + block.begin, is_spill.begin() + block.end, true)));
  for (const Path& path : code.paths) {
    spills_by_path.push_back(0);
    for (const std::uint32_t block : path.blocks)
      spills_by_path.back() += block == Path::unmatched ? 0 : spills_by_block[block];
  }
  std::uint64_t all = 0;
  for (const Warp& warp : snapshot.warps)
    all += spills_by_path[warp.path];
  return all;
}

/// Returns for each instruction whether it accesses the frame and makes no access of the trace.
std::vector<bool> find_spills(const Code& code) {
  std::vector<bool> is_spill;
  for (const sass::Instruction& instruction : code.kernel.instructions)
    is_spill.push_back(accesses_frame(instruction));
  for (const MemorySlot& slot : code.slots)
    is_spill[slot.instruction] = false;
  return is_spill;
}

/// The spills of a kernel's code, and the sites and slots that they become.
class Spills {
public:
  Spills(Snapshot& snapshot, Code& code, std::size_t traced_sites, const std::vector<bool>& is_spill)
      : snapshot_(snapshot), code_(code), traced_sites_(traced_sites) {
    for (std::uint32_t i = 0; i < is_spill.size(); ++i)
      if (is_spill[i])
        add(i);
  }

  std::vector<Site> sites() && { return std::move(sites_); }

  /// Gives the spills slots, in the code and on its paths. A path of which `makes_access` had a value for
  /// each slot has one for each spill, too.
  void add_slots() {
    std::vector<MemorySlot> slots;
    std::vector<std::uint32_t> first_slot;
    for (std::uint32_t block = 0; block < code_.kernel.blocks.size(); ++block) {
      first_slot.push_back(std::uint32_t(slots.size()));
      slots_of_block_.emplace_back();
      each_slot(block, [&](const MemorySlot* traced, const Spill* spill) {
        slots.push_back(traced != nullptr ? *traced
                                          : MemorySlot{spill->instruction, sass::none,
                                                       std::uint8_t(spill->words * word_bytes)});
        slots_of_block_.back().push_back(spill);
      });
    }
    first_slot.push_back(std::uint32_t(slots.size()));
    for (Path& path : code_.paths) {
      std::vector<std::uint8_t> makes_access;
      const std::uint8_t* traced = path.makes_access.data();
      for (const std::uint32_t block : path.blocks)
        if (block != Path::unmatched)
          for (const Spill* const spill : slots_of_block_[block])
            makes_access.push_back(spill != nullptr ? 1 : *traced++);
      path.makes_access = std::move(makes_access);
    }
    code_.slots = std::move(slots);
    code_.first_slot = std::move(first_slot);
  }

  /// Puts the warp's accesses to its frame, whose first line is given, between its others.
  void put_accesses(Warp& warp, std::uint32_t frame) {
    Warp all;
    const Access* traced = warp.accesses.data();
    const Transaction* transaction = warp.transactions.data();
    const auto put_traced = [&] {
      all.transactions.insert(all.transactions.end(), transaction, transaction + traced->transactions);
      transaction += traced->transactions;
      all.accesses.push_back(*traced++);
    };
    std::uint32_t lanes = 1;
    for (const Access& access : warp.accesses)
      lanes = std::max<std::uint32_t>(lanes, access.active_lanes);
    const Path& path = code_.paths[warp.path];
    const std::uint8_t* makes_access = path.makes_access.data();
    for (const std::uint32_t block : path.blocks) {
      if (block == Path::unmatched) {
        put_traced();
        continue;
      }
      for (const Spill* const spill : slots_of_block_[block])
        if (*makes_access++ == 0)
          continue;
        else if (spill == nullptr)
          put_traced();
        else
          put(*spill, frame, lanes, all);
    }
    warp.accesses = std::move(all.accesses);
    warp.transactions = std::move(all.transactions);
    warp.bulks = std::uint32_t(warp.accesses.size());
  }

  /// Returns how many lines the frame of a warp has: one for each word of a thread's.
  std::uint32_t frame_lines() const { return frame_lines_; }

private:
  void add(std::uint32_t instruction) {
    const sass::Instruction& of = code_.kernel.instructions[instruction];
    Spill spill;
    spill.instruction = instruction;
    spill.first_word = std::uint32_t(of.frame_offset) / word_bytes;
    spill.words = std::max(std::uint32_t(of.access_bytes) / word_bytes, 1u);
    spill.stores = of.kind == sass::InstructionClass::store_local;
    frame_lines_ = std::max(frame_lines_, spill.first_word + spill.words);
    spill.summary = summary_of(line_of(code_, instruction), spill);
    spills_.push_back(spill);
  }

  std::uint32_t summary_of(SourceLine line, const Spill& spill) {
    const auto [known, is_new] = summaries_.emplace(
        std::tuple(line.file, line.line, spill.stores, spill.words), std::uint32_t(snapshot_.sites.size()));
    if (!is_new)
      return known->second;
    Site& site = sites_.emplace_back();
    site.file = line.line == 0 || code_.files.empty() ? std::string() : code_.files[line.file];
    site.line = line.line;
    site.column = 1;
    site.expression = spilled_registers;
    site.kind = spill.stores ? AccessKind::store : AccessKind::load;
    site.space = Space::local;
    site.element_bytes = spill.words * word_bytes;
    site.id = stable_hash(
        fmt::format("{}:{}:{}:{}:{}", spilled_registers, site.file, site.line, spill.stores, spill.words));
    SiteSummary& summary = snapshot_.sites.emplace_back();
    summary.site = std::uint32_t(traced_sites_ + sites_.size() - 1);
    summary.seen[unsigned(Space::local)] = true;
    summary.bytes = site.element_bytes;
    return known->second;
  }

  /// Calls visit(traced slot, spill), one of which is null, for each slot of the block in the order of the
  /// instructions.
  template <class Visit> void each_slot(std::uint32_t block, Visit&& visit) const {
    const std::span<const MemorySlot> traced = code_.slots_of(block);
    auto next = traced.begin();
    const sass::Block& of = code_.kernel.blocks[block];
    auto spill = std::ranges::lower_bound(spills_, of.begin, {}, &Spill::instruction);
    for (; spill != spills_.end() && spill->instruction < of.end; ++spill) {
      for (; next != traced.end() && next->instruction < spill->instruction; ++next)
        visit(&*next, nullptr);
      visit(nullptr, &*spill);
    }
    for (; next != traced.end(); ++next)
      visit(&*next, nullptr);
  }

  void put(const Spill& spill, std::uint32_t frame, std::uint32_t lanes, Warp& warp) {
    Access access;
    access.site = spill.summary;
    access.kind = spill.stores ? AccessKind::store : AccessKind::load;
    access.cache = FirstCache::l1_local;
    access.active_lanes = lanes & 63;
    access.is_awaited = !spill.stores;
    access.starts_bulk = true;
    access.transactions = access.passes = std::uint8_t(spill.words);
    const unsigned sectors = (lanes * word_bytes + sector_bytes - 1) / sector_bytes;
    for (std::uint32_t word = 0; word < spill.words; ++word)
      warp.transactions.push_back({frame + spill.first_word + word, (1u << sectors) - 1, 0});
    warp.accesses.push_back(access);
    SiteSummary& summary = snapshot_.sites[spill.summary];
    ++summary.executions;
    ++summary.cached;
    summary.active_lanes += lanes;
    summary.sectors += std::uint64_t{sectors} * spill.words;
    summary.bytes_used += std::uint64_t{lanes} * spill.words * word_bytes;
    ++snapshot_.warp_accesses;
    snapshot_.transactions += spill.words;
    snapshot_.stores_local |= spill.stores;
  }

  Snapshot& snapshot_;
  Code& code_;
  std::size_t traced_sites_;
  std::vector<Spill> spills_; ///< in the order of the instructions
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool, std::uint32_t>, std::uint32_t> summaries_;
  std::vector<Site> sites_;
  std::vector<std::vector<const Spill*>> slots_of_block_; ///< of each block's slots; null: a traced one
  std::uint32_t frame_lines_ = 0;
};

} // namespace

Expected<std::vector<Site>> add_spills(Snapshot& snapshot, Code& code, const std::vector<Site>& sites) {
  const std::vector<bool> is_spill = find_spills(code);
  const std::uint64_t accesses = count_accesses(snapshot, code, is_spill);
  if (accesses == 0)
    return std::vector<Site>();
  if (accesses > max_spill_accesses)
    return fail("its warps make {} accesses to spilled registers, and at most {} can be modelled", accesses,
                max_spill_accesses);
  Spills spills(snapshot, code, sites.size(), is_spill);
  spills.add_slots();
  // Pages behind all others hold the frames; where their numbers do not suffice, warps share frames.
  const std::uint64_t first_page = snapshot.pages.size();
  const std::uint64_t lines = std::uint64_t{snapshot.warps.size()} * spills.frame_lines();
  const std::uint64_t pages =
      std::min<std::uint64_t>((lines >> page_shift) + 1, std::uint64_t{max_pages} - first_page);
  const std::uint64_t frames = std::max<std::uint64_t>((pages << page_shift) / spills.frame_lines(), 1);
  const std::uint64_t behind = snapshot.pages.empty() ? 0 : snapshot.pages.back() + 1;
  for (std::uint64_t page = 0; page < pages; ++page)
    snapshot.pages.push_back(behind + page);
  for (std::size_t i = 0; i < snapshot.warps.size(); ++i)
    spills.put_accesses(snapshot.warps[i],
                        std::uint32_t((first_page << page_shift) + i % frames * spills.frame_lines()));
  std::vector<Site> added = std::move(spills).sites();
  finalize(snapshot);
  return added;
}

} // namespace warplens::model
