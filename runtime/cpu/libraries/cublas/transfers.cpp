// Copies of vectors and matrices between host and device, as boxes of elements.
#include "runtime/cpu/libraries/cublas/handle.h"

using namespace warplens::libraries;

namespace {

cublasStatus_t copy(std::int64_t rows, std::int64_t columns, std::int64_t element, const void* from,
                    std::int64_t from_leading, void* to, std::int64_t to_leading, cudaStream_t stream,
                    bool waits) {
  if (rows < 0 || columns < 0 || element <= 0 || from_leading <= 0 || to_leading <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0)
    return CUBLAS_STATUS_SUCCESS;
  const auto bytes = [&](std::int64_t elements) { return std::size_t(elements * element); };
  const cudaError_t error =
      waits ? cudaMemcpy2D(to, bytes(to_leading), from, bytes(from_leading), bytes(rows),
                           std::size_t(columns), cudaMemcpyDefault)
            : cudaMemcpy2DAsync(to, bytes(to_leading), from, bytes(from_leading), bytes(rows),
                                std::size_t(columns), cudaMemcpyDefault, stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

} // namespace

#define COPY_FUNCTION(name, PARAMETERS, ...)                                                                 \
  extern "C" cublasStatus_t name PARAMETERS(int) {                                                           \
    return copy(__VA_ARGS__);                                                                                \
  }                                                                                                          \
  extern "C" cublasStatus_t name##_64 PARAMETERS(std::int64_t) {                                             \
    return copy(__VA_ARGS__);                                                                                \
  }
// A vector is a matrix of one row, whose columns are as far apart as its elements.
#define VECTOR_PARAMETERS(I) (I count, I element, const void* from, I from_step, void* to, I to_step)
#define VECTOR_PARAMETERS_ASYNC(I)                                                                           \
  (I count, I element, const void* from, I from_step, void* to, I to_step, cudaStream_t stream)
#define MATRIX_PARAMETERS(I)                                                                                 \
  (I rows, I columns, I element, const void* from, I from_leading, void* to, I to_leading)
#define MATRIX_PARAMETERS_ASYNC(I)                                                                           \
  (I rows, I columns, I element, const void* from, I from_leading, void* to, I to_leading,                   \
   cudaStream_t stream)

COPY_FUNCTION(cublasSetVector, VECTOR_PARAMETERS, 1, count, element, from, from_step, to, to_step, nullptr,
              true)
COPY_FUNCTION(cublasGetVector, VECTOR_PARAMETERS, 1, count, element, from, from_step, to, to_step, nullptr,
              true)
COPY_FUNCTION(cublasSetVectorAsync, VECTOR_PARAMETERS_ASYNC, 1, count, element, from, from_step, to, to_step,
              stream, false)
COPY_FUNCTION(cublasGetVectorAsync, VECTOR_PARAMETERS_ASYNC, 1, count, element, from, from_step, to, to_step,
              stream, false)
COPY_FUNCTION(cublasSetMatrix, MATRIX_PARAMETERS, rows, columns, element, from, from_leading, to, to_leading,
              nullptr, true)
COPY_FUNCTION(cublasGetMatrix, MATRIX_PARAMETERS, rows, columns, element, from, from_leading, to, to_leading,
              nullptr, true)
COPY_FUNCTION(cublasSetMatrixAsync, MATRIX_PARAMETERS_ASYNC, rows, columns, element, from, from_leading, to,
              to_leading, stream, false)
COPY_FUNCTION(cublasGetMatrixAsync, MATRIX_PARAMETERS_ASYNC, rows, columns, element, from, from_leading, to,
              to_leading, stream, false)
