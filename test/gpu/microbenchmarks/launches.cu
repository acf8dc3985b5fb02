// Measures what a launch costs beside its work, and a block that takes the place of another. Rows:
//   empty, blocks, ns of a launch that does nothing, by events and with the host's part; queued, the same
//   where the host was ahead; events:queued, 0, ns of nothing at all; in_stream and in_stream:queued, blocks,
//   ns of each of 400 in a row; graph:NODES, blocks, ns of a graph of as many in a row, and graph_node, ns of
//   each further one; span:WHAT, blocks, ns of a launch whose blocks stay for 2000 cycles: by events; inside,
//   from the first block's begin to the last one's end by the GPU's timer; begins, to the begin of the last
//   block; timer_step, 0, ns by which that timer moves on; grid_sync:THREADS, blocks of as many per SM, ns of
//   a barrier of all blocks; turnover:WARPS, the percentile, cycles from the end of a block to the begin of
//   the next one on the same SM, where only one fits; shared_offsets, where the system's part of shared
//   memory begins and ends that is in use, its size, the program's begin.
#include "measure.h"

#include <cooperative_groups.h>

using namespace measure;

namespace {

__global__ void nothing() {}

struct Stay {
  long long begin, end;
  unsigned sm, unused;
};

__global__ void stay(Stay* stays, int cycles) {
  extern __shared__ char all_of_it[];
  __shared__ long long begin;
  if (threadIdx.x == 0)
    begin = now();
  __syncthreads();
  while (now() < begin + cycles)
    all_of_it[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    stays[blockIdx.x] = {begin, now(), sm, 0};
  }
}

/// Where the system's part of shared memory begins, where what of it is in use ends, its size, and where the
/// program's part begins.
__global__ void find_shared(unsigned* offsets) {
  __shared__ unsigned own[32];
  own[threadIdx.x] = threadIdx.x;
  asm volatile("mov.b32 %0, %%reserved_smem_offset_begin;" : "=r"(offsets[0]));
  asm volatile("mov.b32 %0, %%reserved_smem_offset_end;" : "=r"(offsets[1]));
  asm volatile("mov.b32 %0, %%reserved_smem_offset_cap;" : "=r"(offsets[2]));
  offsets[3] = static_cast<unsigned>(__cvta_generic_to_shared(own)) + own[0];
}

void print_rows_of_launches(unsigned blocks) {
  constexpr int count = 400;
  const auto launch = [&] {
    for (int i = 0; i < count; ++i)
      nothing<<<blocks, 256>>>();
  };
  row("queued", blocks, nanoseconds_of_queued([&] { nothing<<<blocks, 256>>>(); }));
  row("in_stream", blocks, nanoseconds_of(launch) / count);
  row("in_stream:queued", blocks, nanoseconds_after([] { occupy_gpu(5000); }, launch) / count);
}

double nanoseconds_of_graph(int nodes, unsigned blocks) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < nodes; ++i)
    nothing<<<blocks, 256, 0, stream>>>();
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&executable, graph, 0), "graph");
  return nanoseconds_after([] { occupy_gpu(200); },
                           [&] { check(cudaGraphLaunch(executable, nullptr), "graph"); });
}

__global__ void find_timer_step(long long* step) {
  const long long before = timer_ns();
  long long first = before, second;
  while (first == before)
    first = timer_ns();
  second = first;
  while (second == first)
    second = timer_ns();
  *step = second - first;
}

/// Notes when each block begins and ends, by the timer.
__global__ void stay_in_time(Span* spans) {
  const long long begin_ns = timer_ns(), begin = now();
  while (now() < begin + 2000) {
  }
  __syncthreads();
  if (threadIdx.x == 0)
    spans[blockIdx.x] = {begin_ns, timer_ns()};
}

void print_spans(unsigned blocks) {
  auto* const spans = zeros<Span>(blocks);
  row("span:events", blocks, nanoseconds_of_queued([&] { stay_in_time<<<blocks, 256>>>(spans); }));
  std::vector<Span> found(blocks);
  check(cudaMemcpy(found.data(), spans, blocks * sizeof(Span), cudaMemcpyDeviceToHost), "spans");
  Span all = found[0];
  long long last_begin = all.begin;
  for (const Span& span : found) {
    all = {std::min(all.begin, span.begin), std::max(all.end, span.end)};
    last_begin = std::max(last_begin, span.begin);
  }
  row("span:inside", blocks, static_cast<double>(all.end - all.begin));
  row("span:begins", blocks, static_cast<double>(last_begin - all.begin));
}

