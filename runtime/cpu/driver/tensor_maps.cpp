// Tensor maps for bulk copies: CUDA Driver API, "Tensor Map Object Management". machine/tensor_map.h says
// what a map contains.
#include "machine/tensor_map.h"
#include "runtime/cpu/driver/result.h"

using namespace warplens::cpu;
using warplens::machine::TensorMap;

namespace {

/// The arguments that both kinds of maps have.
struct Common {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

CUresult refuse(const char* function, const char* why) {
  say_refused(function, why);
  return CUDA_ERROR_NOT_SUPPORTED;
}

/// Checks what CUDA requires, and writes the common part of a map.
CUresult begin(TensorMap& map, const Common& common, const char* function) {
  if (common.rank < 1 || common.rank > TensorMap::max_rank || !common.address ||
      reinterpret_cast<std::uintptr_t>(common.address) % 16 != 0 || !common.sizes || !common.steps ||
      (common.rank > 1 && !common.strides))
    return CUDA_ERROR_INVALID_VALUE;
  const auto type = static_cast<TensorMap::Type>(common.type);
  if (bytes_of(type) == 0)
    return refuse(function, "it has no tensors of 4 or 6 bits");
  if (common.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return refuse(function, "its tensors are not interleaved");
  if (common.swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B)
    return refuse(function, "it has no such swizzle");
  map = {};
  map.type = type;
  map.rank = static_cast<std::uint8_t>(common.rank);
  map.swizzle = static_cast<TensorMap::Swizzle>(common.swizzle);
  map.fills_with_nan = common.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const bool is_float = type >= TensorMap::Type::f16;
  if (map.fills_with_nan && !is_float)
    return CUDA_ERROR_INVALID_VALUE;
  map.address = reinterpret_cast<std::uintptr_t>(common.address);
  for (unsigned i = 0; i < common.rank; ++i) {
    if (common.sizes[i] == 0 || common.sizes[i] > std::uint64_t{1} << 32 || common.steps[i] == 0 ||
        common.steps[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    map.last[i] = static_cast<std::uint32_t>(common.sizes[i] - 1);
    map.steps[i] = static_cast<std::uint8_t>(common.steps[i]);
    if (i == 0)
      continue;
    const cuuint64_t stride = common.strides[i - 1];
    if (stride % 16 != 0 || stride >= std::uint64_t{1} << 40)
      return CUDA_ERROR_INVALID_VALUE;
    map.strides[i - 1] = stride;
  }
  // The first dimension lies without gaps, whatever its step.
  map.steps[0] = 1;
  return CUDA_SUCCESS;
}

/// Returns the widest row that a swizzle takes.
std::uint64_t swizzle_bytes(TensorMap::Swizzle swizzle) {
  using enum TensorMap::Swizzle;
  return swizzle == none ? ~std::uint64_t{0} : swizzle == bytes_32 ? 32 : swizzle == bytes_64 ? 64 : 128;
}

/// Returns whether rows of this many bytes lie in shared memory as the swizzle requires.
bool fits(const TensorMap& map, std::uint64_t row_bytes) {
  return row_bytes % 16 == 0 && row_bytes <= swizzle_bytes(map.swizzle);
}

void write(CUtensorMap* to, const TensorMap& map) {
  static_assert(sizeof *to == warplens::machine::tensor_map_bytes);
  warplens::machine::write_tensor_map(map, to);
}

} // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill fill) {
  if (!to || !box)
    return CUDA_ERROR_INVALID_VALUE;
  TensorMap map;
  if (const CUresult wrong =
          begin(map, {type, rank, address, sizes, strides, steps, interleave, swizzle, fill},
                "cuTensorMapEncodeTiled");
      wrong != CUDA_SUCCESS)
    return wrong;
  for (unsigned i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > 256)
      return CUDA_ERROR_INVALID_VALUE;
    map.box[i] = static_cast<std::uint16_t>(box[i]);
  }
  const std::uint64_t row_bytes = std::uint64_t{box[0]} * bytes_of(map.type);
  if (!fits(map, row_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (map.swizzle != TensorMap::Swizzle::none && row_bytes < swizzle_bytes(map.swizzle)) {
    say_refused("cuTensorMapEncodeTiled", "where rows lie that are narrower than the swizzle is not known");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  write(to, map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill fill) {
  if (!to || rank < 3 || !lower || !upper || channels == 0 || channels > 256 || pixels == 0 || pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  TensorMap map;
  if (const CUresult wrong =
          begin(map, {type, rank, address, sizes, strides, steps, interleave, swizzle, fill},
                "cuTensorMapEncodeIm2col");
      wrong != CUDA_SUCCESS)
    return wrong;
  map.is_im2col = true;
  // The corners are given in the order of the dimensions as they lie in memory, innermost first, like the
  // sizes.
  for (unsigned i = 0; i + 2 < rank; ++i) {
    map.lower_corner[i] = static_cast<std::int16_t>(lower[i]);
    map.upper_corner[i] = static_cast<std::int16_t>(upper[i]);
  }
  map.channels = static_cast<std::uint16_t>(channels);
  map.pixels = static_cast<std::uint16_t>(pixels);
  if (!fits(map, std::uint64_t{channels} * bytes_of(map.type)))
    return CUDA_ERROR_INVALID_VALUE;
  write(to, map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* to, void* address) {
  if (!to || !address || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  auto map = warplens::machine::read_tensor_map(to);
  if (!map)
    return CUDA_ERROR_INVALID_VALUE;
  map->address = reinterpret_cast<std::uintptr_t>(address);
  write(to, *map);
  return CUDA_SUCCESS;
}

} // extern "C"
