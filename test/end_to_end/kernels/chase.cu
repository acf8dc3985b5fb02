// One thread follows pointers in random cyclic order through working sets of several sizes: 16 pointers of 8 bytes in each line of
// 128, the next one of each line from lap to lap.
#include <cstdio>
#include <cuda_runtime.h>
#include <random>
#include <vector>

constexpr int laps = 16, pointers_per_line = 16;

template <int kib> __global__ void chase(void** at, int loads, void** end) {
  for (int i = 0; i < loads; ++i)
    at = (void**)*at; // site: warm
  for (int i = 0; i < loads; ++i)
    at = (void**)*at; // site: chase
  *end = at;
}

template <int kib> void run() {
  const int lines = kib * 8;
  std::vector<int> order(lines);
  std::mt19937 random(kib);
  for (int i = 0; i < lines; ++i)
    order[i] = i;
  for (int i = lines - 1; i > 0; --i)
    std::swap(order[i], order[random() % (i + 1)]);

  void **chain, **end;
  cudaMalloc(&chain, lines * 128);
  cudaMalloc(&end, sizeof(void*));
  std::vector<void*> host(lines * pointers_per_line);
  for (int lap = 0; lap < laps; ++lap)
    for (int i = 0; i < lines; ++i) {
      const int next_lap = i + 1 < lines ? lap : (lap + 1) % laps;
      host[order[i] * pointers_per_line + lap] = chain + order[(i + 1) % lines] * pointers_per_line + next_lap;
    }
  cudaMemcpy(chain, host.data(), lines * 128, cudaMemcpyHostToDevice);
  void** start = chain + order[0] * pointers_per_line;
  chase<kib><<<1, 1>>>(start, laps * lines, end);
  void** reached;
  cudaMemcpy(&reached, end, sizeof(void*), cudaMemcpyDeviceToHost);
  std::printf("chase<%d>: %s\n", kib, reached == start ? "right" : "wrong");
  cudaFree(chain);
  cudaFree(end);
}

int main() {
  run<64>();
  run<152>();
  run<257>();
  run<1024>();
}
