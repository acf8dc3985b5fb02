// Lowered kernels compute results by CUDA's definition, in both variants.
#include "device_program.h"
#include "test/catch.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("vector addition runs as a loop over threads and gives the sums") {
  const DeviceProgram program(R"(
    __global__ void add(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n)
        *warplens::store(3, &c[i]) = *warplens::load(1, &a[i]) + *warplens::load(2, &b[i]);
    })");
  CHECK(program.kernel("add").untraced_block != nullptr);
  CHECK(program.kernel("add").parameter_count == 4);
  const int n = 1000;
  std::vector<float> a(n), b(n), c(n, -1);
  std::iota(a.begin(), a.end(), 0.f);
  std::iota(b.begin(), b.end(), 5.f);
  REQUIRE(program.run("add", {8}, {128}, 0, a.data(), b.data(), c.data(), n).status == cpu::BlockStatus::ok);
  for (int i = 0; i < n; ++i)
    REQUIRE(c[i] == a[i] + b[i]);

  std::fill(c.begin(), c.end(), -1.f);
  std::vector<Seen> seen;
  const auto traced = program.trace(seen, "add", {8}, {128}, 0, a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; ++i)
    REQUIRE(c[i] == a[i] + b[i]);
  CHECK(traced.executed_accesses == 3 * n);
  CHECK(traced.probed_accesses == 3 * n);
  REQUIRE(seen.size() == 32 * 3); // 1000 threads: 31 full warps and one of 8
  std::uint64_t lanes = 0;
  for (const Seen& one : seen) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(one.line.active));
    lanes += static_cast<unsigned>(__builtin_popcount(one.line.active));
    const float* base = one.line.site == 1 ? a.data() : one.line.site == 2 ? b.data() : c.data();
    CHECK(one.line.addresses[lane] ==
          reinterpret_cast<std::uint64_t>(base + one.block * 128 + one.warp * 32 + lane));
    CHECK(one.line.bytes == 4);
    CHECK(one.line.kind == (one.line.site == 3 ? 1 : 0));
    CHECK(one.line.space == static_cast<int>(Space::global));
  }
  CHECK(lanes == 3 * n);
}

TEST_CASE("indices in three dimensions") {
  const DeviceProgram program(R"(
    __global__ void indices(unsigned* out) {
      unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      out[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 |
        blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
    })");
  std::vector<unsigned> out(24 * 24), traced(out.size());
  REQUIRE(program.run("indices", {2, 3, 4}, {4, 3, 2}, 0, out.data()).status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "indices", {2, 3, 4}, {4, 3, 2}, 0, traced.data()).status ==
          cpu::BlockStatus::ok);
  for (unsigned block = 0; block < 24; ++block)
    for (unsigned thread = 0; thread < 24; ++thread) {
      const unsigned expected = thread % 4 | thread / 4 % 3 << 4 | thread / 12 << 8 | block % 2 << 12 |
                                block / 2 % 3 << 16 | block / 6 << 20;
      REQUIRE(out[block * 24 + thread] == expected);
      REQUIRE(traced[block * 24 + thread] == expected);
    }
}

TEST_CASE("a reduction in shared memory, static and dynamic") {
  const DeviceProgram program(R"(
    __global__ void sum(const int* in, int* out) {
      __shared__ int partial[256];
      extern __shared__ int copy[];
      int t = threadIdx.x;
      *warplens::store(1, &partial[t]) = in[blockIdx.x * 256 + t];
      copy[t] = t;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (t < half)
          *warplens::update(2, &partial[t]) += *warplens::load(3, &partial[t + half]);
        __syncthreads();
      }
      if (t == 0)
        out[blockIdx.x] = partial[0] + copy[255] + copy[0];
    })");
  CHECK(program.kernel("sum").untraced_block != nullptr); // it waits only for its block
  CHECK(program.kernel("sum").static_shared_bytes == 1024);
  std::vector<int> in(4 * 256), out(4);
  std::iota(in.begin(), in.end(), 0);
  const auto check = [&] {
    for (int b = 0; b < 4; ++b)
      CHECK(out[b] == std::accumulate(in.begin() + 256 * b, in.begin() + 256 * (b + 1), 0) + 255);
  };
  REQUIRE(program.run("sum", {4}, {256}, 1024, in.data(), out.data()).status == cpu::BlockStatus::ok);
  check();
  out.assign(4, 0);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "sum", {4}, {256}, 1024, in.data(), out.data()).status == cpu::BlockStatus::ok);
  check();
  for (const Seen& one : seen) {
    CHECK(one.line.space == static_cast<int>(Space::shared));
    if (one.line.site == 1)
      CHECK(one.line.addresses[5] == one.warp * 128 + 5 * 4);
  }
  // The count per block: 8 warps store; then 4, 2, 1, 1, 1, 1, 1, 1 warps are active, each with a load and an
  // update.
  CHECK(seen.size() == 4 * (8 + 2 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1)));
}

