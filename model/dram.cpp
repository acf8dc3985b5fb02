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
      by_load_(gpu.dram.queue == DramQueue::kingman),
      path_ns_(float(gpu.dram.latency_ns - gpu.dram.activate_ns - gpu.dram.burst_ns)),
      bank_(std::size_t(gpu.dram.channels) * gpu.dram.banks), bus_ready_ns_(gpu.dram.channels),
      banks_wait_(bank_.size()), buses_wait_(gpu.dram.channels) {
  const float activate = float(gpu.dram.activate_ns), precharge = float(gpu.dram.precharge_ns);
  const float opening_ns[] = {0, activate, activate + precharge};
  for (const Opening opening : {row_open, row_closed, row_other})
    for (unsigned transactions = 0; transactions <= sectors_per_line; ++transactions) {
      const float bursts = float(transactions) * float(gpu.dram.burst_ns);
      work_[opening][transactions] = {Queues::taking(opening_ns[opening] + bursts), Queues::taking(bursts),
                                      opening_ns[opening], bursts, path_ns_ + opening_ns[opening] + bursts};
    }
}

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
