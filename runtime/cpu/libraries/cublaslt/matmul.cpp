// cublasLtMatmul: D = epilogue(alpha · op(A) · op(B) + beta · C). One algorithm serves for all.
#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/libraries/cublaslt/descriptors.h"
#include "runtime/cpu/libraries/product.h"

#include <optional>

namespace warplens::libraries {
namespace {

/// A call, with copies of its descriptors: a program may destroy them before a graph runs.
struct Matmul {
  MatmulDescription description;
  MatrixLayout a, b, c, d;
  const void *alpha, *a_data, *b_data, *beta, *c_data;
  void* d_data;
};

Operand operand(const MatrixLayout& layout, const void* data, std::int32_t operation, std::int64_t batch) {
  const auto type = cudaDataType(layout.type);
  const bool as_stored = operation == CUBLAS_OP_N;
  return {static_cast<const char*>(data) + batch * layout.batch_stride * std::int64_t(bytes_of(type)), type,
          as_stored ? row_stride(layout) : column_stride(layout),
          as_stored ? column_stride(layout) : row_stride(layout), operation == CUBLAS_OP_C};
}

/// The approximation by tanh, which cuBLASLt computes.
template <class S> S gelu(S x) {
  constexpr S factor = S(0.7978845608028654); // √(2/π)
  return S(0.5) * x * (1 + std::tanh(factor * (x + S(0.044715) * x * x * x)));
}
template <class S> S gelu_derivative(S x) {
  constexpr S factor = S(0.7978845608028654);
  const S inner = std::tanh(factor * (x + S(0.044715) * x * x * x));
  return S(0.5) * (1 + inner) + S(0.5) * x * (1 - inner * inner) * factor * (1 + 3 * S(0.044715) * x * x);
}

/// Returns why the call is not computed here; nothing if it is.
const char* refusal(const Matmul& call) {
  const MatmulDescription& how = call.description;
  for (const MatrixLayout* layout : {&call.a, &call.b, &call.c, &call.d})
    if ((layout->order != CUBLASLT_ORDER_COL && layout->order != CUBLASLT_ORDER_ROW) ||
        layout->plane_offset != 0 || layout->batch_mode != CUBLASLT_BATCH_MODE_STRIDED ||
        bytes_of(cudaDataType(layout->type)) == 0)
      return "its matrices lie in rows or columns, with types of 8 bits and more";
  if (how.pointer_mode != CUBLASLT_POINTER_MODE_HOST && how.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
    return "alpha and beta are scalars";
  if (how.a_scale_mode || how.b_scale_mode || how.c_scale_mode || how.d_scale_mode || how.emulation)
    return "the scale of a matrix is one scalar";
  if (how.aux_scale || how.aux_amax)
    return "it neither scales nor measures an auxiliary output";
  if (how.fill != CUBLAS_FILL_MODE_FULL || how.c_operation != CUBLAS_OP_N)
    return "results are whole, and C is as it is stored";
  switch (how.epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DGELU: return nullptr;
  default: return "it has no such epilogue";
  }
}

/// Applies the epilogue to a value of row `i` and column `j`. S is a real number.
template <class S> S finish(const Matmul& call, S value, std::int64_t i, std::int64_t j, std::int64_t batch) {
  const MatmulDescription& how = call.description;
  const auto d_type = cudaDataType(call.d.type);
  if (how.epilogue & CUBLASLT_EPILOGUE_BIAS) {
    const cudaDataType type = how.bias_type >= 0      ? cudaDataType(how.bias_type)
                              : bytes_of(d_type) == 1 ? CUDA_R_16BF
                                                      : d_type;
    value += read<S>(type, how.bias, i + batch * how.bias_batch_stride);
  }
  const cudaDataType aux_type = how.aux_type >= 0 ? cudaDataType(how.aux_type) : d_type;
  const std::int64_t aux_at = i + j * how.aux_leading + batch * how.aux_batch_stride;
  if (how.epilogue == CUBLASLT_EPILOGUE_DGELU)
    return value * gelu_derivative(read<S>(aux_type, how.aux, aux_at));
  if (how.epilogue & CUBLASLT_EPILOGUE_GELU) {
    if (how.epilogue & 128) // with what goes into GELU, for the way back
      write<S>(aux_type, how.aux, value, aux_at);
    return gelu(value);
  }
  return how.epilogue & CUBLASLT_EPILOGUE_RELU ? std::max(value, S(0)) : value;
}

template <class T, class S> void multiply(const Matmul& call, S alpha, S beta) {
  const auto d_type = cudaDataType(call.d.type), c_type = cudaDataType(call.c.type);
  const MatmulDescription& how = call.description;
  const auto m = std::int64_t(call.d.rows), n = std::int64_t(call.d.columns),
             k = std::int64_t(how.a_operation == CUBLAS_OP_N ? call.a.columns : call.a.rows);
  for (const void* scale : {how.a_scale, how.b_scale})
    if (scale)
      alpha *= S(*static_cast<const float*>(scale));
  if (how.c_scale)
    beta *= S(*static_cast<const float*>(how.c_scale));
  double largest = 0;
  for (std::int64_t batch = 0; batch < call.d.batch_count; ++batch) {
    const std::vector<T> sums = product<T>(m, n, k, operand(call.a, call.a_data, how.a_operation, batch),
                                           operand(call.b, call.b_data, how.b_operation, batch));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        S value = alpha * convert<S>(sums[std::size_t(i + j * m)]);
        if (beta != S(0))
          value += beta *
                   read<S>(c_type, call.c_data,
                           i * row_stride(call.c) + j * column_stride(call.c) + batch * call.c.batch_stride);
        if constexpr (!is_complex<S>) {
          value = finish(call, value, i, j, batch);
          largest = std::max(largest, std::abs(double(value)));
          if (how.d_scale)
            value *= S(*static_cast<const float*>(how.d_scale));
        }
        write<S>(d_type, call.d_data, value,
                 i * row_stride(call.d) + j * column_stride(call.d) + batch * call.d.batch_stride);
      }
  }
  if (how.amax_d)
    *static_cast<float*>(how.amax_d) = float(largest);
}

/// T is the type of the sums, S that of the scalars.
template <class T, class S = T> cublasStatus_t issue(const Matmul& call, cudaStream_t stream) {
  const auto type = cudaDataType(call.description.scale_type);
  std::optional<std::pair<S, S>> scalars;
  if (call.description.pointer_mode == CUBLASLT_POINTER_MODE_HOST)
    scalars.emplace(read<S>(type, call.alpha), call.beta ? read<S>(type, call.beta) : S(0));
  const auto work = [=] {
    const auto [alpha, beta] =
        scalars ? *scalars
                : std::pair(read<S>(type, call.alpha), call.beta ? read<S>(type, call.beta) : S(0));
    multiply<T, S>(call, alpha, beta);
  };
  return __warplens_cpu_library_call("cublasLtMatmul", stream, work) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool fits(const Matmul& call) {
  const auto rows_of = [](const MatrixLayout& layout, std::int32_t operation) {
    return operation == CUBLAS_OP_N ? layout.rows : layout.columns;
  };
  const auto columns_of = [](const MatrixLayout& layout, std::int32_t operation) {
    return operation == CUBLAS_OP_N ? layout.columns : layout.rows;
  };
  const auto a = call.description.a_operation, b = call.description.b_operation;
  for (const MatrixLayout* layout : {&call.a, &call.b, &call.c, &call.d})
    if (layout->leading < std::int64_t(layout->order == CUBLASLT_ORDER_ROW ? layout->columns : layout->rows))
      return false;
  return rows_of(call.a, a) == call.d.rows && columns_of(call.b, b) == call.d.columns &&
         columns_of(call.a, a) == rows_of(call.b, b) && call.c.rows == call.d.rows &&
         call.c.columns == call.d.columns;
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

extern "C" {

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!description || !alpha || !a || !b || !d || !a_layout || !b_layout || !d_layout)
    return CUBLAS_STATUS_INVALID_VALUE;
  const Matmul call{contents(description),
                    contents(a_layout),
                    contents(b_layout),
                    contents(c_layout ? c_layout : d_layout),
                    contents(d_layout),
                    alpha,
                    a,
                    b,
                    beta,
                    c,
                    d};
  if (!fits(call))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (const char* const why = refusal(call)) {
    __warplens_cpu_refuse_library_call("cublasLtMatmul", why);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool with_complex = call.d.type == CUDA_C_32F || call.d.type == CUDA_C_64F;
  switch (call.description.compute) {
  case CUBLAS_COMPUTE_64F:
  case CUBLAS_COMPUTE_64F_PEDANTIC:
    return with_complex ? issue<std::complex<double>>(call, stream) : issue<double>(call, stream);
  case CUBLAS_COMPUTE_32I:
  case CUBLAS_COMPUTE_32I_PEDANTIC:
    return call.description.scale_type == CUDA_R_32I ? issue<std::int32_t, double>(call, stream)
                                                     : issue<std::int32_t, float>(call, stream);
  default: return with_complex ? issue<std::complex<float>>(call, stream) : issue<float>(call, stream);
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested <= 0 || !results || !returned)
    return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t, cublasComputeType_t, cudaDataType, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, int requested, int ids[],
                                        int* returned) {
  if (requested <= 0 || !ids || !returned)
    return CUBLAS_STATUS_INVALID_VALUE;
  ids[0] = 0;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t, cublasComputeType_t, cudaDataType, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, int,
                                      cublasLtMatmulAlgo_t* algorithm) {
  if (!algorithm)
    return CUBLAS_STATUS_INVALID_VALUE;
  *algorithm = {};
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
