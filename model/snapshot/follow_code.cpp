#include "model/snapshot/follow_code.h"

#include "model/code/labels.h"
#include "model/code/marks.h"
#include "model/code/moved_instructions.h"
#include "model/code/source_lines.h"
#include "model/code/walk.h"
#include "model/snapshot/scaled.h"
#include "model/snapshot/spills.h"
#include "sass/decode.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <numeric>
#include <set>
#include <unordered_map>

namespace warplens::model {
namespace {

/// The labels of one site's accesses, by the memory that they go to.
struct SiteLabels {
  std::array<std::uint32_t, 4> first{}; ///< a load, a store or an atomic; the load of an update
  std::array<std::uint32_t, 4> store{}; ///< of an update
  bool is_copied = false;               ///< it is the load or the store of copies that one instruction makes
  bool is_added = false;                ///< the code has no instruction for it, as the trace was changed
};

/// A warp's loads of 16 bytes from shared memory take two wavefronts, and be they of one address (counted on
/// an A100).
constexpr std::uint32_t min_wavefronts_of_16_bytes = 2;

/// The label of accesses for which the code has no instruction.
constexpr std::uint32_t no_label = ~0u;

using MovedSites = std::unordered_map<std::uint64_t, const trace::MovedSite*>; // by Site::id

const trace::MovedSite* move_of(const MovedSites& moved, const Site& site) {
  const auto found = moved.find(site.id);
  return found == moved.end() ? nullptr : found->second;
}

SlotMemory memory_of(FirstCache cache) {
  switch (cache) {
  case FirstCache::shared: return SlotMemory::shared;
  case FirstCache::l1_local: return SlotMemory::local;
  case FirstCache::constant: return SlotMemory::constant;
  default: return SlotMemory::global;
  }
}

SlotMemory memory_of(Space space) {
  switch (space) {
  case Space::shared: return SlotMemory::shared;
  case Space::local: return SlotMemory::local;
  case Space::constant: return SlotMemory::constant;
  default: return SlotMemory::global;
  }
}

SlotKind kind_of(AccessKind kind) {
  switch (kind) {
  case AccessKind::store: return SlotKind::store;
  case AccessKind::atomic: return SlotKind::atomic;
  case AccessKind::barrier: return SlotKind::barrier;
  default: return SlotKind::load;
  }
}

Labels label_sites(const Snapshot& snapshot, const std::vector<Site>& sites, const MovedSites& moved,
                   std::vector<SiteLabels>& labels_of) {
  Labels labels;
  for (const SiteSummary& summary : snapshot.sites) {
    const Site& site = sites[summary.site];
    SiteLabels& of = labels_of.emplace_back();
    if (const trace::MovedSite* const move = move_of(moved, site)) {
      of.is_added = !move->space_in_code;
      of.first.fill(no_label);
      of.store.fill(no_label);
      if (of.is_added)
        continue;
      const SlotMemory memory = memory_of(*move->space_in_code);
      of.first.fill(labels.add(site.file, site.line, kind_of(site.kind), memory));
      if (site.kind == AccessKind::update)
        of.store.fill(labels.add(site.file, site.line, SlotKind::store, memory));
      continue;
    }
    const auto add = [&](Space space, SlotMemory memory) {
      if (!summary.seen[unsigned(space)])
        return;
      const auto index = std::size_t(memory);
      of.first[index] = labels.add(site.file, site.line, kind_of(site.kind), memory);
      if (site.kind == AccessKind::update)
        of.store[index] = labels.add(site.file, site.line, SlotKind::store, memory);
    };
    add(Space::global, SlotMemory::global);
    add(Space::generic, SlotMemory::global);
    add(Space::shared, SlotMemory::shared);
    add(Space::local, SlotMemory::local);
    add(Space::constant, SlotMemory::constant);
  }
  return labels;
}

/// Finds the sites of asynchronous copies that the code makes by LDGSTS; before sm_80 it has a load and a
/// store.
void find_copies(const Snapshot& snapshot, const std::vector<Site>& sites, const sass::CodeTable& table,
                 const sass::Kernel& kernel, std::vector<SiteLabels>& labels_of) {
  std::set<std::pair<std::string, std::uint32_t>> copied; // files and lines
  for (const sass::Instruction& instruction : kernel.instructions)
    if (instruction.kind == sass::InstructionClass::copy_to_shared)
      for (std::uint32_t at = instruction.position; at != sass::none; at = table.positions[at].inlined_at)
        copied.emplace(file_name(table.files[table.positions[at].file]), table.positions[at].line);
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i)
    if (const Site& site = sites[snapshot.sites[i].site]; is_asynchronous(site.cache_operator))
      labels_of[i].is_copied = copied.contains({file_name(site.file), site.line});
}

/// A warp's accesses, each update as two.
struct Parts {
  std::vector<WalkedAccess> walked;
  std::vector<WalkedMark> marks;
  std::vector<Access> accesses;
  std::vector<std::uint32_t> first_transaction;
};

class Follower {
public:
  Follower(const Snapshot& snapshot, std::vector<SiteLabels> labels, std::vector<std::uint32_t> mark_of_site,
           const Walker& walker)
      : snapshot_(snapshot), labels_(std::move(labels)), mark_of_site_(std::move(mark_of_site)),
        walker_(walker), removed_(snapshot.sites.size()) {}

