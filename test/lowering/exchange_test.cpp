// Code that relies on the lock step of a warp computes the same as on a GPU, in both variants; code with
// barriers gets no stops. Expected values are computed in plain C++.
#include "device_program.h"
#include "test/catch.h"

#include <fmt/format.h>
#include <numeric>
#include <vector>

using namespace warplens;
using namespace warplens::test;

namespace {

/// Runs a kernel `kernel(unsigned* out, int n)` in both variants; each thread of the blocks stores out[its
/// number].
std::vector<unsigned> in_both_variants(const std::string& source, trace::Dim3 block, int n = 32,
                                       bool in_loops = true) {
  const DeviceProgram program(source);
  CHECK((program.kernel("kernel").untraced_block != nullptr) == in_loops);
  std::vector<unsigned> untraced(2 * block.count(), 77), traced(untraced);
  REQUIRE(program.run("kernel", {2}, block, 4096, untraced.data(), n).status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "kernel", {2}, block, 4096, traced.data(), n).status == cpu::BlockStatus::ok);
  CHECK(untraced == traced);
  return untraced;
}

/// Returns a kernel with this body; `t` is the thread, `result` its result.
std::string kernel(const std::string& body, const std::string& before = "",
                   const std::string& name = "kernel") {
  return before + "\n__global__ void " + name +
         "(unsigned* out, int n) { __shared__ unsigned s[256]; unsigned result = 0;"
         " unsigned t = threadIdx.x; " +
         body + " out[blockIdx.x * blockDim.x + t] = result; }";
}

/// Returns the number of places in the program's code in which lanes wait in lock step, for programs without
/// probes.
std::uint32_t stops_of(const std::string& source) {
  return DeviceProgram(source).kernel("kernel").key_count;
}

unsigned hash(unsigned thread) {
  return thread * 2654435761U >> 20;
}
constexpr char device_hash[] =
    "__device__ unsigned hash(unsigned thread) { return thread * 2654435761U >> 20; }";

} // namespace

TEST_CASE("a reduction by the last warp, volatile and without barriers") {
  const auto out = in_both_variants(kernel(R"(
      s[t] = hash(t);
      __syncthreads();
      for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
      }
      if (t < 32) reduce(s, t);
      __syncthreads();
      result = s[0];)",
                                           std::string(device_hash) + R"(
      __device__ void reduce(volatile unsigned* s, int t) {
        s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1];
      })"),
                                    {256});
  unsigned sum = 0;
  for (unsigned t = 0; t < 256; ++t)
    sum += hash(t);
  CHECK(out == std::vector<unsigned>(512, sum));
}

TEST_CASE("a scan within warps, with and without volatile, in a loop and unrolled") {
  const char* loop = "for (int by = 1; by < n; by *= 2) if (lane >= by) p[t] += p[t - by];";
  const char* unrolled =
      "if (lane >= 1) p[t] += p[t - 1]; if (lane >= 2) p[t] += p[t - 2]; if (lane >= 4) p[t] += p[t - 4];"
      "if (lane >= 8) p[t] += p[t - 8]; if (lane >= 16) p[t] += p[t - 16];";
  const auto code = GENERATE_COPY(loop, unrolled);
  const std::string type = GENERATE("unsigned* p = s;", "volatile unsigned* p = s;");
  // A loop that reads volatile data may wait for other threads.
  const bool in_loops = code == unrolled || !type.starts_with("volatile");
  const auto out = in_both_variants(
      kernel(type + " int lane = t & 31; p[t] = hash(t);" + code + " result = p[t];", device_hash), {96}, 32,
      in_loops);
  for (unsigned t = 0; t < 96; ++t) {
    unsigned sum = 0;
    for (unsigned before = t / 32 * 32; before <= t; ++before)
      sum += hash(before);
    CHECK(out[t] == sum);
    CHECK(out[96 + t] == sum);
  }
}

TEST_CASE("lanes in different iterations, and lanes that leave early") {
  // In iteration i the lanes from i on add their left neighbour's value; those below have left, or do
  // nothing.
  const std::string way = GENERATE("if (lane < i) break;", "if (lane < i) continue;");
  const auto out = in_both_variants(
      kernel("volatile unsigned* p = s; int lane = t & 31; p[t] = t;"
             "for (int i = 1; i < n; ++i) {" +
             way + " p[t] += p[t - 1]; if (lane % 3 == 0) p[t] += p[t - 1]; } result = p[t];"),
      {64});
  std::vector<unsigned> lanes(64);
  std::iota(lanes.begin(), lanes.end(), 0U);
  for (unsigned i = 1; i < 32; ++i)
    for (const unsigned step : {1U, 3U}) {
      const auto before = lanes;
      for (unsigned t = 0; t < 64; ++t)
        if (t % 32 >= i && t % 32 % step == 0)
          lanes[t] += before[t - 1];
    }
  CHECK(std::vector(out.begin(), out.begin() + 64) == lanes);
}

