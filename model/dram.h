// Main memory: requests come in batches; within one they queue for their bank and their channel's data bus.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"
#include "model/random.h"

#include <vector>

namespace warplens::model {

/// A batch is what is under way at once: up to one group per SM that has work, each of up to 32 transactions
/// of 32 bytes, both numbers uniformly random (Baghsorkhi et al., PPoPP 2012). All of a batch arrives at
/// once, on idle banks; rows stay open from one batch to the next.
class Dram {
public:
  Dram(const Gpu& gpu, std::uint32_t busy_sms, Random& random);

  /// Adds the sectors of one line to the batch; nanoseconds from the SM and back until the last of them has
  /// come.
  double request(std::uint32_t line, unsigned sectors);

  /// How many batches there have been, the current one included.
  std::uint64_t batch() const { return batch_; }
  std::uint32_t channel_of(std::uint32_t line) const {
    return channels_.remainder(interleave_.quotient(line));
  }

private:
  void start_batch();

  struct Bank {
    std::uint32_t open_row = no_line;
    float ready_ns = 0; ///< since the batch's arrival
  };

  Random& random_;
  std::uint32_t busy_sms_, banks_per_channel_;
  Divider interleave_, channels_, row_chunks_, banks_;
  float activate_ns_, precharge_ns_, burst_ns_;
  float path_ns_; ///< of an access to an open row, without its burst
  std::vector<Bank> bank_;
  std::vector<float> bus_ready_ns_; ///< by channel
  std::int64_t left_in_batch_ = 0;  ///< transactions
  std::uint64_t batch_ = 0;
};

} // namespace warplens::model
