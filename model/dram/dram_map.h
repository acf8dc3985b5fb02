// The mapping of lines to channels, banks and rows of memory.
#pragma once

#include "model/gpu/gpu.h"
#include "numeric/divisor.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

class DramMap {
public:
  explicit DramMap(const Gpu& gpu)
      : interleave_bits_(bits(gpu.dram.interleave_bytes / line_bytes)),
        row_bits_(bits(gpu.dram.row_bytes / gpu.dram.interleave_bytes)), bank_bits_(bits(gpu.dram.banks)),
        channels_(gpu.dram.channels), bank_mask_(gpu.dram.banks - 1),
        channel_scatter_(gpu.dram.channel_index == DramIndex::permuted ? scatter : 0),
        bank_scatter_(gpu.dram.bank_index == DramIndex::permuted ? scatter : 0) {}

  struct BankRow {
    std::uint32_t channel, bank, row; ///< the bank among those of all channels
  };
  BankRow operator()(std::uint32_t line) const {
    // Consecutive chunks cycle through the channels; within a channel a row's chunks are consecutive, and
    // consecutive rows cycle through the banks. Where they are permuted, each cycle begins at another one, so
    // that strides do not stay on one channel or one bank (after Zhang, Zhu and Zhang, MICRO 2000).
    const std::uint32_t chunk = line >> interleave_bits_;
    const std::uint32_t cycle = channels_.quotient_in_loop(chunk);
    const std::uint32_t channels = channels_.value();
    std::uint32_t channel = chunk - cycle * channels;
    channel += std::uint32_t(std::uint64_t{cycle * channel_scatter_} * channels >> 32);
    channel = std::min(channel, channel - channels); // which wraps around below 0
    const std::uint32_t row_of_channel = cycle >> row_bits_;
    const std::uint32_t row = row_of_channel >> bank_bits_;
    const std::uint32_t first_bank = // the product's highest bits, as many as a bank has
        bank_bits_ == 0 ? 0 : row * bank_scatter_ >> (32 - bank_bits_);
    return {channel, (channel << bank_bits_) + ((row_of_channel + first_bank) & bank_mask_), row};
  }
  std::uint32_t channel_of_bank(std::uint32_t bank) const { return bank >> bank_bits_; }

private:
  static unsigned bits(std::uint32_t power_of_two) { return unsigned(std::countr_zero(power_of_two)); }
  static constexpr std::uint32_t scatter = 0x9e37'79b1; ///< 2^32 by the golden ratio

  unsigned interleave_bits_, row_bits_,
      bank_bits_; ///< lines of a chunk, chunks of a row, banks: powers of two
  Divisor channels_;
  std::uint32_t bank_mask_;
  std::uint32_t channel_scatter_, bank_scatter_; ///< 0 where they are not permuted
};

} // namespace warplens::model
