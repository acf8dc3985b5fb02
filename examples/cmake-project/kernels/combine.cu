#include "combine.cuh"

__device__ float add_lanes(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(~0u, value, offset);
  return value;
}
