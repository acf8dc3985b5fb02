// Cyclic streams by many warps. `streams l1`: a block of 512 threads per SM reads the two halves of a set
// again and again, 8 KB to 508 KB, compiled per size. `streams l2`: two blocks of 1024 threads per SM read
// parts of a buffer by turns, 32 doubles a thread. Rows: l1 or l2, KB, bytes per ns of all SMs. Each launch
// is a kernel of its own for a profiler: in the order of the rows, with ONCE as the second word only one
// launch of each.
#include "measure.h"

#include <cstring>
#include <utility>

using namespace measure;

namespace {

bool once = false;

template <class Launch> double time_of(Launch launch) {
  if (!once)
    return nanoseconds_of(launch);
  launch();
  check(cudaDeviceSynchronize(), "kernel");
  return 1;
}

constexpr int threads = 512, laps = 24;

template <int kilobytes> __global__ void stream_through_l1(float* out, const float* set, int zero) {
  constexpr int half = kilobytes * 1024 / 8, steps = half / threads, together = steps < 32 ? steps : 32;
  float sum = 0;
  set += threadIdx.x;
#pragma unroll 1
  for (int lap = 0; lap < laps; ++lap) {
    set += zero; // not known to the compiler, which must load again
#pragma unroll together
    for (int i = 0; i < steps; ++i)
      sum += set[i * threads] * set[half + i * threads];
  }
  if (sum == 1.25F)
    out[threadIdx.x] = sum;
}

template <int kilobytes> void measure_l1(float* out, const float* set) {
  const double bytes = double(kilobytes) * 1024 * laps * sms();
  row("l1", kilobytes,
      bytes / time_of([&] { stream_through_l1<kilobytes><<<sms(), threads>>>(out, set, 0); }));
}

template <int... steps>
void measure_all_l1(float* out, const float* set, std::integer_sequence<int, steps...>) {
  (measure_l1<12 + 16 * steps>(out, set), ...);
}

__global__ void stream_through_l2(double* out, const double* buffer, int parts) {
  constexpr int each = 32;
  double sum = 0;
#pragma unroll
  for (int i = 0; i < each; ++i)
    sum += buffer[std::size_t{1024} * parts * i + blockIdx.x % parts * 1024 + threadIdx.x];
  if (sum == 1.25)
    out[threadIdx.x] = sum;
}

} // namespace

int main(int count, char** values) {
  const bool l1 = count > 1 && std::strcmp(values[1], "l1") == 0;
  once = count > 2;
  std::puts("experiment,kb,bytes_per_ns");
  if (l1) {
    measure_all_l1(zeros<float>(512), zeros<float>(1 << 18), std::make_integer_sequence<int, 32>());
  } else {
    constexpr int max_parts = 400, blocks = 20000;
    auto* out = zeros<double>(1024);
    const auto* buffer = zeros<double>(std::size_t{32} * 1024 * max_parts);
    for (int parts = 8; parts <= max_parts; parts += parts < 80 ? 8 : parts < 240 ? 16 : 40)
      row("l2", parts * 256, double(blocks) * 1024 * 32 * 8 / time_of([&] {
                               stream_through_l2<<<blocks, 1024>>>(out, buffer, parts);
                             }));
  }
}
