// cuBLAS and cuBLASLt against loops on the host.
#include "expect.h"

#include <cmath>
#include <complex>
#include <cstdio>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

template <class T> std::vector<T> pattern(std::size_t count, int modulus) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(T(float(int(i % modulus) - modulus / 2) / 4));
  return values;
}
static bool near(double a, double b, double tolerance = 1e-5) { return std::fabs(a - b) <= tolerance * (1 + std::fabs(b)); }

__global__ void doubled(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}

constexpr int m = 37, n = 29, k = 300;

static void gemm(cublasHandle_t handle) {
  const auto a = pattern<float>(m * k, 7), b = pattern<float>(n * k, 5), c = pattern<float>(m * n, 3);
  float *da = device(a), *db = device(b), *dc = device(c);
  const float alpha = 2, beta = -1;
  EXPECT(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, &alpha, da, k, db, n, &beta, dc, m) == CUBLAS_STATUS_SUCCESS);
  doubled<<<(m * n + 127) / 128, 128>>>(dc, m * n);
  const auto got = host(dc, m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(a[l + i * k]) * b[j + l * n];
      if (!near(got[i + j * m], 2 * (2 * sum - c[i + j * m])))
        {
        EXPECT(!"SGEMM's elements");
        return;
      }
    }
  EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m - 1, db, k, &beta, dc, m) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m, db, k, &beta, dc, m) == CUBLAS_STATUS_NOT_INITIALIZED);

  // Half, bfloat16 and bytes; strided batches; scalars in the device's memory.
  const auto ah = pattern<__half>(m * k * 2, 7);
  const auto bh = pattern<__half>(n * k * 2, 5);
  __half *dah = device(ah), *dbh = device(bh);
  float *dch = device(std::vector<float>(m * n * 2)), *scalars = device(std::vector<float>{1, 0});
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  EXPECT(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, scalars, dah, CUDA_R_16F, m, m * k, dbh, CUDA_R_16F, k,
                                    n * k, scalars + 1, dch, CUDA_R_32F, m, m * n, 2, CUBLAS_COMPUTE_32F,
                                    CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  double sum = 0;
  for (int l = 0; l < k; ++l)
    sum += double(__half2float(ah[m * k + 3 + l * m])) * __half2float(bh[n * k + l + 4 * k]);
  EXPECT(near(host(dch, m * n * 2)[m * n + 3 + 4 * m], sum));

  std::vector<signed char> ab(64 * 64), bb(64 * 64);
  for (int i = 0; i < 64 * 64; ++i)
    ab[i] = i % 251 - 125, bb[i] = i % 241 - 120;
  int* di = device(std::vector<int>(64 * 64));
  const int one = 1, zero = 0;
  EXPECT(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 64, 64, 64, &one, device(ab), CUDA_R_8I, 64, device(bb), CUDA_R_8I, 64, &zero, di,
                      CUDA_R_32I, 64, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  int whole = 0;
  for (int l = 0; l < 64; ++l)
    whole += ab[l + 5 * 64] * bb[l + 9 * 64];
  EXPECT(host(di, 64 * 64)[5 + 9 * 64] == whole);

  using Complex = std::complex<double>;
  const std::vector<Complex> z{{1, 2}, {3, -1}, {0, 1}, {2, 2}};
  auto* dz = reinterpret_cast<cuDoubleComplex*>(device(z));
  auto* result = reinterpret_cast<cuDoubleComplex*>(device(std::vector<Complex>(4)));
  const cuDoubleComplex unit{1, 0}, nothing{0, 0};
  EXPECT(cublasZgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, 2, 2, 2, &unit, dz, 2, dz, 2, &nothing, result, 2) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(reinterpret_cast<Complex*>(result), 4)[2] == std::conj(z[0]) * z[2] + std::conj(z[1]) * z[3]);
}

