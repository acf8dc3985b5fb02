// The copies by tensor maps share this: boxes of halves, the maps of tensors, and how boxes are numbered.
#pragma once

#include "sm_90.h"

#include <cuda.h>

namespace measure {

/// To which boxes are aligned in shared memory, as the widest swizzle has it.
constexpr unsigned smallest_place = 1024;

struct Box {
  const char* name;
  unsigned rank;
  unsigned logs[3]; ///< of its sizes to base 2
  CUtensorMapSwizzle swizzle;

  unsigned bytes() const { return 2U << (logs[0] + logs[1] + logs[2]); }
};
inline constexpr Box boxes[] = {
    {"64", 1, {6, 0, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"256", 1, {8, 0, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"8x8", 2, {3, 3, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"16x16", 2, {4, 4, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"32x32", 2, {5, 5, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"64x8", 2, {6, 3, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"64x64", 2, {6, 6, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"128x64", 2, {7, 6, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"256x64", 2, {8, 6, 0}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"16x64:32B", 2, {4, 6, 0}, CU_TENSOR_MAP_SWIZZLE_32B},
    {"32x64:64B", 2, {5, 6, 0}, CU_TENSOR_MAP_SWIZZLE_64B},
    {"64x8:128B", 2, {6, 3, 0}, CU_TENSOR_MAP_SWIZZLE_128B},
    {"64x64:128B", 2, {6, 6, 0}, CU_TENSOR_MAP_SWIZZLE_128B},
    {"64x128:128B", 2, {6, 7, 0}, CU_TENSOR_MAP_SWIZZLE_128B},
    {"64x256:128B", 2, {6, 8, 0}, CU_TENSOR_MAP_SWIZZLE_128B},
    {"32x4x4", 3, {5, 2, 2}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"64x8x8", 3, {6, 3, 3}, CU_TENSOR_MAP_SWIZZLE_NONE},
    {"64x8x8:128B", 3, {6, 3, 3}, CU_TENSOR_MAP_SWIZZLE_128B},
};

/// A tensor, and how its boxes are numbered: along its rows, then down.
struct Tensor {
  CUtensorMap map;
  unsigned box_logs[3], count_logs[3];
};

/// Makes the map of a tensor of 2^log bytes, with rows of 8 KiB or, of three dimensions, 64 rows of 512
/// bytes. Returns whether the driver can.
inline bool map_tensor(Tensor& tensor, const Box& box, void* memory, unsigned log) {
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
        "entry point");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(
        found == cudaDriverEntryPointSuccess ? entry : nullptr);
  }();
  const unsigned halves = log - 1;
  const unsigned logs_of_rank[3][3] = {{halves, 0, 0}, {12, halves - 12, 0}, {8, 6, halves - 14}};
  const unsigned(&logs)[3] = logs_of_rank[box.rank - 1];
  cuuint64_t sizes[3], strides[2] = {cuuint64_t{2} << logs[0], cuuint64_t{2} << (logs[0] + logs[1])};
  cuuint32_t box_sizes[3], steps[3] = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    sizes[i] = cuuint64_t{1} << logs[i];
    box_sizes[i] = 1U << box.logs[i];
    tensor.box_logs[i] = box.logs[i];
    tensor.count_logs[i] = logs[i] - box.logs[i];
  }
  const CUresult status = encode == nullptr
                              ? CUDA_ERROR_NOT_FOUND
                              : encode(&tensor.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, box.rank, memory, sizes,
                                       strides, box_sizes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, box.swizzle,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    std::fprintf(stderr, "%s: no map: error %d\n", box.name, static_cast<int>(status));
  return status == CUDA_SUCCESS;
}

struct Place {
  int x, y, z;
};

__device__ inline Place place_of(const Tensor& tensor, unsigned number) {
  const auto next = [&](unsigned i) {
    const unsigned at = number & ((1U << tensor.count_logs[i]) - 1);
    number >>= tensor.count_logs[i];
    return static_cast<int>(at << tensor.box_logs[i]);
  };
  const int x = next(0), y = next(1);
  return {x, y, next(2)};
}

/// Returns the index of the first box of a launch; in memory, boxes that no recent launch has used.
inline unsigned first_box(bool far, unsigned boxes_used) {
  static unsigned next = 0;
  return far ? (next += boxes_used) - boxes_used : 0;
}

/// Calls `measure_box(box, tensor, far)` for each of the boxes, of tensors in the L2 and in memory.
template <class MeasureBox> void for_each_box(MeasureBox measure_box) {
  Memory memory;
  for (const bool far : {false, true}) {
    const unsigned log = far ? 30 : 23;
    char* const begin = memory.part(far, std::size_t{1} << log);
    for (const Box& box : boxes) {
      Tensor tensor;
      if (map_tensor(tensor, box, begin, log))
        measure_box(box, tensor, far);
    }
  }
}

} // namespace measure
