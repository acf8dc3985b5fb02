// Blocks that wait for each other, one after the other: what --deterministic makes of a cooperative launch.
#pragma once

#include <cstdint>
#include <semaphore>
#include <vector>

namespace warplens::cpu {

/// Each block has an OS thread of its own, and only the one whose turn it is runs. Block 0 begins.
class Turns {
public:
  explicit Turns(std::uint64_t blocks) : blocks_(blocks) { blocks_.front().turn.release(); }

  /// The block's first turn: waits for it.
  void begin(std::uint64_t block) { blocks_[block].turn.acquire(); }
  /// The block waits for others: they have theirs first.
  void pass(std::uint64_t block) {
    hand_on(block);
    blocks_[block].turn.acquire();
  }
  void end(std::uint64_t block) {
    blocks_[block].ended = true;
    hand_on(block);
  }

private:
  struct Block {
    std::binary_semaphore turn{0};
    bool ended = false; ///< only the block whose turn it is changes and reads any
  };

  void hand_on(std::uint64_t block) {
    for (std::uint64_t step = 1; step <= blocks_.size(); ++step)
      if (Block& next = blocks_[(block + step) % blocks_.size()]; !next.ended) {
        next.turn.release();
        return;
      }
  }

  std::vector<Block> blocks_;
};

} // namespace warplens::cpu