TEST_CASE("barriers do not wait for threads that return before them") {
  const DeviceProgram program(R"(
    __global__ void early(int* out, int n) {
      __shared__ int values[64];
      int t = threadIdx.x;
      if (t >= n)
        return;
      values[t] = t;
      __syncthreads();
      out[t] = values[n - 1 - t];
    })");
  std::vector<int> out(64, -1);
  REQUIRE(program.run("early", {1}, {64}, 0, out.data(), 40).status == cpu::BlockStatus::ok);
  for (int t = 0; t < 64; ++t)
    CHECK(out[t] == (t < 40 ? 39 - t : -1));
}

TEST_CASE("variables that no kernel uses are registered all the same") {
  const DeviceProgram program(R"(
    __device__ int for_the_host = 1;
    __constant__ float table_for_the_host[2] = {2, 3};
    struct S { static const int member; };
    const int S::member = 4;
    extern "C" const unsigned exported = 5;
    extern const float filter[3];
    const float filter[3] = {6, 7, 8};
    struct Polymorphic { virtual int f() const { return 1; } };
    extern const Polymorphic object;
    const Polymorphic object;
    extern const char* const names[];
    const char* const names[] = {"a", "b"};
    __global__ void mark(int* out) { out[threadIdx.x] = threadIdx.x + 1; })");
  CHECK(*static_cast<int*>(program.variable("for_the_host")) == 1);
  CHECK(static_cast<float*>(program.variable("table_for_the_host"))[1] == 3);
  // Clang makes constants of the device of these, though only the host uses them.
  CHECK(*static_cast<int*>(program.variable("member")) == 4);
  CHECK(*static_cast<int*>(program.variable("exported")) == 5);
  std::vector<int> out(32);
  REQUIRE(program.run("mark", {1}, {32}, 0, out.data()).status == cpu::BlockStatus::ok);
  CHECK(out[31] == 32);
}

TEST_CASE("device and constant variables, structs by value, recursion, virtual and indirect calls") {
  const DeviceProgram program(R"(
    __device__ int counter = 7;
    __constant__ float factors[4];
    struct Big { int values[20]; char tag; };
    struct Shape { __device__ virtual int area() const = 0; };
    struct Square : Shape { int side; __device__ Square(int s) : side(s) {} __device__ int area() const override { return side * side; } };
    __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
    __device__ int twice(int x) { return 2 * x + threadIdx.x; }
    __device__ int thrice(int x) { return 3 * x + threadIdx.x; }
    __global__ void mixed(Big big, float* out, bool flag) {
      int t = threadIdx.x;
      big.values[t] += t; // each thread has its own
      Square square(t);
      const Shape* shape = &square;
      int (*function)(int) = t % 2 ? twice : thrice;
      atomicAdd(&counter, 1);
      out[t] = big.values[t] * factors[t % 4] + fibonacci(t % 10) + shape->area() + function(t) + (flag ? big.tag : 0);
    })");
  auto* factors = static_cast<float*>(program.variable("factors"));
  for (int i = 0; i < 4; ++i)
    factors[i] = static_cast<float>(i + 1);
  struct Big {
    int values[20];
    char tag;
  } big{};
  for (int i = 0; i < 20; ++i)
    big.values[i] = 100 * i;
  big.tag = 5;
  std::vector<float> out(20);
  const int fibonacci[10] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  const auto check = [&] {
    for (int t = 0; t < 20; ++t)
      CHECK(out[t] ==
            static_cast<float>(101 * t * (t % 4 + 1) + fibonacci[t % 10] + t * t + (t % 2 ? 3 : 4) * t + 5));
  };
  REQUIRE(program.run("mixed", {1}, {20}, 0, big, out.data(), true).status == cpu::BlockStatus::ok);
  check();
  CHECK(*static_cast<int*>(program.variable("counter")) == 27);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "mixed", {1}, {20}, 0, big, out.data(), true).status == cpu::BlockStatus::ok);
  check();
}

