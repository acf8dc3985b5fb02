#include "runtime/cpu/execution/global_races.h"

#include <algorithm>

namespace warplens::cpu {

namespace {

constexpr std::uint64_t word_bytes = 4;
constexpr std::size_t kept_blocks = 2; ///< of each kind

bool only_reads(GlobalRaces::Kind kind) {
  return kind == GlobalRaces::Kind::read || kind == GlobalRaces::Kind::atomic_read;
}

bool is_atomic(GlobalRaces::Kind kind) {
  return kind == GlobalRaces::Kind::atomic || kind == GlobalRaces::Kind::atomic_read;
}

bool conflict(GlobalRaces::Kind one, GlobalRaces::Kind other) {
  return !(only_reads(one) && only_reads(other)) && !(is_atomic(one) && is_atomic(other));
}

/// Records an access in place of the block's last one of the kind, or of the oldest of the other blocks'.
void keep(std::vector<GlobalRaces::Access>& accesses, const GlobalRaces::Access& access) {
  const auto is_same_kind = [&](const GlobalRaces::Access& one) {
    return one.kind == access.kind && one.bytes == access.bytes;
  };
  const auto last = std::ranges::find_if(
      accesses, [&](const auto& one) { return is_same_kind(one) && one.block == access.block; });
  if (last != accesses.end())
    accesses.erase(last);
  else if (static_cast<std::size_t>(std::ranges::count_if(accesses, is_same_kind)) >= kept_blocks)
    accesses.erase(std::ranges::find_if(accesses, is_same_kind));
  accesses.push_back(access);
}

} // namespace

void join(KnownBlocks& known, const std::shared_ptr<const Publication>& publication,
          std::uint64_t own_block) {
  const auto add = [&](const std::shared_ptr<const Publication>& one) {
    if (one->block == own_block)
      return;
    auto& all = known[one->block];
    if (std::ranges::find(all, one) != all.end())
      return;
    // A thread's later publication covers its earlier ones, and those of which it knows all.
    std::erase_if(all, [&](const std::shared_ptr<const Publication>& old) {
      return one->knowledge.covers(old->knowledge.thread, old->knowledge.own - 1) &&
             old->knowledge.clock.all <= one->knowledge.clock.all && old->knowledge.clock.each.empty();
    });
    all.push_back(one);
  };
  add(publication);
  if (publication->others)
    for (const auto& [block, all] : *publication->others)
      for (const auto& one : all)
        add(one);
}

bool covers(const KnownBlocks& known, std::uint64_t block, std::uint32_t thread, Interval interval) {
  const auto found = known.find(block);
  return found != known.end() &&
         std::ranges::any_of(found->second, [&](const std::shared_ptr<const Publication>& one) {
           return one->knowledge.covers(thread, interval);
         });
}

GlobalRaces& GlobalRaces::instance() {
  static GlobalRaces& races = *new GlobalRaces; // never destroyed: kernels may run until the process ends
  return races;
}

void GlobalRaces::begin_launch() {
  ++launch_;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    shard.publications.clear();
  }
}

std::vector<GlobalRaces::Access> GlobalRaces::access(std::uint64_t address, std::uint64_t bytes,
                                                     const Access& access) {
  std::vector<Access> races;
  for (std::uint64_t at = address; at < address + bytes; at = (at / word_bytes + 1) * word_bytes) {
    const std::uint64_t last = std::min(address + bytes, (at / word_bytes + 1) * word_bytes);
    Access here = access;
    here.bytes = static_cast<std::uint8_t>(((1U << (last - at)) - 1) << at % word_bytes);
    Shard& shard = shard_of(at / word_bytes);
    const std::lock_guard lock(shard.mutex);
    Word& word = shard.words[at / word_bytes];
    if (word.launch != launch_) {
      word.launch = launch_;
      word.accesses.clear();
    }
    for (const Access& earlier : word.accesses)
      if (earlier.block != here.block && earlier.bytes & here.bytes && conflict(earlier.kind, here.kind))
        races.push_back(earlier);
    keep(word.accesses, here);
  }
  return races;
}

void GlobalRaces::publish(std::uint64_t address, std::shared_ptr<const Publication> publication) {
  const std::uint64_t word = address / word_bytes;
  Shard& shard = shard_of(word);
  const std::lock_guard lock(shard.mutex);
  const std::pair key(publication->block, publication->knowledge.thread);
  shard.publications[word][key] = std::move(publication);
}

std::vector<std::shared_ptr<const Publication>> GlobalRaces::published(std::uint64_t address) {
  const std::uint64_t word = address / word_bytes;
  Shard& shard = shard_of(word);
  const std::lock_guard lock(shard.mutex);
  std::vector<std::shared_ptr<const Publication>> found;
  if (const auto all = shard.publications.find(word); all != shard.publications.end())
    for (const auto& [key, publication] : all->second)
      found.push_back(publication);
  return found;
}

} // namespace warplens::cpu
