// flags: -arch=sm_80 -std=c++17 -lcublas -lcublasLt -lcufft -lcuda
// gpu: a100
// Libraries beyond their products: factors and inverses of many small matrices, products in groups, changes of a matrix' order
// and type, transforms with types as arguments; kernels of a library listed; values that streams write.
#include "../expect.h"
#include <cmath>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cufftXt.h>
int main() {
  cublasHandle_t handle;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  constexpr int n = 3, count = 4;
  std::vector<float> all(n * n * count);
  for (int i = 0; i < n * n * count; ++i) all[i] = (i * 5 + 2) % 7 + (i % (n * n) % 4 == 0 ? 9 : 0);
  float *a = device(all), *inverse = device(std::vector<float>(all.size())), *b = device(std::vector<float>(n * count, 1));
  std::vector<float*> of_a, of_inverse, of_b;
  for (int i = 0; i < count; ++i) of_a.push_back(a + i * n * n), of_inverse.push_back(inverse + i * n * n), of_b.push_back(b + i * n);
  float **as = device(of_a), **inverses = device(of_inverse), **bs = device(of_b);
  int *pivots, *infos, info = -1;
  cudaMalloc(&pivots, n * count * sizeof(int)), cudaMalloc(&infos, count * sizeof(int));
  EXPECT(cublasSgetrfBatched(handle, n, as, n, pivots, infos, count) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSgetriBatched(handle, n, as, n, pivots, inverses, n, infos, count) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSgetrsBatched(handle, CUBLAS_OP_N, n, 1, as, n, pivots, bs, n, &info, count) == CUBLAS_STATUS_SUCCESS && info == 0);
  const auto inverted = host(inverse, all.size()), solved = host(b, n * count);
  float most = 0;
  for (int m = 0; m < count; ++m)
    for (int row = 0; row < n; ++row) {
      float of_solution = -1;
      for (int column = 0; column < n; ++column) {
        float sum = row == column ? -1 : 0;
        for (int k = 0; k < n; ++k) sum += all[m * n * n + k * n + row] * inverted[m * n * n + column * n + k];
        most = std::max(most, std::fabs(sum));
        of_solution += all[m * n * n + column * n + row] * solved[m * n + column];
      }
      most = std::max(most, std::fabs(of_solution));
    }
  EXPECT(most < 1e-5f && host(infos, count) == std::vector<int>(count));

  const int m[] = {2, 1}, columns[] = {1, 2}, depth[] = {3, 1}, lda[] = {2, 1}, ldb[] = {3, 1}, ldc[] = {2, 1}, sizes[] = {2, 1};
  const cublasOperation_t none[] = {CUBLAS_OP_N, CUBLAS_OP_N};
  const float alphas[] = {1, 3}, betas[] = {0, 0};
  float *x = device(std::vector<float>{1, 2, 3, 4, 5, 6}), *y = device(std::vector<float>{1, 0, 2}), *z = device(std::vector<float>(6));
  float **xs = device(std::vector<float*>{x, x, x + 1}), **ys = device(std::vector<float*>{y, y, y + 1}), **zs = device(std::vector<float*>{z, z + 2, z + 4});
  EXPECT(cublasSgemmGroupedBatched(handle, none, none, m, columns, depth, alphas, xs, lda, ys, ldb, betas, zs, ldc, 2, sizes) == CUBLAS_STATUS_SUCCESS);
  EXPECT(host(z, 6) == std::vector<float>({11, 14, 11, 14, 0, 12}));

  cublasLtHandle_t lt;
  cublasLtMatrixTransformDesc_t transform;
  cublasLtMatrixLayout_t by_columns, by_rows;
  const cublasLtOrder_t rows_first = CUBLASLT_ORDER_ROW;
  EXPECT(cublasLtCreate(&lt) == CUBLAS_STATUS_SUCCESS && cublasLtMatrixTransformDescCreate(&transform, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatrixLayoutCreate(&by_columns, CUDA_R_32F, 2, 3, 2) == CUBLAS_STATUS_SUCCESS && cublasLtMatrixLayoutCreate(&by_rows, CUDA_R_16F, 2, 3, 3) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatrixLayoutSetAttribute(by_rows, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows_first, sizeof rows_first) == CUBLAS_STATUS_SUCCESS);
  const float two = 2, zero = 0;
  __half* halves = device(std::vector<__half>(6));
  EXPECT(cublasLtMatrixTransform(lt, transform, &two, x, by_columns, &zero, nullptr, nullptr, halves, by_rows, nullptr) == CUBLAS_STATUS_SUCCESS);
  const auto h = host(halves, 6);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 3; ++column) EXPECT(float(h[row * 3 + column]) == 2 * (column * 2 + row + 1));

  cufftHandle plan;
  long long length[] = {6};
  std::size_t bytes;
  auto* complex = device(std::vector<cufftComplex>(6, {1, 0}));
  EXPECT(cufftCreate(&plan) == CUFFT_SUCCESS && cufftXtMakePlanMany(plan, 1, length, nullptr, 1, 6, CUDA_C_32F, nullptr, 1, 6, CUDA_C_32F, 1, &bytes, CUDA_C_32F) == CUFFT_SUCCESS);
  EXPECT(cufftXtExec(plan, complex, complex, CUFFT_FORWARD) == CUFFT_SUCCESS);
  EXPECT(host(complex, 6)[0].x == 6 && std::fabs(host(complex, 6)[1].x) < 1e-6f);

  auto* flags = device(std::vector<unsigned>(2));
  const auto flag = reinterpret_cast<CUdeviceptr>(flags);
  EXPECT(cuStreamWriteValue32(nullptr, flag, 5, 0) == CUDA_SUCCESS && cuStreamWaitValue32(nullptr, flag, 5, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  CUstreamBatchMemOpParams operation = {};
  operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, operation.writeValue.address = flag + 4, operation.writeValue.value = 8;
  EXPECT(cuStreamBatchMemOp(nullptr, 1, &operation, 0) == CUDA_SUCCESS && cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(host(flags, 2) == std::vector<unsigned>({5, 8}));

  cudaLibrary_t library;
  const char* const ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry first() { ret; }\n.visible .entry second() { ret; }\n";
  unsigned kernels = 0;
  cudaKernel_t listed[2];
  EXPECT(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess && cudaLibraryGetKernelCount(&kernels, library) == cudaSuccess && kernels == 2);
  EXPECT(cudaLibraryEnumerateKernels(listed, 2, library) == cudaSuccess && listed[0] != listed[1]);
  EXPECT(cudaLaunchKernel(reinterpret_cast<const void*>(listed[1]), 1, 1, nullptr, 0, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
