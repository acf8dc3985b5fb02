#pragma once

/// Adds over the lanes of a warp; lane 0 has the sum.
__device__ float add_lanes(float value);
