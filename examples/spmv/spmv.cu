// Sparse matrix times dense vector, x = A y, with A in compressed sparse row (CSR) form: the case study of
// Baghsorkhi, Gelado, Delahaye and Hwu, "Efficient performance evaluation of memory hierarchy for highly
// multithreaded graphics processors", PPoPP 2012. One thread computes one row, in two versions:
//   spmv_scalar   loads one index and one value at a time;
//   spmv_vector4  loads four of each at once.
//
// Usage: spmv [INPUT [ROWS [scalar|vector4|both]]]
//   INPUT  u, U: columns anywhere in the row; b, B: columns within a block of 256 on the diagonal;
//          u, b: 32 non-zeros a row on average, U, B: 128. Default u
//   ROWS   rows (and columns) of the matrix, default 131072
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <random>
#include <vector>

__global__ void spmv_scalar(unsigned rows, const unsigned* rowIndices, const unsigned* indices,
                            const float* val, const float* y, float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows)
    return;
  const unsigned lb = rowIndices[i];
  const unsigned ub = rowIndices[i + 1];
  float t = 0;
  for (unsigned j = lb; j < ub; ++j) {
    const unsigned ind = indices[j];
    t += val[j] * y[ind];
  }
  x[i] = t;
}

// A uint4 or float4 must lie at a multiple of its 16 bytes: elements before the first and behind the last
// such place are loaded one at a time.
__global__ void spmv_vector4(unsigned rows, const unsigned* rowIndices, const unsigned* indices,
                             const float* val, const float* y, float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows)
    return;
  const unsigned lb = rowIndices[i];
  const unsigned ub = rowIndices[i + 1];
  float t = 0;
  unsigned j = lb;
  for (; j < ub && j % 4 != 0; ++j) {
    const unsigned ind = indices[j];
    t += val[j] * y[ind];
  }
  for (; j + 4 <= ub; j += 4) {
    const uint4 ind = *reinterpret_cast<const uint4*>(&indices[j]);
    const float4 v = *reinterpret_cast<const float4*>(&val[j]);
    t += v.x * y[ind.x];
    t += v.y * y[ind.y];
    t += v.z * y[ind.z];
    t += v.w * y[ind.w];
  }
  for (; j < ub; ++j) {
    const unsigned ind = indices[j];
    t += val[j] * y[ind];
  }
  x[i] = t;
}

struct Matrix {
  std::vector<unsigned> rowIndices; // row i's non-zeros are those from rowIndices[i] up to rowIndices[i + 1]
  std::vector<unsigned> indices;    // their columns, ascending within a row
  std::vector<float> val;           // their values
};

// Uses the generator's numbers directly: distributions differ between standard libraries.
using Random = std::mt19937;

unsigned random_below(Random& random, unsigned end) {
  return static_cast<unsigned>(random() % end);
}
float random_value(Random& random) {
  return static_cast<float>(random() >> 8) / (1 << 24);
} // 24 bits, in [0, 1)

// Rows have half to one and a half times `average` non-zeros, as far as there are columns for them.
Matrix random_matrix(unsigned rows, unsigned average, bool block_diagonal, Random& random) {
  const unsigned block = 256;
  Matrix matrix;
  matrix.rowIndices.push_back(0);
  std::vector<bool> taken(rows);
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned first = block_diagonal ? row / block * block : 0;
    const unsigned width = block_diagonal ? std::min(block, rows - first) : rows;
    const unsigned length = std::min(width, average / 2 + random_below(random, average + 1));
    const auto start = matrix.indices.size();
    while (matrix.indices.size() - start < length) {
      const unsigned column = first + random_below(random, width);
      if (taken[column])
        continue;
      taken[column] = true;
      matrix.indices.push_back(column);
      matrix.val.push_back(random_value(random));
    }
    std::sort(matrix.indices.begin() + start, matrix.indices.end());
    for (auto k = start; k < matrix.indices.size(); ++k)
      taken[matrix.indices[k]] = false;
    matrix.rowIndices.push_back(static_cast<unsigned>(matrix.indices.size()));
  }
  return matrix;
}

// All terms are positive, so rounding in any order stays within a few units in the last place of each partial
// sum.
bool is_product(const Matrix& matrix, const std::vector<float>& y, const std::vector<float>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    double expected = 0;
    for (unsigned j = matrix.rowIndices[i]; j < matrix.rowIndices[i + 1]; ++j)
      expected += static_cast<double>(matrix.val[j]) * y[matrix.indices[j]];
    if (!(std::abs(x[i] - expected) <= 1e-5 * expected))
      return false;
  }
  return true;
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "spmv: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T> T* to_device(const std::vector<T>& host, const char* name) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)), name);
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), name);
  return device;
}

int usage() {
  std::fprintf(stderr, "usage: spmv [u|b|U|B [ROWS [scalar|vector4|both]]], ROWS from 1 to 16777216\n");
  return 2;
}

int main(int argc, char** argv) {
  const char* input = argc > 1 ? argv[1] : "u";
  const long rows_asked = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 131072;
  const char* form = argc > 3 ? argv[3] : "both";
  const bool scalar = !std::strcmp(form, "scalar") || !std::strcmp(form, "both");
  const bool vector4 = !std::strcmp(form, "vector4") || !std::strcmp(form, "both");
  if (argc > 4 || std::strlen(input) != 1 || !std::strchr("ubUB", *input) || rows_asked < 1 ||
      rows_asked > 1 << 24 || !(scalar || vector4))
    return usage();
  const unsigned rows = static_cast<unsigned>(rows_asked);
  const bool block_diagonal = *input == 'b' || *input == 'B';
  const unsigned average = *input == 'u' || *input == 'b' ? 32 : 128;

  Random random(2012);
  const Matrix matrix = random_matrix(rows, average, block_diagonal, random);
  std::vector<float> vector(rows), result(rows);
  for (float& element : vector)
    element = random_value(random);
  std::printf("spmv %s: %u rows, %zu non-zeros\n", input, rows, matrix.indices.size());

  unsigned* rowIndices = to_device(matrix.rowIndices, "rowIndices");
  unsigned* indices = to_device(matrix.indices, "indices");
  float* val = to_device(matrix.val, "val");
  float* y = to_device(vector, "y");
  float* x = to_device(result, "x");

  const unsigned threads = 256;
  const unsigned blocks = (rows + threads - 1) / threads;
  bool all_right = true;
  auto judge = [&](const char* kernel) {
    check(cudaGetLastError(), kernel);
    check(cudaMemcpy(result.data(), x, rows * sizeof(float), cudaMemcpyDeviceToHost), kernel);
    check(cudaMemset(x, 0, rows * sizeof(float)), kernel);
    const bool right = is_product(matrix, vector, result);
    std::printf("%-12s %s\n", kernel, right ? "PASS" : "FAIL");
    all_right &= right;
  };
  if (scalar) {
    spmv_scalar<<<blocks, threads>>>(rows, rowIndices, indices, val, y, x);
    judge("spmv_scalar");
  }
  if (vector4) {
    spmv_vector4<<<blocks, threads>>>(rows, rowIndices, indices, val, y, x);
    judge("spmv_vector4");
  }
  check(cudaFree(rowIndices), "rowIndices");
  check(cudaFree(indices), "indices");
  check(cudaFree(val), "val");
  check(cudaFree(y), "y");
  check(cudaFree(x), "x");
  return all_right ? 0 : 1;
}
