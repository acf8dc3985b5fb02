// Main memory: where an address lies, what opening a row costs, and how long requests wait for each other.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"
#include "model/queues.h"
#include "model/random.h"

#include <vector>

namespace warplens::model {

/// Requests come in batches, which is what is under way at once: up to one group per SM that has work, each
/// of up to 32 transactions of 32 bytes, both numbers uniformly random (Baghsorkhi et al., PPoPP 2012). Rows
/// stay open from one request to the next. How long a request waits for its bank and its channel's data bus
/// is, as the GPU file says, that of a batch that arrives at once, on idle banks, or Kingman's approximation
/// at the load of a whole round.
class Dram {
public:
  Dram(const Gpu& gpu, std::uint32_t busy_sms, Random& random);

  struct Place {
    std::uint32_t channel, bank, row; ///< the bank within its channel
  };
  Place place(std::uint32_t line) const;

  struct Service {
    float ns; ///< from the SM and back until the last sector has come, without the waits below
    std::uint32_t channel, bank; ///< the bank among all
  };
  /// The sectors of one line are read or written.
  Service request(std::uint32_t line, unsigned sectors);

  /// What the round's requests waited for each other follows from its load.
  void end_round(const Load& load);
  /// What a request of the round that ended waited, beside what request() said.
  float wait_ns(const Service& service) const {
    return by_load_ ? more_wait_ns_ + banks_wait_.wait_ns(service.bank) + buses_wait_.wait_ns(service.channel)
                    : 0;
  }

  /// How many batches there have been, the current one included.
  std::uint64_t batch() const { return batch_; }
  std::uint32_t channel_of(std::uint32_t line) const { return place(line).channel; }

private:
  void start_batch();

  struct Bank {
    std::uint32_t open_row = no_line;
    float ready_ns = 0; ///< since the batch's arrival
  };

  Random& random_;
  std::uint32_t busy_sms_;
  unsigned interleave_bits_, row_bits_,
      banks_bits_; ///< lines of a chunk, chunks of a row, banks: powers of two
  Divider channels_;
  bool channels_permuted_, banks_permuted_, by_load_;
  float activate_ns_, precharge_ns_, burst_ns_;
  float path_ns_; ///< of an access to an open row, without its burst
  std::vector<Bank> bank_;
  std::vector<float> bus_ready_ns_; ///< by channel
  Queues banks_wait_, buses_wait_;
  float more_wait_ns_ = 0;
  std::uint32_t arrivals_ = 0;     ///< in this round
  std::int64_t left_in_batch_ = 0; ///< transactions
  std::uint64_t batch_ = 0;
};

} // namespace warplens::model
