// Products of matrices: the family of GEMM. cuBLAS Library, "cuBLAS Level-3 Function Reference".
#include "runtime/cpu/libraries/cublas/handle.h"
#include "runtime/cpu/libraries/product.h"

#include <algorithm>

namespace warplens::libraries {
namespace {

struct Shape {
  cublasOperation_t a_operation, b_operation;
  std::int64_t m, n, k;
  cudaDataType a_type;
  std::int64_t a_leading;
  cudaDataType b_type;
  std::int64_t b_leading;
  cudaDataType c_type;
  std::int64_t c_leading;
  bool is_valid() const {
    const auto holds = [](cublasOperation_t operation, std::int64_t leading, std::int64_t rows,
                          std::int64_t columns) {
      return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_CONJG &&
             leading >= std::max<std::int64_t>(
                            1, operation == CUBLAS_OP_N || operation == CUBLAS_OP_CONJG ? rows : columns);
    };
    return m >= 0 && n >= 0 && k >= 0 && holds(a_operation, a_leading, m, k) &&
           holds(b_operation, b_leading, k, n) && c_leading >= std::max<std::int64_t>(1, m);
  }
};

/// Where the matrices of a batch lie: a fixed distance apart, or by arrays of pointers in the device's
/// memory.
struct Batch {
  const void *a, *b;
  void* c;
  std::int64_t count = 1, a_stride = 0, b_stride = 0, c_stride = 0;
  bool by_pointers = false;
};

Operand operand(const void* data, cudaDataType type, std::int64_t leading, cublasOperation_t operation) {
  const bool as_stored = operation == CUBLAS_OP_N || operation == CUBLAS_OP_CONJG;
  return {data, type, as_stored ? 1 : leading, as_stored ? leading : 1,
          operation == CUBLAS_OP_C || operation == CUBLAS_OP_CONJG};
}

/// C = alpha · op(A) · op(B) + beta · C. S is the type of the scalars.
template <class T, class S>
void multiply(const Shape& shape, S alpha, const void* a, const void* b, S beta, void* c) {
  // With alpha = 0, A and B may be no numbers, or not be there.
  const std::vector<T> sums = alpha == S(0)
                                  ? std::vector<T>(std::size_t(shape.m * shape.n))
                                  : product<T>(shape.m, shape.n, shape.k,
                                               operand(a, shape.a_type, shape.a_leading, shape.a_operation),
                                               operand(b, shape.b_type, shape.b_leading, shape.b_operation));
  with_type(shape.c_type, [&]<class C>(Tag<C>) {
    for (std::int64_t j = 0; j < shape.n; ++j)
      for (std::int64_t i = 0; i < shape.m; ++i) {
        C& place = static_cast<C*>(c)[i + j * shape.c_leading];
        const S sum = alpha * convert<S>(sums[std::size_t(i + j * shape.m)]);
        place = convert<C>(
            beta == S(0) ? sum : sum + beta * convert<S>(place)); // with beta = 0, C may be no numbers
      }
  });
}

template <class T, class S = T>
cublasStatus_t gemm(const char* function, cublasHandle_t handle, const Shape& shape, const void* alpha,
                    const void* beta, cudaDataType scalar_type, const Batch& batch) {
  return checked(handle, alpha && beta && shape.is_valid() && batch.count >= 0, [&] {
    const auto a_bytes = std::int64_t(bytes_of(shape.a_type)), b_bytes = std::int64_t(bytes_of(shape.b_type)),
               c_bytes = std::int64_t(bytes_of(shape.c_type));
    if (!a_bytes || !b_bytes || !c_bytes)
      return refuse(function, "it has no matrices of these types");
    if (shape.m == 0 || shape.n == 0 || batch.count == 0)
      return CUBLAS_STATUS_SUCCESS;
    return issue(
        handle, function,
        [=, alpha = scalar<S>(handle, alpha, scalar_type), beta = scalar<S>(handle, beta, scalar_type)] {
          for (std::int64_t i = 0; i < batch.count; ++i) {
            const auto* const a = batch.by_pointers
                                      ? static_cast<const void* const*>(batch.a)[i]
                                      : static_cast<const char*>(batch.a) + i * batch.a_stride * a_bytes;
            const auto* const b = batch.by_pointers
                                      ? static_cast<const void* const*>(batch.b)[i]
                                      : static_cast<const char*>(batch.b) + i * batch.b_stride * b_bytes;
            auto* const c = batch.by_pointers ? static_cast<void* const*>(batch.c)[i]
                                              : static_cast<char*>(batch.c) + i * batch.c_stride * c_bytes;
            multiply<T, S>(shape, alpha(), a, b, beta(), c);
          }
        });
  });
}

/// Half precision computes in single precision.
template <class T> using Computed = std::conditional_t<std::is_same_v<T, Half>, float, T>;

template <class T>
cublasStatus_t gemm_of(const char* function, cublasHandle_t handle, cublasOperation_t a_operation,
                       cublasOperation_t b_operation, std::int64_t m, std::int64_t n, std::int64_t k,
                       const void* alpha, std::int64_t a_leading, std::int64_t b_leading, const void* beta,
                       std::int64_t c_leading, const Batch& batch) {
  using N = Number<T>;
  constexpr cudaDataType type = data_type<N>;
  return gemm<Computed<N>>(
      function, handle,
      {a_operation, b_operation, m, n, k, type, a_leading, type, b_leading, type, c_leading}, alpha, beta,
      type, batch);
}

/// Chooses the type of sums and scalars: cuBLAS Library, table of cublasGemmEx.
cublasStatus_t gemm_ex(const char* function, cublasHandle_t handle, const Shape& shape, const void* alpha,
                       const void* beta, const Batch& batch, cublasComputeType_t compute) {
  const bool with_complex = shape.c_type == CUDA_C_32F || shape.c_type == CUDA_C_64F;
  switch (compute) {
  case CUBLAS_COMPUTE_16F:
  case CUBLAS_COMPUTE_16F_PEDANTIC:
    return gemm<float>(function, handle, shape, alpha, beta, CUDA_R_16F, batch);
  case CUBLAS_COMPUTE_64F:
  case CUBLAS_COMPUTE_64F_PEDANTIC:
    return with_complex ? gemm<std::complex<double>>(function, handle, shape, alpha, beta, CUDA_C_64F, batch)
                        : gemm<double>(function, handle, shape, alpha, beta, CUDA_R_64F, batch);
  case CUBLAS_COMPUTE_32I:
  case CUBLAS_COMPUTE_32I_PEDANTIC:
    return gemm<std::int32_t>(function, handle, shape, alpha, beta, CUDA_R_32I, batch);
  case CUBLAS_COMPUTE_32F:
  case CUBLAS_COMPUTE_32F_PEDANTIC:
  case CUBLAS_COMPUTE_32F_FAST_16F:
  case CUBLAS_COMPUTE_32F_FAST_16BF:
  case CUBLAS_COMPUTE_32F_FAST_TF32:
    return with_complex ? gemm<std::complex<float>>(function, handle, shape, alpha, beta, CUDA_C_32F, batch)
                        : gemm<float>(function, handle, shape, alpha, beta, CUDA_R_32F, batch);
  default: return refuse(function, "it does not compute in this type");
  }
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

#define OPERATIONS(I) cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, I m, I n, I k
#define GEMM(T, I)                                                                                           \
  (OPERATIONS(I), const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, T* c, I ldc)
#define GEMM_STRIDED(T, I)                                                                                   \
  (OPERATIONS(I), const T* alpha, const T* a, I lda, long long stride_a, const T* b, I ldb,                  \
   long long stride_b, const T* beta, T* c, I ldc, long long stride_c, I count)
#define GEMM_BATCHED(T, I)                                                                                   \
  (OPERATIONS(I), const T* alpha, const T* const a[], I lda, const T* const b[], I ldb, const T* beta,       \
   T* const c[], I ldc, I count)
#define GEMM_FUNCTION(name, T)                                                                               \
  CUBLAS_FUNCTION(name, GEMM, T,                                                                             \
                  gemm_of<T>(function, handle, ta, tb, m, n, k, alpha, lda, ldb, beta, ldc, {a, b, c}))
#define GEMM_FUNCTIONS(prefix, T)                                                                            \
  CUBLAS_FUNCTION(prefix##gemmStridedBatched, GEMM_STRIDED, T,                                               \
                  gemm_of<T>(function, handle, ta, tb, m, n, k, alpha, lda, ldb, beta, ldc,                  \
                             {a, b, c, count, stride_a, stride_b, stride_c}))                                \
  CUBLAS_FUNCTION(prefix##gemmBatched, GEMM_BATCHED, T,                                                      \
                  gemm_of<T>(function, handle, ta, tb, m, n, k, alpha, lda, ldb, beta, ldc,                  \
                             {a, b, const_cast<T**>(c), count, 0, 0, 0, true}))
GEMM_FUNCTION(cublasSgemm, float)
GEMM_FUNCTION(cublasDgemm, double)
GEMM_FUNCTION(cublasCgemm, cuComplex)
GEMM_FUNCTION(cublasZgemm, cuDoubleComplex)
GEMM_FUNCTION(cublasHgemm, __half)
GEMM_FUNCTION(cublasCgemm3m, cuComplex)
GEMM_FUNCTION(cublasZgemm3m, cuDoubleComplex)
GEMM_FUNCTIONS(cublasS, float)
GEMM_FUNCTIONS(cublasD, double)
GEMM_FUNCTIONS(cublasC, cuComplex)
GEMM_FUNCTIONS(cublasZ, cuDoubleComplex)
GEMM_FUNCTIONS(cublasH, __half)

#define GEMM_EX_S(T, I)                                                                                      \
  (OPERATIONS(I), const T* alpha, const void* a, cudaDataType a_type, I lda, const void* b,                  \
   cudaDataType b_type, I ldb, const T* beta, void* c, cudaDataType c_type, I ldc)
CUBLAS_FUNCTION(cublasSgemmEx, GEMM_EX_S, float,
                gemm<float>(function, handle, {ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc}, alpha,
                            beta, CUDA_R_32F, {a, b, c}))
CUBLAS_FUNCTION(cublasCgemmEx, GEMM_EX_S, cuComplex,
                gemm<std::complex<float>>(function, handle,
                                          {ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc}, alpha,
                                          beta, CUDA_C_32F, {a, b, c}))
#define GEMM_EX(T, I)                                                                                        \
  (OPERATIONS(I), const void* alpha, const void* a, T a_type, I lda, const void* b, T b_type, I ldb,         \
   const void* beta, void* c, T c_type, I ldc, cublasComputeType_t compute, cublasGemmAlgo_t)
#define GEMM_EX_STRIDED(T, I)                                                                                \
  (OPERATIONS(I), const void* alpha, const void* a, T a_type, I lda, long long stride_a, const void* b,      \
   T b_type, I ldb, long long stride_b, const void* beta, void* c, T c_type, I ldc, long long stride_c,      \
   I count, cublasComputeType_t compute, cublasGemmAlgo_t)
#define GEMM_EX_BATCHED(T, I)                                                                                \
  (OPERATIONS(I), const void* alpha, const void* const a[], T a_type, I lda, const void* const b[],          \
   T b_type, I ldb, const void* beta, void* const c[], T c_type, I ldc, I count,                             \
   cublasComputeType_t compute, cublasGemmAlgo_t)
CUBLAS_FUNCTION(cublasGemmEx, GEMM_EX, cudaDataType,
                gemm_ex(function, handle, {ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc}, alpha,
                        beta, {a, b, c}, compute))
CUBLAS_FUNCTION(cublasGemmStridedBatchedEx, GEMM_EX_STRIDED, cudaDataType,
                gemm_ex(function, handle, {ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc}, alpha,
                        beta, {a, b, c, count, stride_a, stride_b, stride_c}, compute))
CUBLAS_FUNCTION(cublasGemmBatchedEx, GEMM_EX_BATCHED, cudaDataType,
                gemm_ex(function, handle, {ta, tb, m, n, k, a_type, lda, b_type, ldb, c_type, ldc}, alpha,
                        beta, {a, b, const_cast<void**>(c), count, 0, 0, 0, true}, compute))
