// Addresses that are data.
#include "kernels.h"

// says /scattered: [\d.]+ sectors per request, at addresses that were loaded/: the indices are random
// never /strided|array of structs|nothing to mend/: no layout of the threads would help
__global__ void gather(const int* index, const float* table, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i]];
}

// says /scattered: [\d.]+ sectors per request, at addresses that were loaded/: the place of the store was loaded
// never /strided store|array of structs|nothing to mend/: the indices are random
__global__ void scatter(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[index[i]] = in[i];
}

// says /nothing to mend here/: indices in order are as good as none
// never /scattered|strided|uncoalesced/: neighbours read neighbours
__global__ void gather_in_order(const int* index, const float* table, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i]];
}

// says /chained: each load gets its address from the one before, so none overlap/: one thread a chain
// never /streaming|scattered: .*streaming|nothing to mend/: bandwidth is not what it waits for
__global__ void chase(const int* next, int* out, int steps) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < steps; ++step)
    at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// says /uncoalesced|scattered|strided load/: each thread walks a row of its own length
// never /array of structs|nothing to mend/: rows are contiguous in the thread, not in the warp
__global__ void row_of_matrix(const int* rows, const int* columns, const float* values, const float* x, float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n)
    return;
  float sum = 0;
  for (int j = rows[row]; j < rows[row + 1]; ++j)
    sum += values[j] * x[columns[j]];
  y[row] = sum;
}

int main() {
  const int n = 1 << 22;
  int* random = filled<int>(n, [](std::size_t i) { return int(scattered(i, n)); });
  int* in_order = filled<int>(n, [](std::size_t i) { return int(i); });
  float *in = zeros<float>(n), *out = zeros<float>(n);
  gather<<<n / 256, 256>>>(random, in, out, n);
  scatter<<<n / 256, 256>>>(random, in, out, n);
  gather_in_order<<<n / 256, 256>>>(in_order, in, out, n);
  chase<<<108, 32>>>(random, (int*)out, 64);
  const int height = 1 << 17;
  int* rows = filled<int>(height + 1, [](std::size_t i) { return int(30 * i + scattered(i, 8)); });
  row_of_matrix<<<height / 256, 256>>>(rows, random, in, in, out, height);
  DONE();
}