TEST_CASE("each thread reads its neighbour's old value before that one writes a new one") {
  const auto out = in_both_variants(kernel(R"(
      s[t] = t;
      __syncthreads();
      for (int i = 0; i < n; ++i) {
        unsigned left = t ? s[t - 1] : 1000 + i;
        s[t] = left + 1;
        __syncthreads();
      }
      result = s[t];)"),
                                    {64}, 5);
  std::vector<unsigned> s(64);
  std::iota(s.begin(), s.end(), 0U);
  for (unsigned i = 0; i < 5; ++i) {
    const auto before = s;
    for (unsigned t = 0; t < 64; ++t)
      s[t] = (t ? before[t - 1] : 1000 + i) + 1;
  }
  CHECK(std::vector(out.begin(), out.begin() + 64) == s);
}

TEST_CASE("lanes store their values where they have looked it up, in one array") {
  const auto out = in_both_variants(kernel(R"(
    struct Point { unsigned x, y, z; };
    __shared__ Point points[64];
    points[t] = {t, t + 1, t + 2};
    s[t] = t / 32 * 32 + 31 - t % 32;
    __syncthreads();
    points[s[t]] = points[t];
    __syncthreads();
    result = points[t].x + 1000 * (points[t].z - points[t].x);)"),
                                    {64});
  for (unsigned t = 0; t < 64; ++t)
    CHECK(out[t] == t / 32 * 32 + 31 - t % 32 + 2000);
}

TEST_CASE(
    "one thread replaces data that all have yet to read: on a GPU they have, since that takes a moment") {
  const auto out = in_both_variants(kernel(R"(
      __shared__ unsigned next;
      if (t == 0) next = 0;
      __syncthreads();
      result = 0;
      while (next < 10) {
        unsigned here = next;
        if (here % 3 == 0) {
          if (t == 0) next = here + 1;
          __syncthreads();
          continue;
        }
        result = 10 * result + next;
        if (t == 0) next = next + 1;
        __syncthreads();
      })"),
                                    {64});
  for (unsigned t = 0; t < 64; ++t)
    CHECK(out[t] == 124578);
}

TEST_CASE("a thread finds data that all warps have stored just before, without a barrier") {
  const auto out = in_both_variants(kernel(R"(
      for (int i = t; i < 256; i += blockDim.x) s[i] = 3 * i;
      int low = 0, high = 256;
      while (low < high) {
        int middle = (low + high) / 2;
        if (s[middle] < t * 9) low = middle + 1; else high = middle;
      }
      result = low;)"),
                                    {80});
  for (unsigned t = 0; t < 80; ++t)
    CHECK(out[t] == 3 * t);
}

TEST_CASE("one thread reads from global memory what the others of its warp have stored") {
  const auto out = in_both_variants(R"(
      __global__ void kernel(unsigned* out, int n) {
        for (int i = threadIdx.x; i < 64; i += blockDim.x) out[i] = 5 * i + 1;
        if (threadIdx.x == 0) {
          unsigned sum = 0;
          for (int i = 0; i < n; ++i) sum += out[i];
          out[100] = sum;
        }
      })",
                                    {64});
  CHECK(out[100] == 5 * 31 * 16 + 32);
}

TEST_CASE("flags that are cleared by all lanes and then set by some") {
  const auto out = in_both_variants(kernel(R"(
      volatile unsigned* p = s;
      p[t] = 0;
      if (t % 4 == 0) p[t / 2] = 1;
      result = p[t];)"),
                                    {32});
  for (unsigned t = 0; t < 32; ++t)
    CHECK(out[t] == (t < 16 && t % 2 == 0));
}

TEST_CASE("a lock around volatile data: the spinning lane lets the others run") {
  const auto out = in_both_variants(R"(
      __global__ void kernel(unsigned* out, int n) {
        __shared__ volatile unsigned sum, last; __shared__ unsigned lock;
        if (threadIdx.x == 0) { sum = 0; last = 0; lock = 0; }
        __syncthreads();
        for (bool done = false; !done;)
          if (atomicCAS(&lock, 0, 1) == 0) {
            last = sum;
            sum = last + threadIdx.x;
            atomicExch(&lock, 0);
            done = true;
          }
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
      })",
                                    {96}, 32, false);
  CHECK(out == std::vector<unsigned>(192, 95 * 48));
}

TEST_CASE("lanes that spin for one that waits behind their loop do not hold it back for ever") {
  const auto out = in_both_variants(kernel(R"(
      __shared__ volatile unsigned flag;
      volatile unsigned* p = s;
      if (t == 0) flag = 0;
      p[t] = t;
      __syncthreads();
      if (t != 31) while (flag == 0) {}
      if (t == 31) { p[t] = 7; result = p[0]; p[0] = result + p[t]; flag = 1; }
      result += p[t];)"),
                                    {64}, 32, false);
  CHECK(out[0] == 7);
  CHECK(out[1] == 1);
}

