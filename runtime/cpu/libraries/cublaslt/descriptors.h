// The contents of cuBLASLt's opaque descriptors, which are this project's own. The header gives their sizes;
// a program may copy them.
#pragma once

#include <cstdint>
#include <cublasLt.h>

namespace warplens::libraries {

struct MatrixLayout {
  std::int32_t type, order;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batch_count;
  std::uint32_t batch_mode;
  std::int64_t batch_stride, plane_offset;
};
static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct MatmulDescription {
  std::int32_t compute, scale_type, pointer_mode, a_operation, b_operation, c_operation, fill;
  std::uint32_t epilogue;
  const void* bias;
  std::int64_t bias_batch_stride;
  void* aux;
  std::int64_t aux_leading, aux_batch_stride, alpha_batch_stride;
  const void *a_scale, *b_scale, *c_scale, *d_scale;
  void *amax_d, *aux_amax, *d_out_scale;
  const void* aux_scale;
  const void* emulation;
  std::int32_t sm_count_target, aux_type, bias_type, a_scale_mode, b_scale_mode, c_scale_mode, d_scale_mode,
      aux_scale_mode, d_out_scale_mode;
  std::int8_t fast_accumulation;
};
static_assert(sizeof(MatmulDescription) <= sizeof(cublasLtMatmulDescOpaque_t));

struct TransformDescription {
  std::int32_t scale_type, pointer_mode, a_operation, b_operation;
};
static_assert(sizeof(TransformDescription) <= sizeof(cublasLtMatrixTransformDescOpaque_t));

inline TransformDescription& contents(cublasLtMatrixTransformDesc_t description) {
  return *reinterpret_cast<TransformDescription*>(description->data);
}
inline MatrixLayout& contents(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<MatrixLayout*>(layout->data);
}
inline MatmulDescription& contents(cublasLtMatmulDesc_t description) {
  return *reinterpret_cast<MatmulDescription*>(description->data);
}

/// The elements between two rows or columns of a matrix.
inline std::int64_t row_stride(const MatrixLayout& layout) {
  return layout.order == CUBLASLT_ORDER_ROW ? layout.leading : 1;
}
inline std::int64_t column_stride(const MatrixLayout& layout) {
  return layout.order == CUBLASLT_ORDER_ROW ? 1 : layout.leading;
}

} // namespace warplens::libraries
