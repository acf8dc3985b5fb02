// Divergent control flow. The accesses of a warp in lock step, whose lanes meet again at the earliest common
// point, are counted by hand in a comment at each access:  expect: KIND, N executions by warps, M by lanes
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

// One warp. Eight lanes go one way, 24 the other.
__global__ void branches(float* out) {
  const int lane = threadIdx.x;
  if (lane < 8)
    out[lane] = 1; // expect: store, 1 executions by warps, 8 by lanes
  else
    out[lane + 32] = 2; // expect: store, 1 executions by warps, 24 by lanes
  out[lane + 64] = 3;   // expect: store, 1 executions by warps, 32 by lanes
}

// Lane n goes round n times: 31 rounds, 0 + 1 + … + 31 = 496 by lanes.
__global__ void unequal_loop(const float* in, float* out) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < lane; ++round)
    sum += in[round * 32 + lane]; // expect: load, 31 executions by warps, 496 by lanes
  out[lane] = sum;                // expect: store, 1 executions by warps, 32 by lanes
}

// Outer rounds 0 and 1 have all lanes, round 2 the odd ones. Inner rounds: 1 + lane % 4, so the longest is 4
// in each of the three outer rounds: 12. By lanes: 8 lanes of each lane % 4, with 2·1, 3·2, 2·3, 3·4 rounds:
// 8 · 26 = 208.
__global__ void nested_loops(const float* in, float* out) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int outer = 0; outer < 2 + lane % 2; ++outer) {
    for (int inner = 0; inner < 1 + lane % 4; ++inner)
      sum += in[(outer * 4 + inner) * 32 + lane]; // expect: load, 12 executions by warps, 208 by lanes
    out[lane] = sum;                              // expect: store, 3 executions by warps, 80 by lanes
  }
}

// Lane n leaves at round n / 2 and skips rounds of the other parity. Round r is run by the lanes from 2r + 2
// on that have r's parity: 15 - r of them. Rounds 0 to 14 have lanes: 15; 15 + 14 + … + 1 = 120 by lanes.
__global__ void break_and_continue(const float* in, float* out) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < 16; ++round) {
    if (round == lane / 2)
      break;
    if ((round + lane) % 2)
      continue;
    sum += in[round * 32 + lane]; // expect: load, 15 executions by warps, 120 by lanes
  }
  out[lane] = sum; // expect: store, 1 executions by warps, 32 by lanes
}

// Called from both sides of a branch: the same access at two places of the program, 16 lanes each time.
__device__ float element(const float* array, int index) {
  return array[index]; // expect: load, 2 executions by warps, 32 by lanes
}
__global__ void calls(const float* in, float* out) {
  const int lane = threadIdx.x;
  float value;
  if (lane < 16)
    value = element(in, lane) + 1;
  else
    value = element(in, lane + 64) * 2;
  out[lane] = value; // expect: store, 1 executions by warps, 32 by lanes
}

// Two warps of which the second has 16 threads; the last 8 of it leave at once.
__global__ void partial_warp(const float* in, float* out) {
  const int thread = threadIdx.x;
  if (thread >= 40)
    return;
  out[thread] = in[thread]; // expect: load, 2 executions by warps, 40 by lanes
}

// The lane decides which operand is evaluated: 4 lanes look at in[lane], of which those with in[lane] > 1
// (2 of 0, 1, 2, 3) at the one behind.
__global__ void short_circuit(const float* in, float* out) {
  const int lane = threadIdx.x;
  bool found = false;
  if (lane < 4 && in[lane] > 1 && // expect: load, 1 executions by warps, 4 by lanes
      in[lane + 32] > 1)          // expect: load, 1 executions by warps, 2 by lanes
    found = true;
  out[lane] = found;
}

// Three cases, the first falls through: lanes with lane % 3 == 0 (11) run two, 1 (11) one, 2 (10) another.
__global__ void switch_cases(float* out) {
  const int lane = threadIdx.x;
  switch (lane % 3) {
  case 0:
    out[lane] = 1; // expect: store, 1 executions by warps, 11 by lanes
    [[fallthrough]];
  case 1:
    out[lane + 32] = 2; // expect: store, 1 executions by warps, 22 by lanes
    break;
  default: out[lane + 64] = 3; // expect: store, 1 executions by warps, 10 by lanes
  }
}

