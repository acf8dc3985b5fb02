#include "model/snapshot/coarsen.h"

#include "model/code/copied_instructions.h"

#include <algorithm>

namespace warplens::model {
namespace {

constexpr std::uint32_t max_registers = 255;
constexpr std::uint32_t max_access_bytes = 16; ///< of a lane

/// The warps that become one.
using Group = std::vector<const Warp*>;

/// Goes through the accesses of the warps of a group, the n-th of each together.
class Together {
public:
  explicit Together(const Group& group) {
    for (const Warp* warp : group)
      next_.push_back({warp->accesses.data(), warp->transactions.data()});
  }
  /// Calls visit(access, transactions) for the next access of each warp in turn.
  template <class Visit> void each(Visit&& visit) {
    for (One& one : next_) {
      visit(*one.access, std::span(one.transactions, one.access->transactions));
      one.transactions += one.access->transactions;
      ++one.access;
    }
  }
  const Access& first() const { return *next_.front().access; }

private:
  struct One {
    const Access* access;
    const Transaction* transactions;
  };
  std::vector<One> next_;
};

bool are_alike(const Access& a, const Access& b) {
  return a.site == b.site && a.kind == b.kind && a.cache == b.cache &&
         a.is_store_of_update == b.is_store_of_update;
}

/// Returns the blocks' groups of warps, or why there are none.
Expected<std::vector<Group>> groups_of(const Snapshot& snapshot, const trace::Launch& launch,
                                       const trace::Coarsening& coarsening) {
  const auto warps = std::uint32_t(warps_of(launch.block.count()));
  if (launch.block.count() % (std::uint64_t{warp_lanes} * coarsening.threads) != 0)
    return fail("a block of {} threads has no {} x 32", launch.block.count(), coarsening.threads);
  std::vector<Group> groups;
  for (const Snapshot::Block& block : snapshot.blocks) {
    std::vector<Group> block_groups(warps / coarsening.threads);
    for (std::uint32_t i = 0; i < block.warps; ++i) {
      const Warp& warp = snapshot.warps[block.first_warp + i];
      const auto group =
          coarsening.neighbours ? warp.warp / coarsening.threads : warp.warp % block_groups.size();
      block_groups[group].push_back(&warp);
    }
    for (Group& group : block_groups) {
      if (group.empty())
        continue;
      const bool are_same = std::ranges::all_of(group, [&](const Warp* warp) {
        return (snapshot.code == nullptr || warp->path == group.front()->path) &&
               std::ranges::equal(warp->accesses, group.front()->accesses, are_alike);
      });
      if (group.size() != coarsening.threads || !are_same)
        return fail("the warps of a block do not execute the same");
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

/// Returns whether the accesses lie behind one another and fill their lines, so that each lane can access
/// what it accesses in all of them at once.
bool can_join(Together& together, std::uint32_t bytes, std::uint32_t copies) {
  bool can = bytes * copies <= max_access_bytes && bytes * warp_lanes % line_bytes == 0;
  std::optional<std::uint32_t> behind;
  together.each([&](const Access& access, std::span<const Transaction> transactions) {
    can &= access.cache == FirstCache::l1 && access.active_lanes == warp_lanes &&
           (access.kind == AccessKind::load || access.kind == AccessKind::store) &&
           transactions.size() == bytes * warp_lanes / line_bytes;
    for (const Transaction& transaction : transactions) {
      can &= (!behind || transaction.line == *behind) && transaction.sectors == whole_line;
      behind = transaction.line + 1;
    }
  });
  return can;
}

/// Which accesses become wide ones: by slot where the code is known, else by site.
struct Joining {
  std::vector<bool> by_slot, by_site;
};

/// Calls visit(slot, together) before each access of the group; the slot is sass::none of a unmatched one.
template <class Visit> void walk(const Snapshot& snapshot, const Group& group, Visit&& visit) {
  Together together(group);
  if (snapshot.code == nullptr) {
    for (std::size_t i = 0; i < group.front()->accesses.size(); ++i)
      visit(sass::none, together);
    return;
  }
  const Path& path = snapshot.code->paths[group.front()->path];
  auto makes_access = path.makes_access.begin();
  for (const std::uint32_t block : path.blocks) {
    if (block == Path::unmatched) {
      visit(sass::none, together);
      continue;
    }
    for (std::uint32_t slot = snapshot.code->first_slot[block]; slot < snapshot.code->first_slot[block + 1];
         ++slot)
      if (*makes_access++ != 0)
        visit(slot, together);
  }
}

Expected<Joining> joining_of(const Snapshot& snapshot, const std::vector<Group>& groups,
                             std::uint32_t copies) {
  Joining joining;
  joining.by_slot.resize(snapshot.code == nullptr ? 0 : snapshot.code->slots.size(), true);
  joining.by_site.resize(snapshot.sites.size(), true);
  bool has_others = false;
  for (const Group& group : groups)
    walk(snapshot, group, [&](std::uint32_t slot, Together& together) {
      const Access first = together.first();
      if (can_join(together, snapshot.sites[first.site].bytes, copies))
        return;
      joining.by_site[first.site] = false;
      if (slot != sass::none)
        joining.by_slot[slot] = false;
      // Other lanes would be neighbours, which changes what a warp accesses at once.
      has_others |= first.kind != AccessKind::barrier && first.cache != FirstCache::constant &&
                    !(first.cache == FirstCache::shared && first.is_uniform);
    });
  if (has_others)
    return fail("not all of its accesses are by lanes side by side, over whole lines");
  if (std::ranges::none_of(joining.by_site, std::identity()))
    return fail("no access of it can be wider");
  return joining;
}

/// Makes one warp of a group's.
class Merger {
public:
  Merger(Snapshot& snapshot, const Joining& joining, std::uint32_t copies)
      : snapshot_(snapshot), joining_(joining), copies_(copies) {}

  Warp merge(const Group& group) {
    Warp merged;
    merged.block = group.front()->block;
    merged.warp = group.front()->warp;
    walk(snapshot_, group, [&](std::uint32_t slot, Together& together) {
      const Access first = together.first();
      const bool is_joined = slot != sass::none          ? joining_.by_slot[slot]
                             : snapshot_.code == nullptr ? joining_.by_site[first.site]
                                                         : false;
      if (first.kind == AccessKind::barrier)
        put_once(first, together, merged);
      else if (is_joined)
        put_joined(first, together, merged);
      else
        put_all(together, merged);
    });
    merged.bulks = 0;
    for (const Access& access : merged.accesses)
      merged.bulks += access.starts_bulk;
    return merged;
  }

private:
  void put_once(const Access& access, Together& together, Warp& merged) {
    together.each([](const Access&, std::span<const Transaction>) {});
    merged.accesses.push_back(access);
    SiteSummary& site = snapshot_.sites[access.site];
    site.executions -= copies_ - 1;
    site.barriers -= copies_ - 1;
    site.active_lanes -= std::uint64_t{copies_ - 1} * warp_lanes;
  }
  void put_joined(Access wide, Together& together, Warp& merged) {
    std::uint32_t passes = 0, transactions = 0;
    together.each([&](const Access& access, std::span<const Transaction> access_transactions) {
      passes += access.passes;
      transactions += std::uint32_t(access_transactions.size());
      merged.transactions.insert(merged.transactions.end(), access_transactions.begin(),
                                 access_transactions.end());
    });
    wide.passes = std::uint8_t(std::min(passes, 255u));
    wide.transactions = std::uint8_t(transactions); // at most four lines
    merged.accesses.push_back(wide);
    SiteSummary& site = snapshot_.sites[wide.site];
    site.executions -= copies_ - 1;
    site.cached -= copies_ - 1;
    site.active_lanes -= std::uint64_t{copies_ - 1} * warp_lanes;
    snapshot_.warp_accesses -= copies_ - 1;
  }
  void put_all(Together& together, Warp& merged) {
    bool is_first = true;
    together.each([&](Access access, std::span<const Transaction> access_transactions) {
      access.starts_bulk = access.starts_bulk && (is_first || snapshot_.code != nullptr);
      is_first = false;
      merged.transactions.insert(merged.transactions.end(), access_transactions.begin(),
                                 access_transactions.end());
      merged.accesses.push_back(access);
    });
  }

  Snapshot& snapshot_;
  const Joining& joining_;
  std::uint32_t copies_;
};

/// Returns the path through code whose instructions have copies.
Path path_with_copies(const Path& path, const Code& code, const CopiedInstructions& copied,
                      std::uint32_t copies) {
  Path with;
  auto makes_access = path.makes_access.begin();
  for (const std::uint32_t block : path.blocks) {
    if (block == Path::unmatched) {
      with.blocks.insert(with.blocks.end(), copies, Path::unmatched);
      continue;
    }
    with.blocks.push_back(block);
    for (const MemorySlot& slot : code.slots_of(block))
      with.makes_access.insert(with.makes_access.end(), copied.is_copied[slot.instruction] ? copies : 1,
                               *makes_access++);
  }
  return with;
}

/// Returns whether a warp exchanges values between its lanes.
bool exchanges_lanes(const Code& code) {
  return std::ranges::any_of(code.kernel.instructions, [](const sass::Instruction& instruction) {
    return instruction.kind == sass::InstructionClass::shuffle ||
           instruction.kind == sass::InstructionClass::vote;
  });
}

} // namespace

Expected<void> coarsen(Snapshot& snapshot, trace::Launch& launch, const trace::Coarsening& coarsening) {
  const std::uint32_t copies = coarsening.threads;
  if (std::ranges::any_of(snapshot.warps, [](const Warp& warp) { return !warp.phases.empty(); }))
    return fail("its warps wait for each other at barriers in shared memory");
  TRY_LET(groups, groups_of(snapshot, launch, coarsening));
  Joining joining;
  joining.by_slot.resize(snapshot.code == nullptr ? 0 : snapshot.code->slots.size());
  joining.by_site.resize(snapshot.sites.size());
  if (coarsening.neighbours) {
    if (snapshot.code == nullptr || exchanges_lanes(*snapshot.code))
      return fail("{}", snapshot.code == nullptr ? "its machine code is not known"
                                                 : "its lanes exchange values (shuffles, votes)");
    TRY_LET(wide, joining_of(snapshot, *groups, copies));
    joining = std::move(*wide);
  }
  std::optional<CopiedInstructions> copied;
  if (snapshot.code != nullptr) {
    copied = find_copied(*snapshot.code, joining.by_slot);
    for (trace::MachineCode& code : launch.machine_code)
      code.registers += copied->registers * (copies - 1);
    for (const trace::MachineCode& code : launch.machine_code)
      if (code.registers > max_registers)
        return fail("a thread would need {} registers of {}", code.registers, max_registers);
  }
  Merger merger(snapshot, joining, copies);
  std::vector<Warp> warps;
  std::vector<Snapshot::Block> blocks;
  for (const Group& group : *groups) {
    const std::uint32_t path = group.front()->path;
    if (blocks.empty() || blocks.back().id != group.front()->block)
      blocks.push_back({group.front()->block, std::uint32_t(warps.size()), 0});
    ++blocks.back().warps;
    warps.push_back(merger.merge(group));
    warps.back().path = path;
    warps.back().warp = blocks.back().warps - 1;
  }
  if (snapshot.code != nullptr) {
    Code code = *snapshot.code;
    for (Path& path : code.paths)
      path = path_with_copies(path, *snapshot.code, *copied, copies);
    copy_instructions(code, *copied, copies);
    snapshot.code = std::make_shared<const Code>(std::move(code));
  }
  snapshot.warps = std::move(warps);
  snapshot.blocks = std::move(blocks);
  finalize(snapshot);
  // A column of the block's threads becomes one thread, or a row's part.
  std::uint32_t& rows = launch.block.y;
  if (!coarsening.neighbours && rows % copies == 0)
    rows /= copies;
  else
    launch.block = {std::uint32_t(launch.block.count() / copies), 1, 1};
  return {};
}

} // namespace warplens::model
