// The largest blocks, grids and shared memory that CUDA allows, and much at once; the first argument chooses.
// Prints "NAME: right, B bytes requested".
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

static size_t requested = 0;

template <class T> T* allocate(size_t count) {
  T* pointer = nullptr;
  requested += count * sizeof(T);
  cudaMalloc(&pointer, count * sizeof(T));
  cudaMemset(pointer, 0, count * sizeof(T));
  return pointer;
}

template <class T> std::vector<T> read(const T* pointer, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

/// Each block's threads turn its piece of the array around, by way of shared memory.
template <int threads> __global__ void reverse(int* values) {
  __shared__ int tile[threads];
  size_t first = size_t{blockIdx.x} * threads;
  tile[threadIdx.x] = values[first + threadIdx.x] + static_cast<int>(threadIdx.x);
  __syncthreads();
  values[first + threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

template <int threads> bool is_reversed(const std::vector<int>& values, int launches = 1) {
  for (size_t i = 0; i < values.size(); ++i) {
    int in_block = static_cast<int>(i % threads);
    int expected = launches % 2 == 0 ? 0 : threads - 1 - in_block;
    expected += launches / 2 * (threads - 1); // each pair of launches adds both places
    if (values[i] != expected)
      return false;
  }
  return true;
}

bool large_blocks() {
  constexpr size_t blocks = 512;
  int* values = allocate<int>(blocks * 1024);
  reverse<1024><<<blocks, 1024>>>(values);
  return is_reversed<1024>(read(values, blocks * 1024));
}

bool many_blocks() {
  constexpr size_t blocks = 100000;
  int* values = allocate<int>(blocks * 64);
  reverse<64><<<blocks, 64>>>(values);
  return is_reversed<64>(read(values, blocks * 64));
}

__global__ void mark(unsigned* sums) {
  __syncthreads();
  if (threadIdx.z == 1) {
    atomicAdd(&sums[0], blockIdx.x);
    atomicAdd(&sums[1], blockIdx.y);
    atomicAdd(&sums[2], blockIdx.z);
  }
}

bool deep_grids() {
  const auto sum = [](unsigned n) { return n * (n - 1) / 2; };
  bool right = true;
  for (const dim3 grid : {dim3(2, 65535, 1), dim3(1, 2, 65535)}) {
    unsigned* sums = allocate<unsigned>(3);
    mark<<<grid, dim3(1, 1, 2)>>>(sums);
    const auto found = read(sums, 3);
    right &= found[0] == sum(grid.x) * grid.y * grid.z && found[1] == sum(grid.y) * grid.x * grid.z &&
             found[2] == sum(grid.z) * grid.x * grid.y;
  }
  return right;
}

extern __shared__ int dynamic[];
__global__ void turn(int* values, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    dynamic[i] = i + blockIdx.x;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    atomicAdd(&values[count - 1 - i], dynamic[i]);
}

bool large_shared() {
  constexpr int bytes = 200 * 1024, count = bytes / 4, blocks = 16;
  int* values = allocate<int>(count);
  turn<<<blocks, 256, bytes>>>(values, count);
  bool right = cudaGetLastError() == cudaErrorInvalidValue; // not requested yet
  right &= cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess;
  turn<<<blocks, 256, bytes>>>(values, count);
  const auto found = read(values, count);
  for (int i = 0; i < count; ++i)
    right &= found[count - 1 - i] == blocks * i + blocks * (blocks - 1) / 2;
  return right;
}

bool many_streams() {
  constexpr int streams = 64, rounds = 4;
  constexpr size_t count = 16 * 256;
  std::vector<cudaStream_t> stream(streams);
  std::vector<int*> values(streams);
  std::vector<std::vector<int>> results(streams, std::vector<int>(count));
  for (int i = 0; i < streams; ++i) {
    cudaStreamCreate(&stream[i]);
    values[i] = allocate<int>(count);
  }
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < streams; ++i)
      reverse<256><<<16, 256, 0, stream[i]>>>(values[i]);
  for (int i = 0; i < streams; ++i)
    cudaMemcpyAsync(results[i].data(), values[i], count * sizeof(int), cudaMemcpyDeviceToHost, stream[i]);
  bool right = true;
  for (int i = 0; i < streams; ++i) {
    cudaStreamSynchronize(stream[i]);
    right &= is_reversed<256>(results[i], rounds);
  }
  return right;
}

bool many_host_threads() {
  constexpr int threads = 8, rounds = 5;
  constexpr size_t count = 64 * 1024;
  std::vector<int*> values;
  for (int i = 0; i < threads; ++i)
    values.push_back(allocate<int>(count));
  std::vector<char> right(threads);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      for (int round = 0; round < rounds; ++round)
        reverse<1024><<<64, 1024, 0, stream>>>(values[i]);
      cudaStreamSynchronize(stream);
      right[i] = is_reversed<1024>(read(values[i], count), rounds) && cudaGetLastError() == cudaSuccess;
    });
  bool every = true;
  for (int i = 0; i < threads; ++i) {
    all[i].join();
    every &= right[i] != 0;
  }
  return every;
}

