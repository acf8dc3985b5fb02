// cublasLtMatrixTransform: C = alpha · op(A) + beta · op(B), which also changes types and orders.
#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/libraries/cublaslt/descriptors.h"
#include "runtime/cpu/libraries/numbers.h"

using namespace warplens::libraries;

namespace {

using Value = std::complex<double>; // holds the numbers of every type

struct Source {
  const void* data;
  MatrixLayout layout;
  std::int32_t operation;

  std::uint64_t rows() const { return operation == CUBLAS_OP_N ? layout.rows : layout.columns; }
  std::uint64_t columns() const { return operation == CUBLAS_OP_N ? layout.columns : layout.rows; }
  Value at(std::int64_t row, std::int64_t column, std::int64_t batch) const {
    const bool as_stored = operation == CUBLAS_OP_N;
    const Value value = read<Value>(cudaDataType(layout.type), data,
                                    row * (as_stored ? row_stride(layout) : column_stride(layout)) +
                                        column * (as_stored ? column_stride(layout) : row_stride(layout)) +
                                        batch * layout.batch_stride);
    return operation == CUBLAS_OP_C ? std::conj(value) : value;
  }
};

bool is_known(const MatrixLayout& layout) {
  return (layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW) &&
         layout.plane_offset == 0 && bytes_of(cudaDataType(layout.type)) != 0;
}

} // namespace

extern "C" cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                                  cublasLtMatrixTransformDesc_t description,
                                                  const void* alpha, const void* a,
                                                  cublasLtMatrixLayout_t a_layout, const void* beta,
                                                  const void* b, cublasLtMatrixLayout_t b_layout, void* c,
                                                  cublasLtMatrixLayout_t c_layout, cudaStream_t stream) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!description || !alpha || !a || !a_layout || !c || !c_layout || (b && (!b_layout || !beta)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const TransformDescription how = contents(description);
  const MatrixLayout to = contents(c_layout);
  const Source from{a, contents(a_layout), how.a_operation},
      other{b, b ? contents(b_layout) : contents(a_layout), b ? how.b_operation : how.a_operation};
  for (const Source* source : {&from, &other})
    if (source->rows() != to.rows || source->columns() != to.columns)
      return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_known(from.layout) || !is_known(other.layout) || !is_known(to)) {
    __warplens_cpu_refuse_library_call("cublasLtMatrixTransform",
                                       "its matrices lie in rows or columns, with types of 8 bits and more");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const auto type = cudaDataType(how.scale_type);
  const bool by_device = how.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  const auto scalar = [=](const void* place) { return place ? read<Value>(type, place) : Value(0); };
  const Value at_call[] = {by_device ? Value() : scalar(alpha), by_device ? Value() : scalar(beta)};
  const auto work = [=] {
    const Value of_a = by_device ? scalar(alpha) : at_call[0], of_b = by_device ? scalar(beta) : at_call[1];
    for (std::int64_t batch = 0; batch < to.batch_count; ++batch)
      for (std::int64_t column = 0; column < std::int64_t(to.columns); ++column)
        for (std::int64_t row = 0; row < std::int64_t(to.rows); ++row) {
          Value value = of_a * from.at(row, column, batch);
          if (other.data && of_b != Value(0))
            value += of_b * other.at(row, column, batch);
          write<Value>(cudaDataType(to.type), c, value,
                       row * row_stride(to) + column * column_stride(to) + batch * to.batch_stride);
        }
  };
  return __warplens_cpu_library_call("cublasLtMatrixTransform", stream, work) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}
