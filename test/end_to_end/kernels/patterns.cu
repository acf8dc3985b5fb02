// Access patterns whose figures can be worked out by hand (patterns_test.py does). Every kernel is launched once
// and checked on the host.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr int threads = 256;
constexpr int blocks = 56;
constexpr int words_in_all = blocks * threads * 64; // the reach of the widest stride

struct Triple { // 12 bytes
  float x, y, z;
};
struct Wide { // 24 bytes
  double x, y, z;
};
struct alignas(16) Pair { // 32 bytes, two accesses of 16
  float4 first, second;
};

__device__ int global_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void copy(const float* in, float* out) {
  const int i = global_index();
  out[i] = in[i]; // site: copy
}

template <int bytes> __global__ void stride(const char* base, float* out) {
  const int i = global_index();
  out[i] = *reinterpret_cast<const float*>(base + i * bytes); // site: stride
}

template <int bytes> __global__ void walk(const char* base, int steps, float* out) {
  float sum = 0;
  for (int step = 0; step < steps; ++step)
    sum += *reinterpret_cast<const float*>(base + step * bytes); // site: walk
  *out = sum;
}

__global__ void triple_fields(const Triple* in, float* out) {
  const int i = global_index();
  const float x = in[i].x; // site: triple_x
  const float y = in[i].y; // site: triple_y
  const float z = in[i].z; // site: triple_z
  out[i] = x + y + z;
}

__global__ void wide_fields(const Wide* in, float* out) {
  const int i = global_index();
  const double x = in[i].x; // site: wide_x
  const double y = in[i].y; // site: wide_y
  const double z = in[i].z; // site: wide_z
  out[i] = static_cast<float>(x + y + z);
}

__global__ void copy_float4(const float4* in, float4* out) {
  const int i = global_index();
  out[i] = in[i]; // site: float4
}

__global__ void copy_triple(const Triple* in, Triple* out) {
  const int i = global_index();
  out[i] = in[i]; // site: triple
}

__global__ void copy_pair(const Pair* in, Pair* out) {
  const int i = global_index();
  out[i] = in[i]; // site: pair
}

template <int words> __global__ void reread(const float* table, int rounds, float* out) {
  float sum = 0;
  for (int round = 0; round < rounds; ++round)
    for (int word = threadIdx.x; word < words; word += blockDim.x)
      sum += table[word]; // site: reread
  out[threadIdx.x] = sum;
}

__global__ void same_line(const float* table, float* out) {
  out[global_index()] = table[threadIdx.x % 32]; // site: same_line
}

static float word(int index) {
  return static_cast<float>(index % 7);
}

class Bench {
public:
  Bench() {
    std::vector<float> values(words_in_all);
    for (int i = 0; i < words_in_all; ++i)
      values[i] = word(i);
    cudaMalloc(&in_, words_in_all * sizeof(float));
    cudaMalloc(&out_, blocks * threads * sizeof(Pair));
    cudaMemcpy(in_, values.data(), words_in_all * sizeof(float), cudaMemcpyHostToDevice);
  }

  template <class T> const T* in() const { return reinterpret_cast<const T*>(in_); }
  template <class T> T* out() const { return reinterpret_cast<T*>(out_); }

  /// Compares out[0], out[1], … with `expected(i)`.
  template <class Expected> void check(const char* name, int count, Expected expected) {
    const cudaError_t status = cudaDeviceSynchronize();
    std::vector<float> found(count);
    cudaMemcpy(found.data(), out_, count * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = status != cudaSuccess;
    for (int i = 0; i < count; ++i)
      wrong += found[i] != expected(i);
    std::printf("%s: %s\n", name, wrong ? "WRONG" : "right");
    failed_ |= wrong != 0;
  }

  bool failed() const { return failed_; }

private:
  float *in_ = nullptr, *out_ = nullptr;
  bool failed_ = false;
};

template <int bytes> void run_stride(Bench& bench) {
  stride<bytes><<<blocks, threads>>>(bench.in<char>(), bench.out<float>());
  bench.check("stride", blocks * threads, [](int i) { return word(i * bytes / 4); });
}

template <int bytes> void run_walk(Bench& bench) {
  constexpr int steps = 1024;
  walk<bytes><<<1, 1>>>(bench.in<char>(), steps, bench.out<float>());
  bench.check("walk", 1, [](int) {
    float sum = 0;
    for (int step = 0; step < steps; ++step)
      sum += word(step * bytes / 4);
    return sum;
  });
}

template <int words> void run_reread(Bench& bench, int block, int rounds) {
  reread<words><<<1, block>>>(bench.in<float>(), rounds, bench.out<float>());
  bench.check("reread", block, [=](int thread) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round)
      for (int i = thread; i < words; i += block)
        sum += word(i);
    return sum;
  });
}

int main() {
  Bench bench;
  const int count = blocks * threads;

  copy<<<blocks, threads>>>(bench.in<float>(), bench.out<float>());
  bench.check("copy", count, word);

  run_stride<4>(bench);
  run_stride<8>(bench);
  run_stride<16>(bench);
  run_stride<32>(bench);
  run_stride<64>(bench);
  run_stride<128>(bench);
  run_stride<256>(bench);

  run_walk<4>(bench);
  run_walk<8>(bench);
  run_walk<16>(bench);
  run_walk<32>(bench);
  run_walk<64>(bench);
  run_walk<128>(bench);
  run_walk<256>(bench);

  triple_fields<<<blocks, threads>>>(bench.in<Triple>(), bench.out<float>());
  bench.check("triple_fields", count, [](int i) { return word(3 * i) + word(3 * i + 1) + word(3 * i + 2); });

  std::vector<Wide> wide(count);
  for (int i = 0; i < count; ++i)
    wide[i] = {i * 1.0, i * 2.0, i * 4.0};
  Wide* wide_in = nullptr;
  cudaMalloc(&wide_in, count * sizeof(Wide));
  cudaMemcpy(wide_in, wide.data(), count * sizeof(Wide), cudaMemcpyHostToDevice);
  wide_fields<<<blocks, threads>>>(wide_in, bench.out<float>());
  bench.check("wide_fields", count, [](int i) { return i * 7.0f; });

  copy_float4<<<blocks, threads>>>(bench.in<float4>(), bench.out<float4>());
  bench.check("copy_float4", 4 * count, word);
  copy_triple<<<blocks, threads>>>(bench.in<Triple>(), bench.out<Triple>());
  bench.check("copy_triple", 3 * count, word);
  copy_pair<<<blocks, threads>>>(bench.in<Pair>(), bench.out<Pair>());
  bench.check("copy_pair", 8 * count, word);

  run_reread<12 * 1024 / 4>(bench, threads, 10);
  run_reread<96 * 1024 / 4>(bench, threads, 10);
  run_reread<64 * 1024 / 4>(bench, 32, 10);
  run_reread<512 * 1024 / 4>(bench, 32, 5);

  same_line<<<blocks, threads>>>(bench.in<float>(), bench.out<float>());
  bench.check("same_line", count, [](int i) { return word(i % 32); });

  return bench.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
