// Sparse matrix times vector: compressed sparse rows, one thread per row, 51 non-zeros anywhere in each row
// (the input of Baghsorkhi et al., PPoPP 2012).
#include "program.h"

constexpr unsigned non_zeros = 51, threads = 256;

__global__ void spmv(unsigned rows, const unsigned* row_starts, const unsigned* columns, const float* values,
                     const float* y, float* x) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  const unsigned end = row_starts[row + 1];
  float sum = 0;
  for (unsigned j = row_starts[row]; j < end; ++j)
    sum += values[j] * y[columns[j]];
  x[row] = sum;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, threads, 1 << 22, true);
  const unsigned rows = program.size();
  reference::Random random(2);
  std::vector<unsigned> row_starts(rows + 1), columns(std::size_t{rows} * non_zeros);
  for (unsigned row = 0; row <= rows; ++row)
    row_starts[row] = row * non_zeros;
  // Ascending within a row: one column from each of 51 equal parts.
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned j = 0; j < non_zeros; ++j) {
      const unsigned first = static_cast<unsigned>(std::uint64_t{rows} * j / non_zeros);
      const unsigned end = static_cast<unsigned>(std::uint64_t{rows} * (j + 1) / non_zeros);
      columns[row * non_zeros + j] = first + random.below(end - first);
    }
  const auto values = random.fractions(columns.size()), y = random.fractions(rows);
  const reference::Array<unsigned> device_starts(row_starts), device_columns(columns);
  const reference::Array<float> device_values(values), device_y(y), device_x(rows);

  program.measure("spmv", [&] {
    spmv<<<rows / threads, threads>>>(rows, device_starts.data(), device_columns.data(), device_values.data(),
                                      device_y.data(), device_x.data());
  });

  const auto x = device_x.values();
  bool right = true;
  for (unsigned row = 0; row < rows; ++row) {
    double expected = 0;
    for (unsigned j = row_starts[row]; j < row_starts[row + 1]; ++j)
      expected += static_cast<double>(values[j]) * y[columns[j]];
    right &= std::abs(x[row] - expected) <= 1e-5 * expected;
  }
  program.judge("spmv", right);
  return program.exit_code();
}