TEST_CASE("a lane that others wait for in lock step may spin, be it for another warp") {
  const auto out = in_both_variants(kernel(R"(
      __shared__ volatile unsigned flag;
      volatile unsigned* p = s;
      if (t == 0) flag = 0;
      __syncthreads();
      p[t] = 1;
      if (t == 31) { while (flag == 0) {} p[t] = 5; }
      if (t < 32) result = p[(t + 1) & 31];
      else { for (int i = 0; i < n; ++i) { p[t] += p[t ^ 1]; p[t] += p[t ^ 3]; } __threadfence_block(); flag = 1; })"),
                                    {64}, 32, false);
  for (unsigned t = 0; t < 32; ++t)
    CHECK(out[t] == (t == 30 ? 5 : 1));
}

TEST_CASE("an atomic access follows all lanes' stores before it") {
  const auto out = in_both_variants(kernel(R"(
      s[31 - t] = 0x80000000u | t;
      if (t == 1) atomicAnd(s + 1, 0x7fffffffu);
      __syncwarp();
      result = s[t];)"),
                                    {32}, 0, false);
  for (unsigned t = 0; t < 32; ++t)
    CHECK(out[t] == (t == 1 ? 30 : 0x80000000u | (31 - t)));
}

TEST_CASE("the last lane of a warp operation does not run ahead of lane 0") {
  const auto out = in_both_variants(R"(
      __global__ void kernel(unsigned* out, int n) {
        __shared__ unsigned arrived, word;
        unsigned lane = threadIdx.x;
        if (lane == 0) arrived = word = 0;
        __syncwarp();
        if (lane == 5)
          while (atomicAdd(&arrived, 0) < 31) {}
        else
          atomicAdd(&arrived, 1);
        __syncwarp();
        if (lane == 0) atomicExch(&word, 7);
        out[lane] = atomicAdd(&word, 0);
      })",
                                    {32}, 0, false);
  for (unsigned lane = 0; lane < 32; ++lane)
    CHECK(out[lane] == 7);
}

TEST_CASE("lanes that log more than others keep in step with them, however full their logs are") {
  const auto source = [](const std::string& more) {
    return R"(
      __global__ void kernel(unsigned* out, int n) {
        __shared__ volatile unsigned s[32];
        unsigned lane = threadIdx.x, x = lane, sum = 0;
        for (int i = 0; i < n; ++i) {
          )" +
           more + R"(
          s[lane] = x;
          x = s[(lane + 1) % 32] + 1;
        }
        out[lane] = x + (sum == 12345);
      })";
  };
  for (const char* more : {"if (lane % 4 == 1) sum += out[32 + (i * 5 + lane) % 64];",
                           "for (int j = 0; j < lane; ++j) sum += out[32 + (i * 5 + lane + j) % 64];"}) {
    const auto out = in_both_variants(source(more), {32}, 200);
    for (unsigned lane = 0; lane < 32; ++lane)
      CHECK(out[lane] == (lane + 200) % 32 + 200);
  }
}

TEST_CASE("a retry until one's own tag is read, traced for long (the histogram of CUDA's old samples)") {
  const auto out = in_both_variants(R"(
      __global__ void kernel(unsigned* out, int n) {
        __shared__ volatile unsigned count[1];
        unsigned lane = threadIdx.x;
        count[0] = 0;
        __syncwarp();
        for (int i = 0; i < n; ++i) {
          unsigned c;
          do {
            c = lane << 27 | ((count[0] & 0x07ffffff) + 1);
            count[0] = c;
          } while (count[0] != c);
        }
        __syncwarp();
        out[lane] = count[0] & 0x07ffffff;
      })",
                                    {32}, 50, false);
  for (unsigned lane = 0; lane < 32; ++lane)
    CHECK(out[lane] == 32 * 50);
}

TEST_CASE("lanes in lock step do not wait for lanes at shuffles and barriers") {
  const auto out = in_both_variants(kernel(R"(
      volatile unsigned* p = s;
      p[t] = t;
      if (t % 32 < 16) { p[t] = p[t ^ 1]; result = __shfl_xor_sync(0xffff, p[t], 2); }
      else result = __shfl_xor_sync(0xffff0000, t, 4);
      if (t >= 32) __syncthreads();
      else { p[t] = p[t ^ 2] + 1; __syncthreads(); }
      result += p[t];)"),
                                    {64}, 32, false);
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned swapped = t % 32 < 16 ? t ^ 1 : t;
    const unsigned shuffled = t % 32 < 16 ? (t ^ 2) ^ 1 : t ^ 4;
    const unsigned other = (t ^ 2) % 32 < 16 ? (t ^ 2) ^ 1 : t ^ 2;
    CHECK(out[t] == shuffled + (t < 32 ? other + 1 : swapped));
  }
}

