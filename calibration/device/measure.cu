// warplens-measure FOLDER [SECONDS [DEVICE]]: runs microbenchmarks on a GPU and leaves their raw curves in
// the folder. Exit code 3 and one line on stderr mean that there is no GPU.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

__global__ void sweep(const ulonglong2* memory, unsigned long long count, unsigned long long* sums) {
  unsigned long long sum = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const ulonglong2 value = memory[i];
    sum += value.x + value.y;
  }
  if (sum != 0)
    *sums = sum; // never: all of it is 0
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "device");
  check(cudaDeviceGetAttribute(&value, which, device), "device");
  return value;
}

Device open_device(int index) {
  constexpr std::size_t at_least = std::size_t{64} << 20;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || index >= count) {
    if (error == cudaSuccess && count > 0)
      std::fprintf(stderr, "there is no GPU %d: they count from 0 to %d\n", index, count - 1);
    else
      std::fprintf(stderr, "no NVIDIA GPU that programs may use: %s\n",
                   error == cudaSuccess ? "CUDA finds none" : cudaGetErrorString(error));
    std::exit(3);
  }
  check(cudaSetDevice(index), "device");
  Device device;
  check(cudaGetDeviceProperties(&device.properties, index), "device");
  device.bus_bits = device.properties.memoryBusWidth;
  check(cudaDriverGetVersion(&device.driver), "driver");
  check(cudaRuntimeGetVersion(&device.runtime), "runtime");
  const auto l2 = static_cast<std::size_t>(device.properties.l2CacheSize);
  device.bytes = std::min(std::max(8 * l2, std::size_t{512} << 20), device.properties.totalGlobalMem / 4);
  device.sweep_bytes = std::min(std::max(3 * l2, at_least), device.properties.totalGlobalMem / 8);
  check(cudaMalloc(&device.memory, device.bytes), "memory to measure");
  check(cudaMalloc(&device.sweep, device.sweep_bytes), "memory to flush the L2");
  check(cudaMemset(device.sweep, 0, device.sweep_bytes), "memory to flush the L2");
  check(cudaMalloc(&device.results, Device::max_results * sizeof *device.results), "results");
  return device;
}

void print_device(const Device& device, const std::string& folder, double clock_mhz) {
  const cudaDeviceProp& p = device.properties;
  Csv csv(folder, "device", "property,value");
  const auto row = [&](const char* name, unsigned long long value) { csv.row("%s,%llu\n", name, value); };
  csv.row("name,%s\n", static_cast<const char*>(p.name));
  row("compute_capability", static_cast<unsigned>(p.major * 10 + p.minor));
  row("driver", static_cast<unsigned>(device.driver));
  row("runtime", static_cast<unsigned>(device.runtime));
  csv.row("clock_mhz,%.1f\n", clock_mhz);
  row("sms", static_cast<unsigned>(p.multiProcessorCount));
  row("max_threads_per_sm", static_cast<unsigned>(p.maxThreadsPerMultiProcessor));
  row("max_blocks_per_sm", static_cast<unsigned>(p.maxBlocksPerMultiProcessor));
  row("max_threads_per_block", static_cast<unsigned>(p.maxThreadsPerBlock));
  row("registers_per_sm", static_cast<unsigned>(p.regsPerMultiprocessor));
  row("registers_per_block", static_cast<unsigned>(p.regsPerBlock));
  row("shared_per_sm", p.sharedMemPerMultiprocessor);
  row("shared_per_block_optin", p.sharedMemPerBlockOptin);
  row("reserved_shared_per_block", p.reservedSharedMemPerBlock);
  row("l2_bytes", static_cast<unsigned>(p.l2CacheSize));
  row("memory_bytes", p.totalGlobalMem);
  row("memory_bus_bits", static_cast<unsigned>(device.bus_bits));
  row("max_clock_khz", static_cast<unsigned>(attribute(cudaDevAttrClockRate)));
}

} // namespace

void flush(const Device& device) {
  sweep<<<4 * device.properties.multiProcessorCount, 512>>>(
      reinterpret_cast<const ulonglong2*>(device.sweep), device.sweep_bytes / sizeof(ulonglong2),
      reinterpret_cast<unsigned long long*>(device.results));
}

std::vector<long long> results_of(const Device& device, std::size_t count) {
  std::vector<long long> results(count);
  check(cudaMemcpy(results.data(), device.results, count * sizeof *device.results, cudaMemcpyDeviceToHost),
        "results");
  return results;
}

} // namespace measure

int main(int argc, char** argv) {
  using namespace measure;
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: warplens-measure FOLDER [SECONDS [DEVICE]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 60;
  const Device device = open_device(argc > 3 ? std::atoi(argv[3]) : 0);
  print_device(device, folder, measure_clock_mhz(device));
  measure_on_chip(device, folder);
  measure_bandwidth(device, folder);
  measure_policies(device, folder);
  measure_distance(device, folder, 0.05 * seconds);
  measure_strides(device, folder, 0.1 * seconds);
  measure_touches(device, folder, 0.1 * seconds);
  measure_bits(device, folder, 0.08 * seconds);
  measure_batches(device, folder, 0.07 * seconds);
  measure_chase(device, folder, chase_share * seconds);
}
