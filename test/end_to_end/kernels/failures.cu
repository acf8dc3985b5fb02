// A kernel that ends as the first argument requests, and the errors that the program gets then.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

__global__ void asserts(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
}

__global__ void traps() {
  if (threadIdx.x == 2 && blockIdx.x == 1)
    __trap();
}

/// Waits for the grid in a launch whose blocks are not all resident at the same time.
__global__ void syncs_grid() {
  cooperative_groups::this_grid().sync();
}

__global__ void prints() {
  if (threadIdx.x == 0)
    printf("%d|%5u|%-4x|%#o|%c|%s|%.3f|%10.2e|%g|%a|%lld|%llu|%%|%p|%hhd|%zu\n", -7, 42U, 255, 8, 'w', "text",
           3.14159, 12345.678, 0.1, 1.0, -5000000000LL, 18446744073709551615ULL,
           reinterpret_cast<void*>(0x10), 300, sizeof(int));
}

__global__ void works(int* out) {
  *out = 1;
}

int main(int, char** arguments) {
  const char* what = arguments[1];
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  if (std::strcmp(what, "assert") == 0)
    asserts<<<2, 8>>>(7);
  if (std::strcmp(what, "trap") == 0)
    traps<<<2, 8>>>();
  if (std::strcmp(what, "grid") == 0)
    syncs_grid<<<2, 8>>>();
  if (std::strcmp(what, "print") == 0)
    prints<<<1, 32>>>();
  std::printf("after: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  works<<<1, 1>>>(out);
  std::printf("then: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("allocation: %s\n", cudaGetErrorName(cudaMalloc(&out, 16)));
}
