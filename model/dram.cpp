#include "model/dram.h"

#include <algorithm>

namespace warplens::model {

Dram::Dram(const Gpu& gpu, std::uint32_t busy_sms, Random& random)
    : random_(random), busy_sms_(busy_sms), banks_per_channel_(gpu.dram.banks),
      interleave_(gpu.dram.interleave_bytes / line_bytes), channels_(gpu.dram.channels),
      row_chunks_(gpu.dram.row_bytes / gpu.dram.interleave_bytes), banks_(gpu.dram.banks),
      activate_ns_(float(gpu.dram.activate_ns)), precharge_ns_(float(gpu.dram.precharge_ns)),
      burst_ns_(float(gpu.dram.burst_ns)),
      path_ns_(float(gpu.dram.latency_ns - gpu.dram.activate_ns - gpu.dram.burst_ns)),
      bank_(std::size_t(gpu.dram.channels) * gpu.dram.banks), bus_ready_ns_(gpu.dram.channels) {}

void Dram::start_batch() {
  ++batch_;
  constexpr std::uint32_t group_transactions = 32;
  const std::uint32_t groups = 1 + random_.below(busy_sms_);
  for (std::uint32_t i = 0; i < groups; ++i)
    left_in_batch_ += 1 + random_.below(group_transactions);
  for (Bank& bank : bank_)
    bank.ready_ns = 0;
  std::fill(bus_ready_ns_.begin(), bus_ready_ns_.end(), 0.0f);
}

double Dram::request(std::uint32_t line, unsigned sectors) {
  const unsigned transactions = sector_count(sectors);
  if (left_in_batch_ <= 0)
    start_batch();
  left_in_batch_ -= transactions;

  // Consecutive chunks go around the channels; within a channel a row's chunks are consecutive, and
  // consecutive rows go around the banks.
  const std::uint32_t chunk = interleave_.quotient(line);
  const std::uint32_t channel = channel_of(line);
  const std::uint32_t row_of_channel = row_chunks_.quotient(channels_.quotient(chunk));
  const std::uint32_t row = banks_.quotient(row_of_channel);
  Bank& bank = bank_[std::size_t(channel) * banks_per_channel_ + banks_.remainder(row_of_channel)];

  float ready = bank.ready_ns;
  if (bank.open_row != row) {
    ready += activate_ns_ + (bank.open_row == no_line ? 0 : precharge_ns_);
    bank.open_row = row;
  }
  const float done = std::max(ready, bus_ready_ns_[channel]) + float(transactions) * burst_ns_;
  bank.ready_ns = bus_ready_ns_[channel] = done;
  return path_ns_ + done;
}

} // namespace warplens::model