TEST_CASE("accesses to constant, local and shared memory are distinguished, and those without a probe are "
          "counted") {
  const DeviceProgram program(R"(
    __constant__ int table[32];
    __global__ void spaces(const int* in, int* out) {
      __shared__ int tile[32];
      int local[32];
      int t = threadIdx.x;
      for (int i = 0; i < 32; ++i)
        *warplens::store(1, &local[i]) = i * in[0]; // in[0] has no probe
      *warplens::store(2, &tile[t]) = *warplens::load(3, &table[t]);
      __syncthreads();
      *warplens::store(4, &out[t]) = *warplens::load(5, &local[(t * 7) % 32]) + *warplens::load(6, &tile[31 - t]);
    })");
  std::vector<int> in{2}, out(32);
  auto* table = static_cast<int*>(program.variable("table"));
  std::iota(table, table + 32, 100);
  std::vector<Seen> seen;
  const auto result = program.trace(seen, "spaces", {1}, {32}, 0, in.data(), out.data());
  for (int t = 0; t < 32; ++t)
    CHECK(out[t] == t * 7 % 32 * 2 + 131 - t);
  const Space expected[] = {Space::generic, Space::local, Space::shared, Space::constant,
                            Space::global,  Space::local, Space::shared};
  for (const Seen& one : seen) {
    CHECK(one.line.active == 0xffffffff);
    CHECK(one.line.space == static_cast<int>(expected[one.line.site]));
    if (one.line.site == 1) // interleaved by lane: a warp's words are neighbours
      for (int lane = 1; lane < 32; ++lane)
        REQUIRE(one.line.addresses[lane] == one.line.addresses[0] + 4 * static_cast<std::uint64_t>(lane));
  }
  CHECK(seen.size() == 32 + 5);
  // Each lane has four, and for the local array 32 stores and a load. Only accesses to local memory have
  // probes.
  CHECK(result.probed_accesses == 32 * (4 + 32 + 1));
  CHECK(result.executed_accesses > result.probed_accesses);
}

TEST_CASE("atomics count exactly, over all cores") {
  const DeviceProgram program(R"(
    __global__ void count(unsigned* out, float* sum) {
      atomicAdd(warplens::atomic(1, &out[0]), 1u);
      atomicInc(&out[1], 9u);
      atomicMax(&out[2], blockIdx.x * blockDim.x + threadIdx.x);
      atomicAdd(sum, 0.5f);
      unsigned* p = &out[3];
      unsigned old = *p, assumed;
      do { assumed = old; old = atomicCAS(p, assumed, assumed + 2); } while (old != assumed);
    })");
  CHECK(program.kernel("count").untraced_block != nullptr); // a retry loop makes progress alone
  for (const bool traced : {false, true}) {
    std::vector<unsigned> out(4);
    float sum = 0;
    std::vector<Seen> seen;
    const auto result = traced ? program.trace(seen, "count", {50}, {64}, 0, out.data(), &sum)
                               : program.run("count", {50}, {64}, 0, out.data(), &sum);
    REQUIRE(result.status == cpu::BlockStatus::ok);
    CHECK(out[0] == 3200);
    CHECK(out[1] == 0); // 3200 modulo 10
    CHECK(out[2] == 3199);
    CHECK(out[3] == 6400);
    CHECK(sum == 1600);
    CHECK(seen.size() == (traced ? 100 : 0));
  }
}

