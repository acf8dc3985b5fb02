#include "model/dram/dram.h"

#include <algorithm>
#include <utility>

namespace warplens::model {

Dram::Dram(const Gpu& gpu, std::uint32_t busy_sms, const Random& random)
    : random_(random.beside()), busy_sms_(busy_sms), map_(gpu),
      by_load_(gpu.dram.queue == DramQueue::kingman),
      path_ns_(float(gpu.dram.latency_ns + gpu.mean_hop_ns() - gpu.dram.activate_ns - gpu.dram.burst_ns)),
      bank_(std::size_t(gpu.dram.channels) * gpu.dram.banks), bus_ready_ns_(gpu.dram.channels),
      last_on_bus_(gpu.dram.channels), banks_wait_(bank_.size()), buses_wait_(gpu.dram.channels),
      waits_ns_(bank_.size()) {
  const float activate = float(gpu.dram.activate_ns), precharge = float(gpu.dram.precharge_ns);
  const float opening_ns[] = {0, activate + precharge, activate}; // by Opening
  for (const Opening opening : {row_open, row_other, row_closed})
    for (unsigned sectors = 0; sectors <= whole_line; ++sectors) {
      const unsigned transactions = sector_count(sectors);
      const float bursts = float(transactions) * float(gpu.dram.burst_ns);
      work_[sectors][opening] = {Arrivals::taking(opening_ns[opening] + bursts), Arrivals::taking(bursts),
                                 opening_ns[opening], bursts, path_ns_ + opening_ns[opening] + bursts};
    }
}

void Dram::start_batch() {
  // A group has 1 to 32 transactions: five bits of a random number, which suffices for six groups.
  constexpr unsigned group_bits = 5, groups_at_once = 32 / group_bits;
  ++batch_;
  const std::uint32_t groups = 1 + random_.below(busy_sms_);
  left_in_batch_ = groups;
  for (std::uint32_t begun = 0; begun < groups; begun += groups_at_once) {
    const unsigned together = group_bits * std::min(groups - begun, groups_at_once);
    for (std::uint32_t bits = random_.next() & ((std::uint64_t{1} << together) - 1); bits != 0;
         bits >>= group_bits)
      left_in_batch_ += bits & 31;
  }
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
  std::vector<Arrivals> banks(bank_.size()), buses(last_on_bus_.size());
  for (std::uint32_t bank = 0; bank < banks.size(); ++bank) {
    banks[bank] = std::exchange(bank_[bank].arrivals, {});
    buses[map_.channel_of_bank(bank)].sums += std::exchange(bank_[bank].bus_arrivals, Arrivals::Sums{});
  }
  for (std::uint32_t channel = 0; channel < buses.size(); ++channel)
    buses[channel].last = std::exchange(last_on_bus_[channel], 0.0f);
  banks_wait_.close_round(banks, share_under_way);
  buses_wait_.close_round(buses, share_under_way);
  const RoundTime round = round_time(load, banks_wait_, buses_wait_);
  banks_wait_.compute_waits(round.ns);
  buses_wait_.compute_waits(round.ns);
  for (std::uint32_t bank = 0; bank < waits_ns_.size(); ++bank)
    waits_ns_[bank] = float(round.more_wait_ns) + banks_wait_.wait_ns(bank) +
                      buses_wait_.wait_ns(map_.channel_of_bank(bank));
  arrivals_ = 0;
}

} // namespace warplens::model
