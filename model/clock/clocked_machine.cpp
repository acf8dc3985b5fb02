#include "model/clock/clocked_machine.h"

#include "model/clock/collect_counts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace warplens::model {

ClockedMachine::ClockedMachine(const Snapshot& snapshot, const Gpu& gpu, const TimesCode& times_code,
                               std::span<const L2> before, Random& random, TrialObserver* observer)
    : snapshot_(snapshot), gpu_(gpu), observer_(observer), figures_(gpu), code_(times_code(figures_)),
      streams_(snapshot, code_ ? &*code_ : nullptr, figures_), states_(snapshot, code_ ? &*code_ : nullptr),
      memory_(snapshot, gpu, before, random, observer) {}

void ClockedMachine::add_sms(std::uint32_t count, std::uint32_t l1_bytes, Random& random) {
  for (std::uint32_t number = 0; number < count; ++number)
    sms_.push_back(std::make_unique<Sm>(snapshot_, gpu_, figures_, streams_, l1_bytes, number, random,
                                        states_, observer_));
}

Cycle ClockedMachine::dispatch(std::uint32_t sm, const BlockPart& part, Cycle at, std::uint32_t kernel) {
  const Cycle begin = std::max(at, begins_);
  sms_[sm]->dispatch(part, begin, kernel);
  if (snapshot_.joins_blocks) {
    sm_of_block_[part.block] = sm;
    if (const auto early = early_.extract(part.block))
      sms_[sm]->receive(early.mapped());
  }
  begins_ = begin + 1;
  return begin;
}

Cycle ClockedMachine::begin_behind(Cycle ended) const {
  return std::max(end_, ended + figures_.turnover);
}

void ClockedMachine::note_left_out(LeftOutTime& time) {
  for (const auto& sm : sms_)
    sm->note_left_out(time);
}

void ClockedMachine::tell_apart(const std::vector<std::uint16_t>& launch_of_site, std::size_t launches) {
  for (const auto& sm : sms_)
    sm->tell_apart(launch_of_site, launches);
}

std::optional<Cycle> ClockedMachine::last_store(std::size_t launch) const {
  Cycle last = 0;
  for (const auto& sm : sms_) {
    const LoadStoreUnit::Unawaited& stores = sm->load_store_unit().unawaited()[launch];
    if (stores.pending != 0)
      return std::nullopt;
    last = std::max(last, stores.last_answer);
  }
  return last;
}

bool ClockedMachine::run_epoch() {
  Cycle next = next_cycle();
  if (next == never) {
    // Warps may wait for phases to which other blocks contribute, or another order of the same warps.
    bool any = false;
    for (const auto& sm : sms_)
      any |= sm->release_phases(end_);
    if (!any)
      return false;
    next = end_;
  }
  const Cycle epoch = memory_.shortest();
  end_ = (std::max(next, end_) / epoch + 1) * epoch;
  run_sms();
  if (snapshot_.joins_blocks)
    exchange_contributions();
  memory_.run_until(end_);
  return true;
}

/// Runs the SMs until the epoch's end; they depend on each other through the memory only. Their states do not
/// fit the host's caches, so each SM is visited four times, a few SMs apart: a visit prefetches what the next
/// one reads.
void ClockedMachine::run_sms() {
  const std::uint32_t count = sms();
  for (std::uint32_t first = 0; first < count + 3; ++first) {
    if (first < count)
      sms_[first]->prefetch_answers(memory_.answers(first));
    if (const std::uint32_t second = first - 1; second < count)
      sms_[second]->take(memory_.answers(second), end_);
    if (const std::uint32_t third = first - 2; third < count)
      sms_[third]->prefetch_accesses();
    if (const std::uint32_t last = first - 3; last < count && sms_[last]->next() < end_)
      sms_[last]->run_until(end_, memory_);
  }
}

/// Hands on what blocks contribute to phases of others, at the end of the epoch: their SMs have run until
/// then.
void ClockedMachine::exchange_contributions() {
  std::vector<std::vector<BarrierPhases::Between>> to(sms());
  for (const auto& sm : sms_)
    for (BarrierPhases::Between contribution : sm->take_between()) {
      contribution.done.at = std::max(contribution.done.at + figures_.between_blocks(), end_);
      if (const auto found = sm_of_block_.find(contribution.block); found != sm_of_block_.end())
        to[found->second].push_back(contribution);
      else
        early_[contribution.block].push_back(contribution);
    }
  for (std::uint32_t number = 0; number < sms(); ++number)
    if (!to[number].empty())
      sms_[number]->receive(to[number]);
}

/// Returns a cycle before which nothing happens.
Cycle ClockedMachine::next_cycle() {
  // The memory answers a request an epoch after it left its SM, at the earliest.
  Cycle next = memory_.next();
  if (next != never)
    next -= std::min(next, memory_.shortest());
  for (std::uint32_t number = 0; number < sms(); ++number)
    if (memory_.answers(number).empty())
      next = std::min(next, sms_[number]->next());
    else
      return 0; // an SM may go on in the epoch that follows
  return next;
}

std::uint64_t ClockedMachine::instructions() const {
  std::uint64_t sum = 0;
  for (const auto& sm : sms_)
    sum += sm->instructions();
  return sum;
}

void ClockedMachine::take_ended(std::vector<Sm::EndedBlock>& ended) {
  const auto fresh = std::ptrdiff_t(ended.size());
  for (const auto& sm : sms_) {
    ended.insert(ended.end(), sm->ended_blocks().begin(), sm->ended_blocks().end());
    sm->ended_blocks().clear();
  }
  std::ranges::sort(ended.begin() + fresh, ended.end(), {},
                    [](const Sm::EndedBlock& one) { return std::tuple(one.at, one.draw, one.sm); });
}

TrialCounts ClockedMachine::counts(std::uint32_t gpu_sms) {
  TrialCounts counts = collect_counts(sms_, snapshot_, figures_, std::move(states_).counts(), gpu_sms);
  memory_.count(counts);
  return counts;
}

} // namespace warplens::model
