// Stage: measured times of placements → the paper's regression of the overlap.
#pragma once

#include "driver/options.h"
#include "model/model.h"
#include "placement/experiment.h"

#include <filesystem>
#include <span>

namespace warplens::driver {

/// Returns whether a launch can have taken this time: from a nanosecond to a thousand seconds.
constexpr bool is_time_of_launch(double nanoseconds) {
  return nanoseconds >= 1 && nanoseconds <= 1e12;
}

/// Trains on a table of comma-separated values with the columns `trace` (a file, relative to the table's
/// folder), `gpu`, `moves` (as --move takes them; empty: as the trace has it) and `nanoseconds` (of one
/// launch, measured); `kernel` chooses among the trace's launches, by its name or a part of it. The error
/// names the table's line.
Expected<placement::OverlapModel> train_overlap(const std::filesystem::path& table,
                                                std::span<const placement::Addressing> addressing,
                                                const model::Options& options,
                                                const placement::EstimateOptions& estimates,
                                                const ModelOptions& gpus);

} // namespace warplens::driver
