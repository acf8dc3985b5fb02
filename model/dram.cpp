#include "model/dram.h"

#include <algorithm>

namespace warplens::model {
namespace {

unsigned bits(std::uint32_t power_of_two) {
  return unsigned(std::countr_zero(power_of_two));
}

} // namespace

Dram::Dram(const Gpu& gpu, std::uint32_t busy_sms, Random& random)
    : random_(random), busy_sms_(busy_sms), interleave_bits_(bits(gpu.dram.interleave_bytes / line_bytes)),
      row_bits_(bits(gpu.dram.row_bytes / gpu.dram.interleave_bytes)), banks_bits_(bits(gpu.dram.banks)),
      channels_(gpu.dram.channels), channels_permuted_(gpu.dram.channel_index == DramIndex::permuted),
      banks_permuted_(gpu.dram.bank_index == DramIndex::permuted),
      by_load_(gpu.dram.queue == DramQueue::kingman), activate_ns_(float(gpu.dram.activate_ns)),
      precharge_ns_(float(gpu.dram.precharge_ns)), burst_ns_(float(gpu.dram.burst_ns)),
      path_ns_(float(gpu.dram.latency_ns - gpu.dram.activate_ns - gpu.dram.burst_ns)),
      bank_(std::size_t(gpu.dram.channels) * gpu.dram.banks), bus_ready_ns_(gpu.dram.channels),
      banks_wait_(bank_.size()), buses_wait_(gpu.dram.channels) {}

void Dram::start_batch() {
  constexpr std::uint32_t group_transactions = 32;
  ++batch_;
  const std::uint32_t groups = 1 + random_.below(busy_sms_);
  for (std::uint32_t i = 0; i < groups; ++i)
    left_in_batch_ += 1 + random_.below(group_transactions);
  if (by_load_)
    return;
  for (Bank& bank : bank_)
    bank.ready_ns = 0;
  std::fill(bus_ready_ns_.begin(), bus_ready_ns_.end(), 0.0f);
}

Dram::Place Dram::place(std::uint32_t line) const {
  // Consecutive chunks go around the channels; within a channel a row's chunks are consecutive, and
  // consecutive rows go around the banks. Where they are permuted, each turn around begins somewhere else, so
  // that strides do not stay on one channel or one bank (after Zhang, Zhu and Zhang, MICRO 2000).
  const auto somewhere = [](std::uint32_t turn, std::uint32_t places) {
    return std::uint32_t(std::uint64_t{turn * 0x9e37'79b1u} * places >> 32);
  };
  const std::uint32_t chunk = line >> interleave_bits_;
  const std::uint32_t turn = channels_.quotient(chunk);
  const std::uint32_t channels = channels_.divisor(), banks = 1u << banks_bits_;
  std::uint32_t channel = chunk - turn * channels;
  const std::uint32_t row_of_channel = turn >> row_bits_;
  const std::uint32_t row = row_of_channel >> banks_bits_;
  std::uint32_t bank = row_of_channel;
  if (channels_permuted_) {
    channel += somewhere(turn, channels);
    channel -= channel >= channels ? channels : 0;
  }
  if (banks_permuted_)
    bank += somewhere(row, banks);
  return {channel, bank & (banks - 1), row};
}

Dram::Service Dram::request(std::uint32_t line, unsigned sectors) {
  const unsigned transactions = sector_count(sectors);
  if (left_in_batch_ <= 0)
    start_batch();
  left_in_batch_ -= transactions;

  const auto [channel, bank_of_channel, row] = place(line);
  const std::uint32_t number = (channel << banks_bits_) + bank_of_channel;
  Bank& bank = bank_[number];
  float opening = 0;
  if (bank.open_row != row) {
    opening = activate_ns_ + (bank.open_row == no_line ? 0 : precharge_ns_);
    bank.open_row = row;
  }
  const float bursts = float(transactions) * burst_ns_;
  if (by_load_) {
    banks_wait_.add(number, arrivals_, opening + bursts);
    buses_wait_.add(channel, arrivals_, bursts);
    ++arrivals_;
    return {path_ns_ + opening + bursts, channel, number};
  }
  const float done = std::max(bank.ready_ns + opening, bus_ready_ns_[channel]) + bursts;
  bank.ready_ns = bus_ready_ns_[channel] = done;
  return {path_ns_ + done, channel, number};
}

void Dram::end_round(const Load& load) {
  if (!by_load_ || arrivals_ == 0)
    return;
  const double share_under_way = std::min(1.0, load.warps / load.bulks);
  banks_wait_.close_round(share_under_way);
  buses_wait_.close_round(share_under_way);
  const RoundTime round = round_time(load, banks_wait_, buses_wait_);
  more_wait_ns_ = float(round.more_wait_ns);
  banks_wait_.begin_round(round.ns);
  buses_wait_.begin_round(round.ns);
  arrivals_ = 0;
}

} // namespace warplens::model
