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
  Place place(std::uint32_t line) const {
    // Consecutive chunks go around the channels; within a channel a row's chunks are consecutive, and
    // consecutive rows go around the banks. Where they are permuted, each turn around begins somewhere else,
    // so that strides do not stay on one channel or one bank (after Zhang, Zhu and Zhang, MICRO 2000).
    const std::uint32_t chunk = line >> interleave_bits_;
    const std::uint32_t turn = channels_.quotient(chunk);
    const std::uint32_t channels = channels_.divisor();
    std::uint32_t channel = chunk - turn * channels;
    channel += std::uint32_t(std::uint64_t{turn * channel_scatter_} * channels >> 32);
    channel = std::min(channel, channel - channels); // which wraps around below 0
    const std::uint32_t row_of_channel = turn >> row_bits_;
    const std::uint32_t row = row_of_channel >> banks_bits_;
    const std::uint32_t bank =
        row_of_channel + std::uint32_t((std::uint64_t{row * bank_scatter_} << banks_bits_) >> 32);
    return {channel, bank & bank_mask_, row};
  }

  struct Service {
    float ns; ///< from the SM and back until the last sector has come, without the waits below
    std::uint32_t channel, bank; ///< the bank among all
  };
  /// The sectors of one line are read or written.
  Service request(std::uint32_t line, unsigned sectors) {
    if (left_in_batch_ <= 0)
      start_batch();
    const auto [channel, bank_of_channel, row] = place(line);
    const std::uint32_t number = (channel << banks_bits_) + bank_of_channel;
    Bank& bank = bank_[number];
    const unsigned other = bank.open_row != row, closed = bank.open_row == no_line;
    bank.open_row = row;
    const Work& work = work_[other << closed][sectors];
    left_in_batch_ -= work.transactions;
    if (by_load_) {
      banks_wait_.add(number, arrivals_, work.of_bank);
      buses_wait_.add(channel, arrivals_, work.of_bus);
      ++arrivals_;
      return {work.alone_ns, channel, number};
    }
    const float done = std::max(bank.ready_ns + work.opening_ns, bus_ready_ns_[channel]) + work.bursts_ns;
    bank.ready_ns = bus_ready_ns_[channel] = done;
    return {path_ns_ + done, channel, number};
  }

  /// What the round's requests waited for each other follows from its load.
  void end_round(const Load& load);
  /// What a request of the round that ended waited for its bank, beside what request() said.
  float wait_ns(std::uint32_t bank) const { return waits_ns_[bank]; }

  /// How many batches there have been, the current one included.
  std::uint64_t batch() const { return batch_; }
  std::uint32_t channel_of(std::uint32_t line) const { return place(line).channel; }

private:
  void start_batch();

  struct Bank {
    std::uint32_t open_row = no_line;
    float ready_ns = 0; ///< since the batch's arrival
  };

  /// What a request takes, by whether its row is open and by its sectors.
  enum Opening { row_open, row_other, row_closed };
  struct alignas(64) Work {
    Queues::Sums of_bank{}, of_bus{};
    float opening_ns = 0, bursts_ns = 0, alone_ns = 0;
    std::int32_t transactions = 0;
  };

  Random& random_;
  std::uint32_t busy_sms_;
  unsigned interleave_bits_, row_bits_,
      banks_bits_; ///< lines of a chunk, chunks of a row, banks: powers of two
  Divider channels_;
  std::uint32_t bank_mask_;
  std::uint32_t channel_scatter_, bank_scatter_; ///< 0 where they are not permuted
  bool by_load_;
  float path_ns_; ///< of an access to an open row, without its burst
  Work work_[3][whole_line + 1];
  std::vector<Bank> bank_;
  std::vector<float> bus_ready_ns_; ///< by channel
  Queues banks_wait_, buses_wait_;
  std::vector<float> waits_ns_;    ///< by bank, in the round that ended
  std::uint32_t arrivals_ = 0;     ///< in this round
  std::int64_t left_in_batch_ = 0; ///< transactions
  std::uint64_t batch_ = 0;
};

} // namespace warplens::model
