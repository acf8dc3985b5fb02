// A cooperative launch of several blocks: each phase reads what all other blocks wrote in the one before.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int blocks = 48, threads = 64, phases = 5;

__global__ void rotate(int* from, int* to) {
  auto grid = cg::this_grid();
  const int count = blocks * threads;
  for (int phase = 0; phase < phases; ++phase) {
    const int i = static_cast<int>(grid.thread_rank());
    to[i] = from[(i + threads) % count] + 1;
    grid.sync();
    int* last = from;
    from = to;
    to = last;
  }
}

/// One block ends the kernel: the others must not wait for it.
__global__ void fail_alone() {
  if (blockIdx.x == 7)
    __trap();
  cg::this_grid().sync();
}

int main() {
  int device = 0, sms = 0, per_sm = 0, supported = 0;
  cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rotate, threads, 0);
  int *from, *to;
  cudaMallocManaged(&from, blocks * threads * sizeof(int));
  cudaMallocManaged(&to, blocks * threads * sizeof(int));
  for (int i = 0; i < blocks * threads; ++i)
    from[i] = i;
  void* arguments[] = {&from, &to};
  const auto launched = cudaLaunchCooperativeKernel(rotate, blocks, threads, arguments, 0, nullptr);
  bool right = supported && launched == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < blocks * threads; ++i)
    right &=
        to[i] == (i + phases * threads) % (blocks * threads) + phases; // an odd number of phases ends in `to`
  right &= cudaLaunchCooperativeKernel(rotate, sms * per_sm + 1, threads, arguments, 0, nullptr) ==
           cudaErrorCooperativeLaunchTooLarge;
  right &= cudaLaunchCooperativeKernel(fail_alone, 16, threads, nullptr, 0, nullptr) == cudaSuccess;
  right &= cudaDeviceSynchronize() != cudaSuccess;
  std::printf("cooperative launch: %s\n", right ? "right" : "wrong");
}
