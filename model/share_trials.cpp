#include "model/share_trials.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace warplens::model {
namespace {

using Site = TrialCounts::Site;
static_assert(std::is_trivially_copyable_v<TrialTotals> && std::is_trivially_copyable_v<Site>);

std::size_t bytes_of_trial(std::size_t sites) {
  return sizeof(TrialTotals) + sites * sizeof(Site);
}

void pack(const TrialCounts& trial, std::byte* to) {
  const TrialTotals totals = trial;
  std::memcpy(to, &totals, sizeof totals);
  if (!trial.sites.empty())
    std::memcpy(to + sizeof totals, trial.sites.data(), trial.sites.size() * sizeof(Site));
}

TrialCounts unpack(const std::byte* from, std::size_t sites) {
  TrialCounts trial;
  std::memcpy(static_cast<TrialTotals*>(&trial), from, sizeof(TrialTotals));
  trial.sites.resize(sites);
  if (sites != 0)
    std::memcpy(trial.sites.data(), from + sizeof(TrialTotals), sites * sizeof(Site));
  return trial;
}

} // namespace

void share(std::span<TrialCounts> batch, std::uint32_t first, std::size_t sites, const Ranks& ranks) {
  if (ranks.count == 1)
    return;
  const std::size_t bytes = bytes_of_trial(sites);
  std::vector<std::byte> mine;
  for (std::uint32_t i = 0; i < batch.size(); ++i)
    if (is_mine(first + i, ranks)) {
      mine.resize(mine.size() + bytes);
      pack(batch[i], mine.data() + mine.size() - bytes);
    }
  const std::vector<std::vector<std::byte>> all = ranks.exchange(std::move(mine));
  std::vector<std::size_t> taken(ranks.count);
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t rank = (first + i) % ranks.count;
    if (all[rank].size() < taken[rank] + bytes)
      throw std::runtime_error("the processes that mpirun started do not model the same trace");
    batch[i] = unpack(all[rank].data() + taken[rank], sites);
    taken[rank] += bytes;
  }
}

} // namespace warplens::model
