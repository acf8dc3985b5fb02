// Kernels that must never hang, nor change their results, because they are traced. The first argument selects
// the case; prints "right" and exits with 0 if all results are right.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

__global__ void add(unsigned count, unsigned value, unsigned* numbers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    numbers[i] = numbers[i] + value;
}

// Each round writes somewhere else, so that the trace of a launch is large and hardly compresses.
__global__ void many(unsigned count, unsigned rounds, unsigned* numbers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned place = (i + round * count) * 2654435761u;
    place ^= place >> 15;
    place *= 2246822519u;
    place ^= place >> 13;
    static_cast<volatile unsigned*>(numbers)[place % count] = round;
  }
}

// Waits until the host or another kernel sets the flag.
__global__ void wait_for(const volatile unsigned* flag, unsigned count, unsigned* numbers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    numbers[i] = numbers[i] + 1;
  if (threadIdx.x == 0)
    while (*flag == 0)
      ;
  __syncthreads();
  if (i < count)
    numbers[i] = numbers[i] + 1;
}

__global__ void set(volatile unsigned* flag) {
  *flag = 1;
}

__global__ void endless(volatile unsigned* numbers) {
  for (;;)
    numbers[threadIdx.x] = numbers[threadIdx.x] + 1;
}

__global__ void trap(unsigned* numbers) {
  numbers[threadIdx.x] = 1;
  if (threadIdx.x == 7)
    asm volatile("trap;");
}

namespace {

constexpr unsigned threads = 256;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::printf("%s: %s\n", what, cudaGetErrorName(status));
  std::exit(1);
}

template <class T> T* zeros(unsigned count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

bool all_are(const unsigned* device, unsigned count, unsigned value) {
  std::vector<unsigned> host(count);
  check(cudaMemcpy(host.data(), device, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "copy");
  for (const unsigned number : host)
    if (number != value)
      return false;
  return true;
}

bool run_streams(unsigned streams) {
  constexpr unsigned count = 4096;
  std::vector<cudaStream_t> all(streams);
  std::vector<unsigned*> numbers(streams);
  for (unsigned i = 0; i < streams; ++i) {
    check(cudaStreamCreate(&all[i]), "stream");
    numbers[i] = zeros<unsigned>(count);
  }
  check(cudaDeviceSynchronize(), "streams");
  for (unsigned round = 0; round < 10; ++round)
    for (unsigned i = 0; i < streams; ++i)
      add<<<count / threads, threads, 0, all[i]>>>(count, i + 1, numbers[i]);
  check(cudaDeviceSynchronize(), "streams");
  bool right = true;
  for (unsigned i = 0; i < streams; ++i)
    right &= all_are(numbers[i], count, 10 * (i + 1));
  return right;
}

bool run_tiny(unsigned launches) {
  unsigned* const numbers = zeros<unsigned>(32);
  for (unsigned i = 0; i < launches; ++i)
    add<<<1, 32>>>(32, 1, numbers);
  check(cudaDeviceSynchronize(), "tiny launches");
  return all_are(numbers, 32, launches);
}

bool run_many(unsigned rounds) {
  constexpr unsigned count = 1 << 18;
  unsigned* const numbers = zeros<unsigned>(count);
  many<<<count / threads, threads>>>(count, rounds, numbers);
  check(cudaDeviceSynchronize(), "many");
  return true;
}

// The flag is the host's, and the kernel waits until the program has continued after the launch.
bool run_waits_for_host() {
  constexpr unsigned count = 4 * threads;
  unsigned* flag = nullptr;
  check(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped), "flag");
  *flag = 0;
  unsigned* const numbers = zeros<unsigned>(count);
  wait_for<<<4, threads>>>(flag, count, numbers);
  *static_cast<volatile unsigned*>(flag) = 1;
  check(cudaDeviceSynchronize(), "waits for host");
  return all_are(numbers, count, 2);
}

bool run_waits_for_kernel() {
  constexpr unsigned count = 4 * threads;
  unsigned *const flag = zeros<unsigned>(1), *const numbers = zeros<unsigned>(count);
  cudaStream_t first, second;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "stream");
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "stream");
  // Kernels are loaded at their first launch, which may wait for those that run (CUDA Programming Guide,
  // "Lazy Loading"): a program that needs two at once loads both before.
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, wait_for), "load");
  check(cudaFuncGetAttributes(&attributes, set), "load");
  check(cudaDeviceSynchronize(), "waits for kernel");
  wait_for<<<4, threads, 0, first>>>(flag, count, numbers);
  set<<<1, 1, 0, second>>>(flag);
  check(cudaDeviceSynchronize(), "waits for kernel");
  return all_are(numbers, count, 2);
}

bool run_devices() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "devices");
  if (devices < 2) {
    std::puts("one device only");
    std::exit(4);
  }
  bool right = true;
  for (int device = 0; device < devices; ++device) {
    check(cudaSetDevice(device), "device");
    right &= run_tiny(100);
  }
  return right;
}

void run_endless() {
  endless<<<1, 32>>>(zeros<unsigned>(32));
  check(cudaDeviceSynchronize(), "endless");
}

// The program must get CUDA's error.
bool run_trap() {
  trap<<<1, 32>>>(zeros<unsigned>(32));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}

} // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
  bool right = false;
  if (is("tiny"))
    right = run_tiny(10000);
  else if (is("streams"))
    right = run_streams(64);
  else if (is("many"))
    right = run_many(64);
  else if (is("longer")) // until it is killed
    for (;;)
      run_many(1u << 16);
  else if (is("waits-for-host"))
    right = run_waits_for_host();
  else if (is("waits-for-kernel"))
    right = run_waits_for_kernel();
  else if (is("endless"))
    run_endless();
  else if (is("trap"))
    right = run_trap();
  else if (is("devices"))
    right = run_devices();
  else {
    std::fprintf(
        stderr,
        "usage: hangs tiny|streams|many|longer|waits-for-host|waits-for-kernel|endless|trap|devices\n");
    return 2;
  }
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
