// The output of the measuring program (device/): one CSV file per curve in a folder. Cycles are of the SM's
// clock.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace warplens::calibration {

/// One point of a curve over two variables.
struct Sample {
  double x = 0, y = 0, cycles = 0;
};

/// Mean latency of a dependent load against the working set.
struct ChasePoint {
  double kib = 0, cycles = 0;
};

struct Curves {
  std::map<std::string, std::string> device; ///< CUDA's properties of the GPU, and "clock_mhz" as measured
  std::vector<ChasePoint> chase;             ///< one pointer per 128 bytes, through L1 and L2

  // The following are absent from folders that hold published curves only.
  std::vector<Sample> strides; ///< x: bytes from pointer to pointer, y: pointers
  std::vector<Sample>
      touch_l1; ///< x: the second load's offset behind the first in bytes; both bypass nothing
  std::vector<Sample> touch_l2;           ///< like touch_l1, with loads that bypass the L1, from memory
  std::map<std::string, double> policies; ///< cycles of one load after a history; see device/touches.cu
  std::vector<Sample> distance;           ///< x: SM, y: 0 for the first load of a line, 1 for the second
  std::vector<Sample> bits;               ///< x: the one bit in which two addresses differ
  std::vector<Sample> batches; ///< x: SMs, y: requests of each at once; cycles until all have arrived
  std::map<std::string, double> on_chip; ///< cycles in shared and constant memory
  double read_gb_per_s = 0;              ///< memory bandwidth, all SMs streaming; 0: not measured
};

/// Reads the folder. device.csv and chase.csv must be there; the error names file and line.
Expected<Curves> read_curves(const std::filesystem::path& folder);

} // namespace warplens::calibration
