#include "model/scale/scale_model.h"

#include "model/gpu/slices.h"
#include "model/scale/part_of_gpu.h"
#include "model/scale/sampled_blocks.h"

#include <algorithm>
#include <numeric>

namespace warplens::model {
namespace {

constexpr std::uint32_t fewest_sms = 8, fewest_blocks = 4;

/// Returns the instructions of each path.
std::vector<std::uint64_t> instructions_of_paths(const Code& code) {
  std::vector<std::uint64_t> all;
  for (const Path& path : code.paths)
    all.push_back(std::accumulate(
        path.blocks.begin(), path.blocks.end(), std::uint64_t{0},
        [&](std::uint64_t sum, std::uint32_t block) {
          const auto& blocks = code.kernel.blocks;
          return sum + (block == Path::unmatched ? 1 : blocks[block].end - blocks[block].begin);
        }));
  return all;
}

/// Returns the bytes of the L2 that the sample would have to itself.
std::uint64_t l2_bytes_of(const LineSharing& lines, std::uint32_t divisor, const Gpu& gpu) {
  double other_samples = 0; // of the sample's lines, the parts that other samples account for
  lines.each_in_sample([&](std::uint32_t, unsigned samples) { other_samples += 1 - 1.0 / samples; });
  const double bytes = double(gpu.l2_bytes);
  const double all = double(lines.accessed()) * line_bytes;
  const double shared = other_samples * line_bytes * std::min(1.0, bytes / std::max(all, 1.0));
  return std::uint64_t(std::min(bytes, bytes / divisor + shared));
}

} // namespace

std::uint64_t work_of(const Snapshot& snapshot) {
  std::uint64_t work = snapshot.transactions;
  const std::vector<std::uint64_t> instructions =
      snapshot.code ? instructions_of_paths(*snapshot.code) : std::vector<std::uint64_t>();
  for (const Warp& warp : snapshot.warps)
    work += instructions.empty() ? warp.accesses.size() : instructions[warp.path];
  return work;
}

std::uint32_t divisor_for(std::uint64_t work, std::uint64_t all, const Snapshot& snapshot, const Gpu& gpu) {
  std::uint32_t largest = 1;
  for (std::uint32_t divisor = 1; divisor <= max_samples; ++divisor) {
    if (gpu.sms % divisor != 0 ||
        (divisor > 1 && (gpu.sms / divisor < fewest_sms || snapshot.blocks.size() / divisor < fewest_blocks)))
      continue;
    largest = divisor;
    if (all / divisor <= work)
      break;
  }
  return largest;
}

ScaleModel build_scale_model(std::uint32_t divisor, const Snapshot& snapshot, const Gpu& gpu,
                             const Occupancy& occupied, const MemoryHistory* history, Random random) {
  SampledBlocks sampled = sample_blocks(snapshot, std::uint64_t{occupied.blocks_per_sm} * gpu.sms, divisor);
  const LineSharing& lines = sampled.lines;
  ScaleModel scale{divisor, std::move(sampled.snapshot),
                   part_of_gpu(gpu, gpu.sms / divisor, l2_bytes_of(lines, divisor, gpu)), L2Before()};
  const PartOfLines part{lines_that_matter(gpu), [&](std::uint32_t line) {
                           constexpr std::uint32_t mix = 0x9e3779b9; // Knuth's multiplicative hash
                           return lines.is_accessed(line) ? lines.is_in_sample(line)
                                                          : (line * mix >> 16) % divisor == 0;
                         }};
  if (history != nullptr)
    scale.before = l2_before(*history, scale.snapshot, scale.gpu, scale.gpu.l2.partitions, &part);
  if (scale.before.l2.empty() && !snapshot.whole_grid)
    return scale; // Memory fills the L2 with what earlier blocks left
  std::vector<L2>& l2 = scale.before.l2;
  lines.each_in_sample([&](std::uint32_t line, unsigned samples) {
    if (random.fraction() * samples < 1)
      return;
    while (l2.size() < scale.gpu.l2.partitions)
      l2.push_back(L2::partition_of(scale.gpu));
    l2[home_partition(line, scale.gpu.l2.partitions)].load(line, whole_line,
                                                           [](std::uint32_t, unsigned, unsigned) {});
  });
  return scale;
}

} // namespace warplens::model
