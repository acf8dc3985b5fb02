// flags: -arch=sm_80 -std=c++17 -lcusparse
// gpu: a100
// cuSPARSE: a dense matrix becomes a sparse one; products with sparse results; triangular solutions.
#include "../expect.h"
#include <cmath>
#include <cstdint>
#include <cusparse.h>
#define RUNS(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)
constexpr int n = 4;
constexpr auto as_stored = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float numbers[n][n] = {{2, 0, 3, 0}, {0, 4, 0, 0}, {5, 0, 6, 1}, {0, 7, 0, 8}};

struct Csr {
  cusparseSpMatDescr_t matrix;
  int *offsets, *columns;
  float* values;
  std::int64_t count = 0;
  Csr() {
    cudaMalloc(&offsets, (n + 1) * sizeof *offsets);
    RUNS(cusparseCreateCsr(&matrix, n, n, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  }
  /// Allocates the elements, whose number the matrix knows by now.
  void allocate() {
    std::int64_t rows, wide;
    RUNS(cusparseSpMatGetSize(matrix, &rows, &wide, &count));
    cudaMalloc(&columns, count * sizeof *columns), cudaMalloc(&values, count * sizeof *values);
    RUNS(cusparseCsrSetPointers(matrix, offsets, columns, values));
  }
  std::vector<float> dense() const {
    std::vector<float> all(n * n);
    const auto o = host(offsets, n + 1), c = host(columns, count); const auto v = host(values, count);
    for (int row = 0; row < n; ++row)
      for (int at = o[row]; at < o[row + 1]; ++at) all[row * n + c[at]] = v[at];
    return all;
  }
};
int main() {
  cusparseHandle_t handle;
  RUNS(cusparseCreate(&handle));
  std::vector<float> all(&numbers[0][0], &numbers[0][0] + n * n);
  cusparseDnMatDescr_t from;
  RUNS(cusparseCreateDnMat(&from, n, n, n, device(all), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  Csr a;
  std::size_t bytes = 0, further = 0;
  void* buffer = nullptr;
  RUNS(cusparseDenseToSparse_bufferSize(handle, from, a.matrix, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
  cudaMalloc(&buffer, bytes + 1);
  RUNS(cusparseDenseToSparse_analysis(handle, from, a.matrix, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  a.allocate();
  RUNS(cusparseDenseToSparse_convert(handle, from, a.matrix, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
  EXPECT(a.count == 8 && a.dense() == all);

  const float two = 2, one = 1, zero = 0;
  Csr product;
  cusparseSpGEMMDescr_t description;
  RUNS(cusparseSpGEMM_createDescr(&description));
  const auto estimate = [&](std::size_t* size, void* work) { return cusparseSpGEMM_workEstimation(handle, as_stored, as_stored, &two, a.matrix, a.matrix, &zero, product.matrix, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, description, size, work); };
  const auto compute = [&](std::size_t* size, void* work) { return cusparseSpGEMM_compute(handle, as_stored, as_stored, &two, a.matrix, a.matrix, &zero, product.matrix, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, description, size, work); };
  RUNS(estimate(&bytes, nullptr)); cudaMalloc(&buffer, bytes + 1); RUNS(estimate(&bytes, buffer));
  RUNS(compute(&further, nullptr)); cudaMalloc(&buffer, further + 1); RUNS(compute(&further, buffer));
  product.allocate();
  RUNS(cusparseSpGEMM_copy(handle, as_stored, as_stored, &two, a.matrix, a.matrix, &zero, product.matrix, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, description));
  std::vector<float> want(n * n);
  for (int i = 0; i < n * n; ++i)
    for (int k = 0; k < n; ++k) want[i] += 2 * numbers[i / n][k] * numbers[k][i % n];
  EXPECT(product.dense() == want);

  const auto attribute = [&](cusparseSpMatAttribute_t which, auto value) { RUNS(cusparseSpMatSetAttribute(a.matrix, which, &value, sizeof value)); };
  cusparseSpSVDescr_t triangle;
  RUNS(cusparseSpSV_createDescr(&triangle));
  const std::vector<float> b{2, 8, 20, 3};
  float* solution = device(std::vector<float>(n));
  cusparseDnVecDescr_t right, x;
  RUNS(cusparseCreateDnVec(&right, n, device(b), CUDA_R_32F)); RUNS(cusparseCreateDnVec(&x, n, solution, CUDA_R_32F));
  for (const bool is_lower : {true, false})
    for (const auto operation : {as_stored, CUSPARSE_OPERATION_TRANSPOSE}) {
      attribute(CUSPARSE_SPMAT_FILL_MODE, is_lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER);
      attribute(CUSPARSE_SPMAT_DIAG_TYPE, CUSPARSE_DIAG_TYPE_NON_UNIT);
      RUNS(cusparseSpSV_bufferSize(handle, operation, &one, a.matrix, right, x, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, triangle, &bytes));
      cudaMalloc(&buffer, bytes + 1);
      RUNS(cusparseSpSV_analysis(handle, operation, &one, a.matrix, right, x, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, triangle, buffer));
      RUNS(cusparseSpSV_solve(handle, operation, &one, a.matrix, right, x, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, triangle));
      const auto got = host(solution, n);
      for (int row = 0; row < n; ++row) {
        float sum = 0;
        for (int k = 0; k < n; ++k) {
          const int i = operation == as_stored ? row : k, j = operation == as_stored ? k : row;
          if (is_lower ? j <= i : j >= i) sum += numbers[i][j] * got[k];
        }
        EXPECT(std::fabs(sum - b[row]) < 1e-5f);
      }
    }

  cusparseDnMatDescr_t left, other; // sampled at the elements of A: 2 · (L · R) + A
  std::vector<float> l(n * 2), r(2 * n);
  for (int i = 0; i < n * 2; ++i) l[i] = i + 1, r[i] = 2 - i;
  RUNS(cusparseCreateDnMat(&left, n, 2, 2, device(l), CUDA_R_32F, CUSPARSE_ORDER_ROW)); RUNS(cusparseCreateDnMat(&other, 2, n, n, device(r), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  RUNS(cusparseSDDMM_bufferSize(handle, as_stored, as_stored, &two, left, other, &one, a.matrix, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
  cudaMalloc(&buffer, bytes + 1);
  RUNS(cusparseSDDMM(handle, as_stored, as_stored, &two, left, other, &one, a.matrix, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
  const auto sampled = a.dense();
  for (int i = 0; i < n * n; ++i) EXPECT(sampled[i] == (all[i] == 0 ? 0 : all[i] + 2 * (l[i / n * 2] * r[i % n] + l[i / n * 2 + 1] * r[n + i % n])));
  RUNS(cusparseDestroy(handle));
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
