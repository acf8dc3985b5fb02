// Launches kernels of a library: blocks that wait for each other, and a loop that only seems to wait.
#include "library/chained_sums.cuh"
#include <cstdio>
#include <cstdlib>

int main(int, char** arguments) {
  const int blocks = 512, steps = std::atoi(arguments[1]);
  int *sums, *flags, *word, *sum;
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&flags, blocks * sizeof(int));
  cudaMalloc(&word, sizeof(int));
  cudaMalloc(&sum, 32 * sizeof(int));
  cudaMemset(flags, 0, blocks * sizeof(int));
  cudaMemset(word, 0, sizeof(int));
  chained_sums::chain<<<blocks, 32>>>(sums, flags);
  chained_sums::counted<<<1, 32>>>(word, sum, steps);
  int last = 0;
  cudaMemcpy(&last, sums + blocks - 1, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
}
