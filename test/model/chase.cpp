#include "chase.h"

#include "model/cache/l1.h"
#include "model/gpu/slices.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <numeric>

namespace warplens::model {

std::vector<std::uint32_t> chase_order(std::uint32_t lines, Random& random) {
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t i = lines; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

L2OfOneSm::L2OfOneSm(const Gpu& gpu, const Random& random) : gpu_(gpu), dram_(gpu, 1, random) {
  for (std::uint32_t i = 0; i < gpu.l2.partitions; ++i)
    partitions_.push_back(L2::partition_of(gpu));
}

double L2OfOneSm::load_ns(std::uint32_t line, unsigned sectors) {
  const auto missing_in = [&](unsigned partition) {
    return partitions_[partition].load(line, sectors, [](std::uint32_t, unsigned, unsigned) {}).fetched;
  };
  if (missing_in(0) == 0)
    return gpu_.l2.latency_ns;
  const unsigned home = home_partition(line, gpu_.l2.partitions);
  const double way_ns = home != 0 ? gpu_.l2.hop_ns : 0;
  if (home != 0 && missing_in(home) == 0)
    return gpu_.l2.latency_ns + way_ns;
  return double(dram_.request(line, sectors).ns) - gpu_.mean_hop_ns() + way_ns;
}

double chase_latency_ns(const Gpu& gpu, std::uint32_t lines, Random random) {
  const std::vector<std::uint32_t> order = chase_order(lines, random);
  const std::uint32_t loads = chase_loads(lines);
  L2OfOneSm l2(gpu, random);
  double sum = 0;
  for (unsigned launch = 0; launch <= chase_warming_launches; ++launch) {
    L1 l1(gpu, gpu.l1.with_shared_bytes - gpu.shared.carveout_bytes.front()); // empty: a launch flushes it
    sum = 0;
    std::uint32_t at = 0, lap = 0, missed = 0;
    for (std::uint32_t load = 0; load < loads; ++load) {
      const std::uint32_t line = order[at];
      const unsigned sector = 1u << lap * 8 / sector_bytes % sectors_per_line;
      if (l1.load(line, sector) == 0) {
        sum += gpu.l1.latency_ns;
      } else {
        ++missed;
        sum += l2.load_ns(line, sector);
      }
      if (++at < lines)
        continue;
      at = 0;
      if (++lap % chase_pointers_per_line == 0) {
        if (missed == 0) { // then no later lap misses
          sum += double(loads - load - 1) * gpu.l1.latency_ns;
          break;
        }
        missed = 0;
      }
    }
  }
  return sum / loads;
}

} // namespace warplens::model
