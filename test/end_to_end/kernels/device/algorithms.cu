// flags: -arch=sm_80 --extended-lambda
// CUB's and Thrust's algorithms of the whole device.

#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

constexpr int count = 5000;

__host__ __device__ int number(int i) {
  return static_cast<int>(static_cast<unsigned>(i) * 7919U % 1009U);
}

/// Requests the storage it needs, and runs.
template <class Algorithm> bool run(Algorithm algorithm) {
  std::size_t bytes = 0;
  void* storage = nullptr;
  if (algorithm(storage, bytes) != cudaSuccess || cudaMalloc(&storage, bytes) != cudaSuccess)
    return false;
  const bool done = algorithm(storage, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(storage);
  return done;
}

void tell(const char* name, bool right) {
  std::printf("%s: %s\n", name, right ? "right" : "wrong");
}

void of_the_device() {
  int *in, *out, *values;
  cudaMallocManaged(&in, count * sizeof(int));
  cudaMallocManaged(&out, (count + 1) * sizeof(int));
  cudaMallocManaged(&values, 2 * count * sizeof(int));
  std::vector<int> host(count);
  for (int i = 0; i < count; ++i)
    in[i] = host[i] = number(i);
  bool done = run([&](void* s, std::size_t& b) { return cub::DeviceReduce::Sum(s, b, in, out, count); });
  tell("device: sum", done && out[0] == std::accumulate(host.begin(), host.end(), 0));
  done = run([&](void* s, std::size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, count); });
  std::vector<int> expected(count);
  std::partial_sum(host.begin(), host.end(), expected.begin());
  tell("device: scan", done && std::equal(expected.begin(), expected.end(), out));
  for (int i = 0; i < count; ++i)
    values[i] = i;
  done = run([&](void* s, std::size_t& b) {
    return cub::DeviceRadixSort::SortPairs(s, b, in, out, values, values + count, count);
  });
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host[a] < host[b]; });
  bool right = done;
  for (int i = 0; i < count; ++i)
    right = right && out[i] == host[order[i]] && values[count + i] == order[i];
  tell("device: sort", right);
  done = run([&](void* s, std::size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, in, out, 17, 0, 1024, count);
  });
  std::vector<int> bins(16);
  for (const int value : host)
    ++bins[value / 64];
  tell("device: histogram", done && std::equal(bins.begin(), bins.end(), out));
  done = run([&](void* s, std::size_t& b) {
    return cub::DeviceSelect::If(s, b, in, out, out + count, count,
                                 [] __host__ __device__(int value) { return value % 3 == 0; });
  });
  std::vector<int> kept;
  std::copy_if(host.begin(), host.end(), std::back_inserter(kept), [](int value) { return value % 3 == 0; });
  tell("device: select",
       done && out[count] == static_cast<int>(kept.size()) && std::equal(kept.begin(), kept.end(), out));
}

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

void of_thrust() {
  std::vector<int> host(count);
  for (int i = 0; i < count; ++i)
    host[i] = number(i);
  thrust::device_vector<int> values(host.begin(), host.end()), results(count);
  tell("thrust: reduce", thrust::reduce(values.begin(), values.end(), 0, thrust::maximum<int>()) ==
                             *std::max_element(host.begin(), host.end()));
  thrust::transform(values.begin(), values.end(), results.begin(), Square());
  bool right = true;
  for (int i = 0; i < count; i += 97)
    right = right && results[i] == host[i] * host[i];
  tell("thrust: transform", right);
  thrust::exclusive_scan(values.begin(), values.end(), results.begin());
  tell("thrust: scan", results[count - 1] == std::accumulate(host.begin(), host.end() - 1, 0));
  thrust::sort(values.begin(), values.end(), thrust::greater<int>());
  std::sort(host.begin(), host.end(), std::greater<int>());
  tell("thrust: sort", std::equal(host.begin(), host.end(), thrust::host_vector<int>(values).begin()));
}

int main() {
  of_the_device();
  of_thrust();
}