/// Each block adds up the values of all blocks from the phase before; the others wait meanwhile.
__global__ void meet(unsigned* words, unsigned* wrong, int phases) {
  auto grid = cooperative_groups::this_grid();
  const unsigned blocks = gridDim.x;
  for (unsigned phase = 0; phase < phases; ++phase) {
    if (threadIdx.x == blockDim.x - 1)
      words[phase % 2 * blocks + blockIdx.x] = phase + blockIdx.x;
    grid.sync();
    const unsigned other = (blockIdx.x + threadIdx.x) % blocks;
    if (words[phase % 2 * blocks + other] != phase + other)
      atomicAdd(wrong, 1);
  }
}

/// Launches as many threads at once as an A100 has: large blocks, and the maximum number of blocks.
bool cooperative_of(int threads) {
  constexpr int phases = 4;
  int sms = 0, per_sm = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, meet, threads, 0);
  const int blocks = sms * per_sm;
  unsigned* words = allocate<unsigned>(2 * blocks);
  unsigned* wrong = allocate<unsigned>(1);
  void* arguments[] = {&words, &wrong, const_cast<int*>(&phases)};
  return blocks * threads >= 108 * 2048 &&
         cudaLaunchCooperativeKernel(meet, blocks, threads, arguments, 0, nullptr) == cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess && read(wrong, 1)[0] == 0;
}

bool large_cooperative() { return cooperative_of(1024); }
bool many_cooperative() { return cooperative_of(64); }

/// Checks the errors of <<<>>> for configurations that no GPU takes; nothing runs, and the next launch works as ever.
bool bad_configurations() {
  int* values = allocate<int>(1024);
  const auto error_of = [&](dim3 grid, dim3 block, size_t shared = 0) {
    turn<<<grid, block, shared>>>(values, 1);
    const cudaError_t error = cudaGetLastError();
    return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess ? error : cudaErrorUnknown;
  };
  bool right = error_of(1, 0) == cudaErrorInvalidConfiguration && error_of(0, 1) == cudaErrorInvalidConfiguration &&
               error_of(1, 1025) == cudaErrorInvalidConfiguration &&
               error_of(1, dim3(32, 33)) == cudaErrorInvalidConfiguration &&
               error_of(1, dim3(1, 1, 65)) == cudaErrorInvalidConfiguration &&
               error_of(dim3(1, 65536), 1) == cudaErrorInvalidConfiguration &&
               error_of(dim3(1, 1, 65536), 1) == cudaErrorInvalidConfiguration &&
               error_of(1, 1, 1 << 30) == cudaErrorInvalidValue;
  reverse<1024><<<1, 1024>>>(values);
  return right && is_reversed<1024>(read(values, 1024));
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    bool (*run)();
  } all[] = {{"large_blocks", large_blocks},           {"many_blocks", many_blocks},
             {"deep_grids", deep_grids},               {"large_shared", large_shared},
             {"many_streams", many_streams},           {"many_host_threads", many_host_threads},
             {"bad_configurations", bad_configurations}, {"large_cooperative", large_cooperative},
             {"many_cooperative", many_cooperative}};
  for (const auto& one : all)
    if (argc > 1 && std::strcmp(argv[1], one.name) == 0) {
      const bool right = one.run();
      std::printf("%s: %s, %zu bytes requested\n", one.name, right ? "right" : "wrong", requested);
      return right ? 0 : 1;
    }
  return 2;
}
