// Curves to analyse: published ones, and the output of the measuring program on a GPU that behaves like the
// model.
#pragma once

#include "calibration/curves.h"
#include "model/cache/l1.h"
#include "model/cache/l2.h"
#include "model/dram/dram.h"
#include "model/gpu/gpu.h"
#include "test/catch.h"
#include "test/model/chase.h"

#include <fstream>
#include <map>

namespace warplens::test {

using calibration::Sample;

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

/// Returns the latency that device/chase.cu would measure on such a GPU: two laps of warming and one that is
/// timed, in one launch.
inline double chase_cycles(const model::Gpu& of, std::uint32_t lines) {
  Random random(1, 0, 0);
  const auto order = model::chase_order(lines, random);
  model::L1 l1(of, of.l1.with_shared_bytes - of.shared.carveout_bytes.front());
  model::L2OfOneSm l2(of, random);
  double ns = 0;
  for (unsigned lap = 0; lap < 3; ++lap) {
    ns = 0;
    for (const std::uint32_t line : order) {
      if (l1.load(line, 1) == 0) {
        ns += of.l1.latency_ns;
        continue;
      }
      ns += l2.load_ns(line, 1);
    }
  }
  return cycles(of, ns / lines);
}

/// Returns the curve of these latencies, at sizes that are 2.5 % apart as those of device/chase.cu, but fewer
/// on the long flat parts.
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

inline const auto no_write_back = [](std::uint32_t, unsigned, unsigned) {};

/// A GPU with one SM awake, on which the experiments of calibration/device are played.
class Modelled {
public:
  explicit Modelled(const model::Gpu& gpu)
      : gpu_(gpu), l1_(gpu, gpu.l1.with_shared_bytes - gpu.shared.carveout_bytes.front()), l2_(gpu) {}

  double load(std::uint64_t address, bool bypass = false) {
    const auto line = static_cast<std::uint32_t>(address / 128);
    const unsigned sector = 1u << address % 128 / 32;
    // In an L1 without sectors a miss requests the whole line.
    if (!bypass && l1_.load(line, sector) == 0)
      return cycles(gpu_, gpu_.l1.latency_ns);
    const unsigned requested = bypass || gpu_.l1.sectored ? sector : 0xf;
    const model::L2Outcome outcome = l2_.load(line, requested, no_write_back);
    return cycles(gpu_, (outcome.fetched & sector) != 0 ? gpu_.dram.latency_ns : gpu_.l2.latency_ns);
  }
  void store(std::uint64_t address) {
    const auto line = static_cast<std::uint32_t>(address / 128);
    const unsigned sector = 1u << address % 128 / 32;
    l1_.store(line, sector);
    model::ByteMask all_of_it{};
    all_of_it[address % 128 / 64] = std::uint64_t{0xffffffff} << address % 64 / 32 * 32;
    l2_.store(line, sector, all_of_it, no_write_back);
  }
  void overflow_l2() {
    for (std::uint64_t byte = 0; byte < 3 * gpu_.l2_bytes; byte += 32)
      load((std::uint64_t{1} << 36) + byte, true);
  }

private:
  const model::Gpu& gpu_;
  model::L1 l1_;
  model::L2 l2_;
};

inline std::vector<Sample> modelled_strides(const model::Gpu& on) {
  std::vector<Sample> samples;
  for (const unsigned stride : {32u, 64u, 128u, 96u, 160u, 224u, 192u, 320u, 448u, 384u, 640u, 896u})
    for (double count = 64; count <= 16384; count *= 1.05) {
      Modelled gpu(on);
      double sum = 0;
      for (unsigned round = 0; round < 3; ++round) {
        sum = 0;
        for (unsigned i = 0; i < static_cast<unsigned>(count); ++i)
          sum += gpu.load(std::uint64_t{i} * stride);
      }
      const double mean = sum / static_cast<unsigned>(count);
      samples.push_back({double(stride), double(static_cast<unsigned>(count)), mean});
      if (mean > 4 * samples[0].cycles)
        break;
    }
  return samples;
}

inline std::vector<Sample> modelled_touches(const model::Gpu& on, bool through_l1) {
  std::vector<Sample> samples;
  for (unsigned offset = 0; offset < 1024; offset += 8) {
    Modelled gpu(on);
    const std::uint64_t base = 1 << 20;
    if (through_l1)
      for (unsigned i = 0; i < 4096; i += 32)
        gpu.load(base + i, true);
    gpu.load(base, !through_l1);
    samples.push_back({double(offset), 0, gpu.load(base + offset, !through_l1)});
  }
  return samples;
}

inline std::map<std::string, double> modelled_policies(const model::Gpu& on) {
  constexpr std::uint64_t a = 1 << 20;
  std::map<std::string, double> policies{{"new_value_seen", on.l1.stores == model::L1Stores::update_on_hit ||
                                                                on.l1.stores == model::L1Stores::allocate}};
  const auto after = [&](const char* name, bool bypass, auto history) {
    Modelled gpu(on);
    history(gpu);
    policies[name] = gpu.load(a, bypass);
  };
  after("l1_hit", false, [](Modelled& gpu) { gpu.load(a); });
  after("l2_hit", true, [](Modelled& gpu) { gpu.load(a, true); });
  after("memory", true, [](Modelled&) {});
  after("load_after_store", false, [](Modelled& gpu) { gpu.store(a); });
  after("l2_load_after_store", true, [](Modelled& gpu) { gpu.store(a); });
  after("load_store_load", false, [](Modelled& gpu) {
    gpu.load(a);
    gpu.store(a);
  });
  after("l1_load_after_l2_overflow", false, [](Modelled& gpu) {
    gpu.load(a);
    gpu.overflow_l2();
  });
  after("l2_load_after_l1_load", true, [](Modelled& gpu) { gpu.load(a); });
  return policies;
}

/// Returns distance.csv: each load is near or far by chance, with some noise; the second load of a line is
/// near if the near part keeps replicas.
inline std::vector<Sample> modelled_distances(const model::Gpu& of, double far_ns, bool replicas) {
  Random random(7, 0, 0);
  std::vector<Sample> samples;
  for (unsigned sm = 0; sm < of.sms; ++sm)
    for (unsigned line = 0; line < 64; ++line) {
      const bool far = random.below(2) == 1;
      const auto loaded = [&](bool as_far) {
        return cycles(of, as_far ? far_ns : of.l2.latency_ns) + random.below(20);
      };
      samples.push_back({double(sm), 0, loaded(far)});
      samples.push_back({double(sm), 1, loaded(far && !replicas)});
    }
  return samples;
}

/// Returns bits.csv: the latency of the second of two loads in a row, with nothing else under way.
inline std::vector<Sample> modelled_bits(const model::Gpu& of) {
  std::vector<Sample> samples;
  Random random(1, 0, 0);
  for (unsigned attempt = 0; attempt < 9; ++attempt)
    for (unsigned bit = 7; bit < 30; ++bit) {
      model::Dram dram(of, 1, random);
      const std::uint32_t line = random.below(1u << 23);
      dram.request(line, 1);
      samples.push_back({double(bit), 0, cycles(of, double(dram.request(line ^ 1u << (bit - 7), 1).ns))});
    }
  return samples;
}

/// Returns the same GPU with addresses that go to channels and banks without hashing.
inline model::Gpu without_hashes(model::Gpu of) {
  of.dram.channel_index = of.dram.bank_index = model::DramIndex::modulo;
  return of;
}

/// Returns device.csv of such a GPU.
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