TEST_CASE("a lane that holds a lock is not starved by those of its warp that want it, nor a block by those "
          "after it") {
  const DeviceProgram program(R"(
    __global__ void locked(int* lock, int* value) {
      bool done = false;
      while (!done) {
        if (atomicCAS(warplens::atomic(1, lock), 0, 1) == 0) {
          for (int i = 0; i < 3; ++i)
            *warplens::update(2, value) += 1;
          __threadfence();
          atomicExch(lock, 0);
          done = true;
        }
      }
    }
    __global__ void chain(volatile int* flags) {
      if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
          while (flags[blockIdx.x - 1] == 0) {}
        flags[blockIdx.x] = 1;
      }
    })");
  int lock = 0, value = 0;
  REQUIRE(program.run("locked", {4}, {64}, 0, &lock, &value).status == cpu::BlockStatus::ok);
  CHECK(value == 3 * 256);
  value = 0;
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "locked", {4}, {64}, 0, &lock, &value).status == cpu::BlockStatus::ok);
  CHECK(value == 3 * 256);
  std::vector<int> flags(300);
  REQUIRE(program.run("chain", {300}, {32}, 0, flags.data()).status == cpu::BlockStatus::ok);
  CHECK(std::accumulate(flags.begin(), flags.end(), 0) == 300);
}

TEST_CASE("arithmetic follows CUDA's definitions") {
  const DeviceProgram program(R"(
    __global__ void mathematics(float* f, double* d, int* i, unsigned long long* u) {
      f[0] = __fdividef(6.f, 4.f); f[1] = rsqrtf(16.f); f[2] = fmaf(2.f, 3.f, 4.f); f[3] = fminf(1.f, __int_as_float(0x7fc00000));
      f[4] = sqrtf(2.f); f[5] = sinf(1.f); f[6] = powf(2.f, 0.5f); f[7] = __saturatef(3.f); f[8] = rintf(2.5f); f[9] = __fmul_rn(3.f, 5.f);
      d[0] = exp(1.0); d[1] = floor(-1.5); d[2] = fabs(-3.0); d[3] = __shfl_xor_sync(~0u, threadIdx.x + 0.25, 1);
      i[0] = __popc(0xff00ff); i[1] = __clz(1); i[2] = __ffs(8); i[3] = __ffs(0); i[4] = __brev(1); i[5] = __mulhi(1 << 30, 8);
      i[6] = __float2int_rn(2.5f); i[7] = (int)-2.9f; i[8] = max(-3, 2); i[9] = abs(-7); i[10] = __byte_perm(0x33221100, 0x77665544, 0x6420);
      i[11] = __umulhi(0xffffffffu, 2u); i[12] = __ffsll(1ll << 40); i[13] = __float2int_rz(1e20f);
      u[0] = __brevll(1ull); u[1] = __umul64hi(~0ull, 3ull); u[2] = __popcll(~0ull);
    })");
  std::vector<float> f(10);
  std::vector<double> d(4);
  std::vector<int> i(14);
  std::vector<unsigned long long> u(3);
  REQUIRE(program.run("mathematics", {1}, {32}, 0, f.data(), d.data(), i.data(), u.data()).status ==
          cpu::BlockStatus::ok);
  CHECK(f == std::vector<float>{1.5f, 0.25f, 10.f, 1.f, std::sqrt(2.f), std::sin(1.f), std::pow(2.f, 0.5f),
                                1.f, 2.f, 15.f});
  CHECK(d[0] == Approx(std::exp(1.0)));
  CHECK(d[1] == -2);
  CHECK(d[2] == 3);
  CHECK(d[3] == 30.25); // the last lane wrote
  CHECK(i == std::vector<int>{16, 31, 4, 0, INT32_MIN, 2, 2, -2, 2, 7, 0x66442200, 1, 41, INT32_MAX});
  CHECK(u == std::vector<unsigned long long>{1ull << 63, 2, 64});
}