// At least once, then while a lane has rounds left: lane % 5 + 1 rounds, the longest 5. 32 lanes: 7
// of 0 and of 1, 6 of each other: 7·1 + 7·2 + 6·(3 + 4 + 5) = 93 by lanes.
__global__ void do_while(const float* in, float* out) {
  const int lane = threadIdx.x;
  int left = lane % 5;
  float sum = 0;
  do
    sum += in[left * 32 + lane]; // expect: load, 5 executions by warps, 93 by lanes
  while (left-- > 0);
  out[lane] = sum;
}

// 64 threads, halved each time: 2 warps at first, then 6 rounds of the first warp alone with 32, 16, 8, 4, 2,
// 1 lanes.
__global__ void reduction(const float* in, float* out) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  tile[thread] = in[thread]; // expect: store, 2 executions by warps, 64 by lanes
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (thread < half)
      tile[thread] +=          // expect: update, 6 executions by warps, 63 by lanes
          tile[thread + half]; // expect: load, 6 executions by warps, 63 by lanes
    __syncthreads();
  }
  if (thread == 0)
    *out = tile[0]; // expect: load, 1 executions by warps, 1 by lanes
}

// Every fourth lane adds to one of two counters.
__global__ void atomics(int* counters) {
  const int lane = threadIdx.x;
  if (lane % 4 == 0)
    atomicAdd(&counters[lane / 16], 1); // expect: atomic, 1 executions by warps, 8 by lanes
}

static bool failed = false;

static void check(const char* name, const float* device, const std::vector<float>& expected) {
  std::vector<float> found(expected.size());
  const cudaError_t status =
      cudaMemcpy(found.data(), device, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
  const bool right = status == cudaSuccess && found == expected;
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
  failed |= !right;
}

template <class Value> static std::vector<float> lanes(int count, Value value) {
  std::vector<float> result;
  for (int lane = 0; lane < count; ++lane)
    result.push_back(static_cast<float>(value(lane)));
  return result;
}

int main() {
  constexpr int words = 2048;
  std::vector<float> values(words);
  for (int i = 0; i < words; ++i)
    values[i] = static_cast<float>(i % 32); // in[k * 32 + lane] == lane
  float *in = nullptr, *out = nullptr;
  int* counters = nullptr;
  cudaMalloc(&in, words * sizeof(float));
  cudaMalloc(&out, words * sizeof(float));
  cudaMalloc(&counters, 2 * sizeof(int));
  cudaMemcpy(in, values.data(), words * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, words * sizeof(float));
  cudaMemset(counters, 0, 2 * sizeof(int));

  branches<<<1, 32>>>(out);
  check("branches", out, lanes(96, [](int i) { return i < 8 ? 1 : i < 40 ? 0 : i < 64 ? 2 : 3; }));
  unequal_loop<<<1, 32>>>(in, out);
  check("unequal_loop", out, lanes(32, [](int lane) { return lane * lane; }));
  nested_loops<<<1, 32>>>(in, out);
  check("nested_loops", out, lanes(32, [](int lane) { return (2 + lane % 2) * (1 + lane % 4) * lane; }));
  break_and_continue<<<1, 32>>>(in, out);
  check("break_and_continue", out, lanes(32, [](int lane) {
          int rounds = 0;
          for (int round = 0; round < lane / 2; ++round)
            rounds += (round + lane) % 2 == 0;
          return rounds * lane;
        }));
  calls<<<1, 32>>>(in, out);
  check("calls", out, lanes(32, [](int lane) { return lane < 16 ? lane + 1 : lane * 2; }));
  partial_warp<<<1, 48>>>(in, out);
  check("partial_warp", out, lanes(40, [](int thread) { return thread % 32; }));
  short_circuit<<<1, 32>>>(in, out);
  check("short_circuit", out, lanes(32, [](int lane) { return lane == 2 || lane == 3; }));
  cudaMemset(out, 0, words * sizeof(float));
  switch_cases<<<1, 32>>>(out);
  check("switch_cases", out, lanes(96, [](int i) {
          const int part = i / 32, lane = i % 32;
          return part == 0 ? lane % 3 == 0 : part == 1 ? 2 * (lane % 3 != 2) : 3 * (lane % 3 == 2);
        }));
  do_while<<<1, 32>>>(in, out);
  check("do_while", out, lanes(32, [](int lane) { return (lane % 5 + 1) * lane; }));
  reduction<<<1, 64>>>(in, out);
  check("reduction", out, {992});
  atomics<<<1, 32>>>(counters);
  int found[2] = {};
  cudaMemcpy(found, counters, sizeof found, cudaMemcpyDeviceToHost);
  std::printf("atomics: %d %d\n", found[0], found[1]);
  failed |= found[0] != 4 || found[1] != 4;
  return failed;
}
