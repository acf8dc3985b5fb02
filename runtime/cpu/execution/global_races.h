// --racecheck between blocks: finds accesses of different blocks of a launch to the same global memory that
// nothing orders. Blocks are ordered by what CUDA's memory model has for it: a block publishes with a fence
// of the device's scope and then an atomic (or volatile) write, and another block reads that word atomically
// (or as volatile). A grid's barrier is made of these, too.
//
// A word keeps its last accesses of two blocks of each kind. That is enough without fences: whatever block
// accesses the word next, one of the two is another block.
#pragma once

#include "runtime/cpu/execution/race_detector.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace warplens::cpu {

struct Publication;
/// What is known of other blocks, by block. It is shared, and so never changed.
using KnownBlocks = std::map<std::uint64_t, std::vector<std::shared_ptr<const Publication>>>;

/// The knowledge of a block's thread at a fence.
struct Publication {
  std::uint64_t block = 0;
  Knowledge knowledge;
  std::shared_ptr<const KnownBlocks> others; ///< of further blocks; may be null
};

/// Joins what was published into `known`, with what that knows of further blocks but `own_block`.
void join(KnownBlocks& known, const std::shared_ptr<const Publication>& publication, std::uint64_t own_block);
/// Returns whether the block's access is known to be over.
bool covers(const KnownBlocks& known, std::uint64_t block, std::uint32_t thread, Interval interval);

class GlobalRaces {
public:
  using Kind = RaceDetector::Access;

  struct Access {
    std::uint64_t block = 0;
    std::uint32_t thread = 0;
    Kind kind = Kind::read;
    std::uint8_t bytes = 0; ///< one bit for each byte of the word
    Interval interval = 0;
    const char* place = nullptr;
  };

  static GlobalRaces& instance();

  /// Begins a launch: what launches before it accessed is over.
  void begin_launch();

  /// Records an access, and returns the earlier ones of other blocks to the same bytes of which at least one
  /// of the two writes, and not both are atomic. Any thread may call it.
  std::vector<Access> access(std::uint64_t address, std::uint64_t bytes, const Access& access);

  /// Publishes at a word; later readers of the word learn it.
  void publish(std::uint64_t address, std::shared_ptr<const Publication> publication);
  /// Returns what was published at a word.
  std::vector<std::shared_ptr<const Publication>> published(std::uint64_t address);

private:
  struct Word {
    std::uint64_t launch = 0;
    std::vector<Access> accesses;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Word> words; ///< by the address over 4
    /// By word, block and thread: the last of each.
    std::unordered_map<std::uint64_t,
                       std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const Publication>>>
        publications;
  };

  /// Neighbouring words are in one shard, so that an access seldom takes two locks.
  Shard& shard_of(std::uint64_t word) { return shards_[word / 64 % shards_.size()]; }

  std::atomic<std::uint64_t> launch_ = 0;
  std::array<Shard, 256> shards_;
};

} // namespace warplens::cpu