__global__ __launch_bounds__(1024, 2) void meet(int steps) {
  for (int step = 0; step < steps; ++step)
    cooperative_groups::this_grid().sync();
}

void print_grid_barriers() {
  const auto time = [](int blocks, int threads, int steps) {
    return nanoseconds_of_queued([=]() mutable {
      void* values[] = {&steps};
      check(cudaLaunchCooperativeKernel(meet, dim3(static_cast<unsigned>(blocks)),
                                        dim3(static_cast<unsigned>(threads)), values),
            "cooperative launch");
    });
  };
  for (const int threads : {32, 256, 1024})
    for (int per_sm = 1; per_sm * threads <= 2048 && per_sm <= 8; per_sm *= 2) {
      const int blocks = per_sm * sms();
      row("grid_sync:" + std::to_string(threads), per_sm,
          (time(blocks, threads, 220) - time(blocks, threads, 20)) / 200);
    }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  for (unsigned blocks : {1U, 132U, 1056U, 8448U, 67584U})
    row("empty", blocks, nanoseconds_of([&] { nothing<<<blocks, 256>>>(); }));
  row("two_empty", 1, nanoseconds_of([] {
        nothing<<<1, 32>>>();
        nothing<<<1, 32>>>();
      }));
  auto* offsets = zeros<unsigned>(4);
  find_shared<<<1, 1>>>(offsets);
  unsigned found_offsets[4];
  check(cudaMemcpy(found_offsets, offsets, sizeof found_offsets, cudaMemcpyDeviceToHost), "offsets");
  for (int i = 0; i < 4; ++i)
    row("shared_offsets", i, found_offsets[i]);
  constexpr int shared = 160 << 10;
  check(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  const int blocks = 8 * sms();
  auto* stays = zeros<Stay>(static_cast<std::size_t>(blocks));
  for (int warps : {1, 4, 8, 16, 32}) {
    for (int repeat = 0; repeat < 2; ++repeat)
      stay<<<blocks, 32 * warps, shared>>>(stays, 20000);
    check(cudaDeviceSynchronize(), "kernel");
    std::vector<Stay> found(static_cast<std::size_t>(blocks));
    check(cudaMemcpy(found.data(), stays, found.size() * sizeof(Stay), cudaMemcpyDeviceToHost), "stays");
    std::sort(found.begin(), found.end(),
              [](const Stay& a, const Stay& b) { return a.sm != b.sm ? a.sm < b.sm : a.begin < b.begin; });
    std::vector<long long> gaps;
    for (std::size_t i = 1; i < found.size(); ++i)
      if (found[i].sm == found[i - 1].sm)
        gaps.push_back(found[i].begin - found[i - 1].end);
    std::sort(gaps.begin(), gaps.end());
    for (int percent : {10, 50, 90})
      row("turnover:" + std::to_string(warps), percent,
          static_cast<double>(gaps[gaps.size() * static_cast<std::size_t>(percent) / 100]));
  }
  row("events:queued", 0, nanoseconds_of_queued([] {}));
  const auto all = static_cast<unsigned>(sms());
  auto* const step = zeros<long long>(1);
  find_timer_step<<<1, 1>>>(step);
  long long found_step;
  check(cudaMemcpy(&found_step, step, sizeof found_step, cudaMemcpyDeviceToHost), "timer");
  row("timer_step", 0, static_cast<double>(found_step));
  for (const unsigned grid : {1U, all, 8 * all, 64 * all}) {
    print_rows_of_launches(grid);
    const double one = nanoseconds_of_graph(1, grid), hundred = nanoseconds_of_graph(100, grid);
    row("graph:1", grid, one);
    row("graph:100", grid, hundred);
    row("graph_node", grid, (hundred - one) / 99);
    print_spans(grid);
  }
  print_grid_barriers();
}
