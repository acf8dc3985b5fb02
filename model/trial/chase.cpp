#include "model/trial/chase.h"

#include "model/cache/l1.h"
#include "model/cache/l2.h"
#include "model/dram/dram.h"
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

double chase_latency_ns(const Gpu& gpu, std::uint32_t lines, Random random) {
  const std::vector<std::uint32_t> order = chase_order(lines, random);
  const std::uint32_t loads = chase_loads(lines);
  L2 l2(gpu);
  Dram dram(gpu, 1, random);
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
        const L2Outcome outcome = l2.load(line, sector, 0, [](std::uint32_t, unsigned, unsigned) {});
        if (outcome.fetched != 0)
          sum += double(dram.request(line, outcome.fetched).ns);
        else
          sum += outcome.far != 0 ? gpu.l2.replicas.far_latency_ns : gpu.l2.latency_ns;
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