  /// Returns the warp as it follows its path.
  Warp follow(const Warp& warp) {
    take_apart(warp);
    const Found& found = path_of_parts();
    unmatched_ += found.walk.unmatched - added_;
    for (const std::uint32_t part : found.walk.removed)
      count_removed(parts_.accesses[part]);
    all_ += parts_.walked.size() - added_;
    Warp followed;
    followed.block = warp.block;
    followed.warp = warp.warp;
    followed.path = found.number;
    followed.transactions.reserve(warp.transactions.size());
    followed.accesses.reserve(found.walk.joined.size());
    const std::uint32_t* part = found.walk.order.data();
    for (const std::uint8_t count : found.walk.joined) {
      put(warp, {part, count}, followed);
      part += count;
    }
    followed.bulks = std::uint32_t(followed.accesses.size());
    return followed;
  }

  std::vector<Path> paths() && { return std::move(paths_); }
  /// The excess in each site's summary, by index into Snapshot::sites.
  const std::vector<SiteSummary>& removed() const { return removed_; }
  double followed_share() const { return all_ == 0 ? 1 : 1 - double(unmatched_) / double(all_); }

private:
  struct Found {
    std::vector<WalkedAccess> walked;
    std::vector<WalkedMark> marks;
    Walk walk;
    std::uint32_t number = 0;
  };

  void count_removed(const Access& access) {
    SiteSummary& removed = removed_[access.site];
    ++removed.executions;
    ++removed.constant;
    removed.constant_requests += access.transactions;
    removed.active_lanes += access.active_lanes;
  }

  void take_apart(const Warp& warp) {
    parts_.walked.clear();
    parts_.marks.clear();
    parts_.accesses.clear();
    parts_.first_transaction.clear();
    added_ = 0;
    std::uint32_t first = 0;
    auto mark = warp.marks.begin();
    const auto put_marks = [&](std::size_t access) {
      for (; mark != warp.marks.end() && mark->before <= access; ++mark)
        parts_.marks.push_back({std::uint32_t(parts_.walked.size()), mark_of_site_[mark->site], mark->count});
    };
    copied_passes_.clear();
    for (const Access& access : warp.accesses) {
      put_marks(std::size_t(&access - warp.accesses.data()));
      const SiteLabels& labels = labels_[access.site];
      added_ += labels.is_added;
      const auto memory = std::size_t(memory_of(access.cache));
      const auto bytes = std::uint8_t(std::clamp<std::uint32_t>(snapshot_.sites[access.site].bytes, 1, 255));
      const auto put_part = [&](std::uint32_t label, const Access& part) {
        parts_.walked.push_back({label, part.site, bytes, part.continues != 0});
        parts_.accesses.push_back(part);
        parts_.first_transaction.push_back(first);
      };
      if (labels.is_copied && access.kind == AccessKind::store) {
        copied_passes_.push_back(access.passes);
      } else if (labels.is_copied) {
        put_part(labels.first[memory], with_store_of_copy(access));
      } else if (access.kind == AccessKind::update) {
        Access load = access, store = access;
        load.kind = AccessKind::load;
        store.kind = AccessKind::store;
        store.is_store_of_update = true;
        store.is_awaited = false;
        put_part(labels.first[memory], load);
        put_part(labels.store[memory], store);
      } else {
        put_part(labels.first[memory], access);
      }
      first += access.transactions;
    }
    put_marks(warp.accesses.size());
  }

  /// Returns a copy's load together with its store, which comes before: one instruction makes both, and
  /// passes the memory pipeline as often as the one with more passes.
  Access with_store_of_copy(Access load) {
    if (!copied_passes_.empty()) {
      load.passes = std::max(load.passes, copied_passes_.front());
      copied_passes_.pop_front();
    }
    return load;
  }

