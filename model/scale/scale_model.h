// A scale model: a part of the machine that executes as large a part of the snapshot, for a first answer.
#pragma once

#include "model/cache/l2_before.h"
#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"

#include <cstdint>
#include <optional>

namespace warplens::model {

/// The error of figures of a part of the machine against those of all of it: 95 % of the kernels of the table
/// of errors lie within (bench/first_answer.py prints them). Times as a share, hit rates in points.
inline constexpr double time_error_of_part = 0.12, hit_error_of_part = 0.06;

struct ScaleModel {
  std::uint32_t divisor = 1; ///< the machine is that many times as large
  Snapshot snapshot;
  Gpu gpu;
  L2Before before;
};

/// Returns the work of a trial that replays the snapshot, in visits of the clock: its transactions, and what
/// its warps execute.
std::uint64_t work_of(const Snapshot& snapshot);

/// Returns the smallest of the numbers that divide the GPU's SMs into parts of 8 at least and the snapshot's
/// blocks into parts of 4 at least whose trials have no more than `work` of the work `all` of a whole trial;
/// or the largest of them if none has.
std::uint32_t divisor_for(std::uint64_t work, std::uint64_t all, const Snapshot& snapshot, const Gpu& gpu);

/// Builds the model for a divisor above 1. The L2 begins with what the sample would find of `history`, null
/// if launches begin with an empty one, and with lines that other blocks share with the sample as often as
/// they, not it, are the first to access them. Its room is the sample's part, and what shared lines take
/// beyond their part.
ScaleModel build_scale_model(std::uint32_t divisor, const Snapshot& snapshot, const Gpu& gpu,
                             const Occupancy& occupied, const MemoryHistory* history, Random random);

} // namespace warplens::model