TEST_CASE("code with barriers has no stops") {
  const std::vector<const char*> bodies = {
      // reductions, with known and unknown steps
      "s[t] = t; __syncthreads(); for (int half = n / 2; half > 0; half /= 2) { if (t < half) s[t] += s[t "
      "+ half]; "
      "__syncthreads(); } result = s[0];",
      "s[t] = t; __syncthreads(); if (t < 128) s[t] += s[t + 128]; __syncthreads(); if (t < 64) s[t] += "
      "s[t + 64]; "
      "__syncthreads(); result = s[0];",
      "s[t] = t; __syncthreads(); for (int by = 1; by < n; by *= 2) { if (t % (2 * by) == 0) s[t] += s[t + "
      "by]; "
      "__syncthreads(); } result = s[0];",
      "s[t] = t; __syncthreads(); for (int by = 1; by < n; by *= 2) { int i = 2 * by * t; if (i < n) s[i] "
      "+= s[i + by]; "
      "__syncthreads(); } result = s[0];",
      // a scan in two buffers, and one with two barriers
      "int to = 0; s[t] = t; __syncthreads(); for (int by = 1; by < n; by *= 2) { to = 1 - to; s[to * n + "
      "t] = s[(1 - to) * n + t] "
      "+ (t >= by ? s[(1 - to) * n + t - by] : 0); __syncthreads(); } result = s[to * n + t];",
      "s[t] = t; __syncthreads(); for (int by = 1; by < n; by *= 2) { unsigned left = t >= by ? s[t - by] "
      ": 0; __syncthreads(); s[t] "
      "+= left; __syncthreads(); } result = s[t];",
      // a thread's own data: a place, a row, a column, a stretch
      "s[t] = t; s[t] += 5; result = s[t];",
      "for (int i = t; i < 256; i += blockDim.x) s[i] = i; for (int i = t; i < 256; i += blockDim.x) "
      "result += s[i];",
      "for (int i = 0; i < 4; ++i) s[i * 64 + t] = i; for (int i = 0; i < 4; ++i) result += s[i * 64 + t];",
      "for (int i = 0; i < 4; ++i) s[t * 4 + i] = i; for (int i = 0; i < 4; ++i) result += s[t * 4 + i];",
      "for (int i = 0; i < n; ++i) s[t * n + i] = i; for (int i = 0; i < n; ++i) result += s[t * n + i];",
      "s[2 * t] = t; s[2 * t + 1] = 5; result = s[2 * t] + s[2 * t + 1];",
      // one thread alone; a sort of pairs
      "s[t] = t; __syncthreads(); if (t == 0) for (int i = 1; i < n; ++i) s[i] += s[i - 1]; "
      "__syncthreads(); result = s[t];",
      "s[t] = t; __syncthreads(); for (int j = n / 2; j > 0; j /= 2) { int other = t ^ j; if (other > t && "
      "s[t] > s[other]) { unsigned "
      "x = s[t]; s[t] = s[other]; s[other] = x; } __syncthreads(); } result = s[t];",
      // a volatile word that each thread has for itself, and one in global memory
      "volatile unsigned* p = s; p[t] = t; p[t] += 5; result = p[t];",
      "volatile unsigned* p = out; p[t] = t; result = p[t + 1];",
      // histograms, shared by atomics and each thread's own
      "s[t] = 0; __syncthreads(); atomicAdd(&s[t * 7 & 63], 1); __syncthreads(); result = s[t];",
      "for (int i = 0; i < 4; ++i) s[i * 64 + t] = 0; for (int i = 0; i < n; ++i) s[(out[i] & 3) * 64 + t] "
      "+= 1; result = s[t];"};
  const auto name_of = [](std::size_t i) { return fmt::format("body{}_", i); };
  std::string all;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    all += kernel(bodies[i], "", name_of(i));
  const DeviceProgram program(all);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    INFO(bodies[i]);
    CHECK(program.kernel(name_of(i)).key_count == 0);
  }
  CHECK(stops_of(R"(
      struct Storage { int totals[8]; int values[64]; };
      __global__ void kernel(int* out, int n) {
        __shared__ Storage storage;
        storage.totals[threadIdx.x / 32] = n;
        out[0] = storage.values[threadIdx.x ^ 1];
      })") == 0);
  CHECK(stops_of("__global__ void kernel(float* a, int n) { for (int j = 0; j < n; ++j) "
                 "a[threadIdx.x * n + j] -= a[j] * a[threadIdx.x * n]; }") == 0);
}