  /// Most warps take the path of another one.
  const Found& path_of_parts() {
    std::string key;
    key.reserve(parts_.walked.size() * 9);
    for (const WalkedAccess& one : parts_.walked) {
      key.append(reinterpret_cast<const char*>(&one.label), sizeof one.label);
      key.append(reinterpret_cast<const char*>(&one.site), sizeof one.site);
      key.push_back(char(one.bytes ^ one.continues << 7));
    }
    for (const WalkedMark& one : parts_.marks) {
      key.append(reinterpret_cast<const char*>(&one.before), sizeof one.before);
      key.append(reinterpret_cast<const char*>(&one.mark), sizeof one.mark);
      key.append(reinterpret_cast<const char*>(&one.count), sizeof one.count);
    }
    const std::uint64_t hash = stable_hash(key);
    const auto [begin, end] = found_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (it->second.walked == parts_.walked && it->second.marks == parts_.marks)
        return it->second;
    Found found{parts_.walked, parts_.marks, walker_.walk(parts_.walked, parts_.marks),
                std::uint32_t(paths_.size())};
    paths_.push_back(std::move(found.walk.path));
    return found_.emplace(hash, std::move(found))->second;
  }

  /// Appends an access with those that one instruction makes together with it.
  void put(const Warp& warp, std::span<const std::uint32_t> parts, Warp& followed) const {
    Access access = parts_.accesses[parts.front()];
    const std::size_t first = followed.transactions.size();
    std::uint32_t passes = 0;
    for (const std::uint32_t part : parts) {
      const Access& one = parts_.accesses[part];
      // Words of shared memory behind each other lie in different banks: the longest of them covers the
      // others.
      passes =
          one.cache == FirstCache::shared ? std::max<std::uint32_t>(passes, one.passes) : passes + one.passes;
      access.is_awaited |= one.is_awaited;
      for (std::uint32_t i = 0; i < one.transactions; ++i) {
        const Transaction& transaction = warp.transactions[parts_.first_transaction[part] + i];
        const auto call_transactions = followed.transactions.begin() + std::ptrdiff_t(first);
        const auto same =
            std::find_if(call_transactions, followed.transactions.end(), [&](const Transaction& other) {
              return other.line == transaction.line && other.mask == transaction.mask;
            });
        if (same != followed.transactions.end() && parts.size() > 1)
          same->sectors |= transaction.sectors;
        else
          followed.transactions.push_back(transaction);
      }
    }
    if (access.cache == FirstCache::shared && parts.size() * snapshot_.sites[access.site].bytes >= 16)
      passes = std::max<std::uint32_t>(passes, min_wavefronts_of_16_bytes);
    access.passes = std::uint8_t(std::min<std::uint32_t>(passes, 255));
    access.transactions = std::uint8_t(std::min<std::size_t>(followed.transactions.size() - first, 255));
    followed.transactions.resize(first + access.transactions);
    access.starts_bulk = true;
    followed.accesses.push_back(access);
  }