static void vectors(cublasHandle_t handle) {
  const auto x = pattern<double>(1000, 11), y = pattern<double>(1000, 13);
  double *dx = device(x), *dy = device(y), alpha = 3, got = 0, expected = 0;
  EXPECT(cublasDaxpy(handle, 1000, &alpha, dx, 1, dy, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(dy, 1000)[17] == 3 * x[17] + y[17]);
  cublasDdot(handle, 500, dx, 2, dx, 2, &got);
  for (int i = 0; i < 1000; i += 2)
    expected += x[i] * x[i];
  EXPECT(near(got, expected));
  cublasDnrm2(handle, 500, dx, 2, &got);
  EXPECT(near(got, std::sqrt(expected)));
  cublasDscal(handle, 1000, &alpha, dx, 1);
  EXPECT(host(dx, 1000)[999] == 3 * x[999]);
  double* line = device(std::vector<double>{1, -7, 3, 7});
  int index = 0;
  cublasIdamax(handle, 4, line, 1, &index);
  EXPECT(index == 2);
  cublasDasum(handle, 4, line, 1, &got);
  EXPECT(got == 18);
}

static void matrices(cublasHandle_t handle) {
  // By columns: (2 1 0; 0 4 5; 0 0 3), upper.
  const std::vector<float> a{2, 0, 0, 1, 4, 0, 0, 5, 3};
  float *da = device(a), *x = device(std::vector<float>{1, 2, 3}), *y = device(std::vector<float>{1, 1, 1}), one = 1, two = 2;
  EXPECT(cublasSgemv(handle, CUBLAS_OP_T, 3, 3, &two, da, 3, x, 1, &one, y, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT((host(y, 3) == std::vector<float>{5, 19, 39}));
  EXPECT(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 1, &one, da, 3, x, 3) ==
         CUBLAS_STATUS_SUCCESS);
  const auto solved = host(x, 3);
  EXPECT(near(2 * solved[0] + solved[1], 1) && near(4 * solved[1] + 5 * solved[2], 2) && near(3 * solved[2], 3));
  float* row = device(std::vector<float>{1, 2, 3});
  EXPECT(cublasStrsm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 1, 3, &one, da, 3, row, 1) ==
         CUBLAS_STATUS_SUCCESS);
  const auto right = host(row, 3);
  EXPECT(near(2 * right[0], 1) && near(right[0] + 4 * right[1], 2) && near(5 * right[1] + 3 * right[2], 3));
  float* sums = device(std::vector<float>(9));
  EXPECT(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 3, &one, da, 3, &two, da, 3, sums, 3) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(sums, 9)[1] == 1 && host(sums, 9)[3] == 2 && host(sums, 9)[4] == 12);
  float* rank = device(std::vector<float>(9, 7));
  const float zero = 0;
  EXPECT(cublasSsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 3, 3, &one, da, 3, &zero, rank, 3) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(rank, 9)[0] == 5 && host(rank, 9)[1] == 4 && host(rank, 9)[3] == 7);
}

static void captured(cublasHandle_t handle) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cublasSetStream(handle, stream);
  float *x = device(std::vector<float>{1, 2}), two = 2;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT(cublasSscal(handle, 2, &two, x, 1) == CUBLAS_STATUS_SUCCESS);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  EXPECT(host(x, 2)[1] == 2);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  EXPECT(host(x, 2)[1] == 8);
}

static void lt() {
  const auto a = pattern<__nv_bfloat16>(32 * 16, 7), b = pattern<__nv_bfloat16>(16 * 8, 5), bias = pattern<__nv_bfloat16>(32, 9);
  __nv_bfloat16 *da = device(a), *db = device(b), *dbias = device(bias), *dd = device(std::vector<__nv_bfloat16>(32 * 8));
  cublasLtHandle_t handle;
  cublasLtCreate(&handle);
  cublasLtMatmulDesc_t description;
  cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof dbias);
  cublasLtMatrixLayout_t of_a, of_b, of_d;
  cublasLtMatrixLayoutCreate(&of_a, CUDA_R_16BF, 32, 16, 32);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_16BF, 16, 8, 16);
  cublasLtMatrixLayoutCreate(&of_d, CUDA_R_16BF, 32, 8, 32);
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t heuristic;
  int found = 0;
  EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, description, of_a, of_b, of_d, of_d, preference, 1, &heuristic, &found) ==
             CUBLAS_STATUS_SUCCESS &&
         found == 1);
  const float one = 1, zero = 0;
  EXPECT(cublasLtMatmul(handle, description, &one, da, of_a, db, of_b, &zero, dd, of_d, dd, of_d, &heuristic.algo, nullptr, 0, 0) ==
         CUBLAS_STATUS_SUCCESS);
  const auto d = host(dd, 32 * 8);
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 32; ++i) {
      double sum = __bfloat162float(bias[i]);
      for (int l = 0; l < 16; ++l)
        sum += double(__bfloat162float(a[i + l * 32])) * __bfloat162float(b[l + j * 16]);
      if (!near(__bfloat162float(d[i + j * 32]), std::fmax(sum, 0), 1e-2))
        {
        EXPECT(!"elements of cublasLtMatmul");
        return;
      }
    }
}

/// With alpha = 0 the factors do not matter; what is Hermitian has a real diagonal; a triangle may be refused.
static void edges(cublasHandle_t handle) {
  const float zero = 0, one = 1, two = 2;
  float* nans = device(std::vector<float>(4, NAN));
  float* c = device(std::vector<float>{1, 2, 3, 4});
  EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &zero, nans, 2, nullptr, 2, &two, c, 2) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSaxpy(handle, 4, &zero, nans, 1, c, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(c, 4) == (std::vector<float>{2, 4, 6, 8}));
  cuComplex* a = device(std::vector<cuComplex>{{3, 7}});
  cuComplex* x = device(std::vector<cuComplex>{{1, 2}});
  EXPECT(cublasCher(handle, CUBLAS_FILL_MODE_UPPER, 1, &one, x, 1, a, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(a, 1)[0].x == 8 && host(a, 1)[0].y == 0);
  EXPECT(cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 1, 1, &one, x, 1, &one, a, 1) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(a, 1)[0].x == 13 && host(a, 1)[0].y == 0);
}

int main() {
  cublasHandle_t handle;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS);
  gemm(handle);
  vectors(handle);
  matrices(handle);
  captured(handle);
  edges(handle);
  lt();
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  if (!wrong)
    std::puts("all right");
  return wrong;
}
