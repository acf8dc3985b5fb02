// Curves to analyse: published ones, and what the measuring program would leave of a GPU that is as the model
// has it.
#pragma once

#include "calibration/curves.h"
#include "model/chase.h"
#include "model/dram.h"
#include "model/gpu.h"
#include "model/l1.h"
#include "model/l2.h"
#include "test/catch.h"

#include <fstream>

namespace warplens::test {

inline model::Gpu gpu(const std::string& name) {
  auto loaded = model::load_gpu(name, WARPLENS_GPU_FOLDER);
  if (!loaded)
    FAIL(loaded.error().message);
  return std::move(*loaded);
}

inline std::vector<calibration::ChasePoint> published_chase(const std::string& name) {
  std::ifstream in(std::string(WARPLENS_CHASE_FOLDER) + "/" + name + ".csv");
  std::string heading;
  std::getline(in, heading);
  std::vector<calibration::ChasePoint> points;
  char comma;
  for (calibration::ChasePoint point; in >> point.kib >> comma >> point.cycles;)
    points.push_back(point);
  return points;
}

inline double cycles(const model::Gpu& of, double ns) {
  return ns * of.clock_mhz / 1000;
}

/// What device/chase.cu measures of such a GPU: two laps of warming and one that is timed, in one launch.
inline double chase_cycles(const model::Gpu& of, std::uint32_t lines) {
  model::Random random(1, 0, 0);
  const auto order = model::chase_order(lines, random);
  model::L1 l1(of, of.l1.with_shared_bytes - of.shared.carveout_bytes.front());
  model::L2 l2(of);
  model::Dram dram(of, 1, random);
  double ns = 0;
  for (unsigned lap = 0; lap < 3; ++lap) {
    ns = 0;
    for (const std::uint32_t line : order) {
      if (l1.load(line, 1) == 0) {
        ns += of.l1.latency_ns;
        continue;
      }
      const auto outcome = l2.load(line, 1, 0, [](std::uint32_t, unsigned, unsigned) {});
      if (outcome.fetched != 0)
        ns += double(dram.request(line, outcome.fetched).ns);
      else
        ns += outcome.far != 0 ? of.l2.copies.far_latency_ns : of.l2.latency_ns;
    }
  }
  return cycles(of, ns / lines);
}

/// The curve of that, at sizes that are 2.5 % apart as those of device/chase.cu, but fewer on the long flat
/// parts.
inline std::vector<calibration::ChasePoint> modelled_chase(const model::Gpu& of) {
  std::vector<calibration::ChasePoint> points;
  const double l2_kib = static_cast<double>(of.l2_bytes) / 1024;
  const double l1_kib = (of.l1.with_shared_bytes - of.shared.carveout_bytes.front()) / 1024.0;
  const auto is_near = [](double kib, double knee) { return kib > 0.7 * knee && kib < 1.6 * knee; };
  for (double kib = 2; kib < 2.5 * l2_kib; kib *= is_near(kib, l1_kib) || is_near(kib, l2_kib) ||
                                                          (of.l2.partitions > 1 && is_near(kib, l2_kib / 2))
                                                      ? 1.025
                                                      : 1.1) {
    const auto lines = static_cast<std::uint32_t>(kib * 8);
    points.push_back({lines / 8.0, chase_cycles(of, lines)});
  }
  return points;
}

/// bits.csv: of two loads in a row, with nothing else under way, the second's.
inline std::vector<calibration::Sample> modelled_bits(const model::Gpu& of) {
  std::vector<calibration::Sample> samples;
  model::Random random(1, 0, 0);
  for (unsigned attempt = 0; attempt < 9; ++attempt)
    for (unsigned bit = 7; bit < 30; ++bit) {
      model::Dram dram(of, 1, random);
      const std::uint32_t line = random.below(1u << 23);
      dram.request(line, 1);
      samples.push_back({double(bit), 0, cycles(of, double(dram.request(line ^ 1u << (bit - 7), 1).ns))});
    }
  return samples;
}

/// The same GPU with addresses that go to channels and banks as they are.
inline model::Gpu without_hashes(model::Gpu of) {
  of.dram.channel_index = of.dram.bank_index = model::DramIndex::modulo;
  return of;
}

/// device.csv of such a GPU.
inline std::map<std::string, std::string> device_of(const model::Gpu& of, unsigned compute_capability) {
  const auto text = [](auto value) { return std::to_string(value); };
  return {
      {"name", of.name},
      {"compute_capability", text(compute_capability)},
      {"driver", "13000"},
      {"runtime", "13000"},
      {"clock_mhz", text(of.clock_mhz)},
      {"sms", text(of.sms)},
      {"max_threads_per_sm", text(of.max_threads_per_sm)},
      {"max_blocks_per_sm", text(of.max_blocks_per_sm)},
      {"max_threads_per_block", text(of.max_threads_per_block)},
      {"registers_per_sm", text(of.registers.per_sm)},
      {"registers_per_block", text(of.registers.per_block)},
      {"shared_per_block_optin", text(of.shared.max_bytes_per_block - of.shared.reserved_bytes_per_block)},
      {"reserved_shared_per_block", text(of.shared.reserved_bytes_per_block)},
      {"l2_bytes", text(of.l2_bytes)},
      {"memory_bytes", text(of.dram.bytes)},
      {"memory_bus_bits", text(of.dram.channels * 64)}};
}

} // namespace warplens::test
