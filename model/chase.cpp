#include "model/chase.h"

#include "model/dram.h"
#include "model/l1.h"
#include "model/l2.h"

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
  constexpr unsigned one_sector = 1, warming_rounds = 2;
  const std::vector<std::uint32_t> order = chase_order(lines, random);
  L1 l1(gpu, gpu.l1.with_shared_bytes - gpu.shared.carveout_bytes.front());
  L2 l2(gpu);
  Dram dram(gpu, 1, random);
  double sum = 0;
  for (unsigned round = 0; round <= warming_rounds; ++round) {
    sum = 0;
    for (const std::uint32_t line : order) {
      if (l1.load(line, one_sector) == 0) {
        sum += gpu.l1.latency_ns;
        continue;
      }
      const L2Outcome outcome = l2.load(line, one_sector, 0, [](std::uint32_t, unsigned) {});
      if (outcome.fetched != 0)
        sum += double(dram.request(line, one_sector).ns);
      else
        sum += outcome.far != 0 ? gpu.l2.copies.far_latency_ns : gpu.l2.latency_ns;
    }
  }
  return sum / lines;
}

} // namespace warplens::model