  const Snapshot& snapshot_;
  std::vector<SiteLabels> labels_;
  std::vector<std::uint32_t> mark_of_site_; ///< by index into the trace's sites
  const Walker& walker_;
  std::vector<SiteSummary> removed_;
  Parts parts_;
  std::deque<std::uint8_t> copied_passes_; ///< of the stores of copies whose loads come
  std::unordered_multimap<std::uint64_t, Found> found_;
  std::vector<Path> paths_;
  std::uint64_t unmatched_ = 0, all_ = 0;
  std::uint32_t added_ = 0; ///< of the warp's accesses, those of which the code has no instruction
};

/// Takes the executions of accesses to constants that the compiler removed out of the site's counts. The
/// bytes of each are not known: the counts of bytes keep their mean.
void take_away(const SiteSummary& removed, SiteSummary& site, Snapshot& snapshot) {
  if (removed.executions == 0)
    return;
  const double left = 1 - double(removed.executions) / double(site.executions);
  site.executions -= removed.executions;
  site.constant -= removed.constant;
  site.constant_requests -= removed.constant_requests;
  site.active_lanes -= std::min(site.active_lanes, removed.active_lanes);
  site.sectors = scaled(site.sectors, left);
  site.bytes_used = scaled(site.bytes_used, left);
  snapshot.warp_accesses -= removed.executions;
  snapshot.transactions -= removed.constant_requests;
}

/// Returns the class of an instruction that makes the access.
sass::InstructionClass class_of(const Access& access, const Site& site) {
  using sass::InstructionClass;
  const bool is_shared = access.cache == FirstCache::shared;
  if (access.kind == AccessKind::store)
    return is_shared ? InstructionClass::store_shared : InstructionClass::store_global;
  if (access.kind == AccessKind::atomic)
    return is_shared ? InstructionClass::atomic_shared : InstructionClass::atomic_global;
  if (site.cache_operator == CacheOperator::tex)
    return InstructionClass::load_texture;
  return is_shared                              ? InstructionClass::load_shared
         : access.cache == FirstCache::constant ? InstructionClass::load_constant
                                                : InstructionClass::load_global;
}

/// Returns the slots of which most accesses were moved.
std::vector<MovedSlot> moved_slots(const std::vector<Warp>& warps, const Snapshot& snapshot,
                                   const std::vector<Site>& sites, const MovedSites& moved,
                                   const Code& code) {
  struct Counts {
    std::uint64_t all = 0, moved = 0;
    MovedSlot slot;
  };
  std::vector<Counts> counts(code.slots.size());
  for (const Warp& warp : warps) {
    const Path& path = code.paths[warp.path];
    auto access = warp.accesses.begin();
    auto makes_access = path.makes_access.begin();
    for (const std::uint32_t block : path.blocks) {
      if (block == Path::unmatched) {
        ++access;
        continue;
      }
      for (std::uint32_t slot = code.first_slot[block]; slot < code.first_slot[block + 1]; ++slot) {
        if (*makes_access++ == 0)
          continue;
        Counts& of = counts[slot];
        ++of.all;
        const Site& site = sites[snapshot.sites[access->site].site];
        if (const trace::MovedSite* const move = move_of(moved, site)) {
          ++of.moved;
          of.slot = {slot, class_of(*access, site), move->address_instructions};
        }
        ++access;
      }
    }
  }
  std::vector<MovedSlot> result;
  for (const Counts& of : counts)
    if (of.moved * 2 > of.all)
      result.push_back(of.slot);
  return result;
}

} // namespace

Expected<std::vector<Site>> follow_code(Snapshot& snapshot, const std::vector<Site>& sites,
                                        const trace::MachineCode& machine_code,
                                        std::span<const trace::MovedSite> moved_sites) {
  TRY_LET(table, sass::decode(std::as_bytes(std::span(machine_code.cubin))));
  const sass::Kernel* kernel = sass::find_kernel(*table, machine_code.symbol);
  if (kernel == nullptr)
    return fail("the cubin has no kernel '{}'", machine_code.symbol);
  Code code;
  code.architecture = table->architecture;
  code.kernel = *kernel;
  MovedSites moved;
  for (const trace::MovedSite& move : moved_sites)
    moved.emplace(move.site, &move);
  std::vector<SiteLabels> labels_of;
  label_sites(snapshot, sites, moved, labels_of).find_slots(*table, code);
  find_copies(snapshot, sites, *table, *kernel, labels_of);
  std::vector<MarkedLines> marks;
  std::vector<std::uint32_t> mark_of_site;
  for (const Site& site : sites) {
    mark_of_site.push_back(std::uint32_t(marks.size()));
    if (site.kind == AccessKind::mark)
      marks.push_back({site.file, site.line, site.last_line, site.step});
  }
  find_marked_blocks(*table, marks, code);
  for (const Warp& warp : snapshot.warps)
    for (const Mark& mark : warp.marks) {
      Code::MarkedBody& body = code.marked[mark_of_site[mark.site]];
      body.divisor = std::gcd(body.divisor, mark.count);
    }

  const Walker walker(code);
  Follower follower(snapshot, std::move(labels_of), std::move(mark_of_site), walker);
  std::vector<Warp> followed;
  followed.reserve(snapshot.warps.size());
  for (const Warp& warp : snapshot.warps)
    followed.push_back(follower.follow(warp));
  if (follower.followed_share() < min_followed_share)
    return fail("only {:.0f} % of the accesses have an instruction in the code of sm_{}",
                100 * follower.followed_share(), code.architecture);
  const std::vector<SiteSummary> removed = follower.removed();
  code.matched = follower.followed_share();
  code.paths = std::move(follower).paths();
  if (!moved.empty())
    move_instructions(code, moved_slots(followed, snapshot, sites, moved, code));
  find_source_lines(*table, files_of(sites), code);
  std::swap(snapshot.warps, followed);
  auto spills = add_spills(snapshot, code, sites);
  if (!spills) {
    std::swap(snapshot.warps, followed);
    return spills;
  }
  for (std::size_t i = 0; i < removed.size(); ++i)
    take_away(removed[i], snapshot.sites[i], snapshot);
  snapshot.code = std::make_shared<const Code>(std::move(code));
  return spills;
}

} // namespace warplens::model
