// Measures what limits a traced launch: the rings' protocol on the device by itself, in variants; the host's
// threads that empty the rings; the rings' memory; and what launches that are not traced pay. Rows:
// push:VARIANT, -, GB/s into rings that never fill; cycles:VARIANT:PHASE, -, cycles of a warp and line;
// drained:THREADS:NS, lines per ring, GB/s while that many host threads empty the rings, with so much work
// for each line; waiting:THREADS:NS, the same, the share of the producers' cycles that reserve() takes;
// host_ms:WHAT, MiB, milliseconds; call_ns:WHAT, -, nanoseconds of a call; launch_us:STAGE and
// launch_gpu_us:STAGE, -, the median of launches with their wait.
#include "../../../runtime/device/warplens/ring.h"
#include "measure.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace measure;
using namespace warplens;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// How a warp writes a line. All but `product` differ from gpu_probe.h's push_together() in one thing.
enum Variant {
  product,
  unfenced,     ///< the commit does not wait for the line: wrong, but it shows what the fence costs
  device_fence, ///< a fence of the device's scope: wrong, too
  whole_header, ///< the leader writes what lies behind the block's id at once, instead of field by field
  wide_stores,  ///< 16 lanes write two addresses each
  four_at_once, ///< one fence and four commits for four lines
  compact_lines,  ///< four lanes' addresses only: what compact lines would cost
};
const char* const names[] = {"product",     "unfenced",     "device_fence", "whole_header",
                             "wide_stores", "four_at_once", "compact_lines"};

enum Phase { reserving, writing, committing, phases };

__device__ void store_plainly(uint64_t* word, uint64_t value) {
  *static_cast<volatile uint64_t*>(word) = value;
}

template <Variant variant>
__device__ void fill(ring::Slot* slot, uint64_t block, unsigned lane, uint64_t address) {
  if (variant == wide_stores) {
    const uint64_t even = __shfl_sync(~0u, address, lane * 2 % 32),
                   odd = __shfl_sync(~0u, address, (lane * 2 + 1) % 32);
    if (lane < 16)
      reinterpret_cast<ulonglong2*>(slot->line.addresses)[lane] = make_ulonglong2(even, odd);
  } else if (variant != compact_lines || lane < 4) {
    slot->line.addresses[lane] = address;
  }
  if (lane != 0)
    return;
  slot->block = block;
  if (variant == whole_header) {
    *reinterpret_cast<ulonglong2*>(&slot->line.site) =
        make_ulonglong2(5, ~0u | uint64_t{4} << 32 | uint64_t{1} << 48);
  } else {
    slot->line.site = 5;
    slot->line.active = ~0u;
    slot->line.bytes = 4;
    slot->line.space = 1;
    slot->line.kind = 0;
  }
}

/// Each warp pushes `lines` lines, a multiple of 4. Adds each warp's cycles to `cycles[phases]`.
template <Variant variant>
__global__ void push_lines(ring::Channel* channel, unsigned lines, unsigned long long* cycles) {
  __shared__ ring::BlockBuffer* taken;
  if (threadIdx.x == 0)
    taken = ring::enter(channel, blockIdx.x, blockDim.x);
  __syncthreads();
  ring::BlockBuffer* const buffer = taken;
  if (!buffer)
    return;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  long long sums[phases] = {};
  ring::Reservation pending[4];
  for (unsigned line = 0; line < lines; ++line) {
    const long long begin = now();
    ring::Reservation reservation{nullptr, 0};
    if (lane == 0)
      reservation = ring::reserve(buffer, warp);
    auto* const slot = reinterpret_cast<ring::Slot*>(
        __shfl_sync(~0u, reinterpret_cast<unsigned long long>(reservation.slot), 0));
    if (!slot)
      break;
    const long long reserved = now();
    fill<variant>(slot, buffer->block, lane, (uint64_t{blockIdx.x} << 32) + line * 4096 + threadIdx.x * 4);
    __syncwarp();
    const long long written = now();
    if (variant == four_at_once) {
      pending[line % 4] = reservation;
      if (line % 4 == 3) {
        __threadfence_system();
        for (unsigned i = 0; lane == 0 && i < 4; ++i)
          store_plainly(&pending[i].slot->committed, pending[i].ticket + 1);
      }
    } else if (lane == 0) {
      if (variant == device_fence)
        __threadfence();
      if (variant == unfenced || variant == device_fence)
        store_plainly(&slot->committed, reservation.ticket + 1);
      else
        ring::commit(reservation);
    }
    const long long committed = now();
    sums[reserving] += reserved - begin;
    sums[writing] += written - reserved;
    sums[committing] += committed - written;
  }
  if (lane == 0) {
    for (unsigned phase = 0; phase < phases; ++phase)
      atomicAdd(&cycles[phase], static_cast<unsigned long long>(sums[phase]));
    ring::leave(buffer, 32);
  }
}

constexpr unsigned warps = 8, blocks_per_sm = 8;
constexpr std::size_t shared_bytes = std::size_t{128} << 20, local_bytes = std::size_t{16} << 20;

/// The rings of all blocks that are on the GPU at once, in pinned memory or, to compare, in the device's.
class Rings {
public:
  explicit Rings(bool in_device_memory = false) : in_device_memory_(in_device_memory) {
    const auto begin = Clock::now();
    if (in_device_memory)
      shared_ = zeros<char>(shared_bytes);
    else
      check(cudaHostAlloc(&shared_, shared_bytes, cudaHostAllocMapped | cudaHostAllocPortable),
            "pinned memory");
    if (!in_device_memory)
      row("host_ms:host_alloc_rings", shared_bytes >> 20, milliseconds_since(begin));
    check(cudaHostAlloc(&stop_, 64, cudaHostAllocMapped | cudaHostAllocPortable), "stop word");
    local_ = zeros<char>(local_bytes);
    cycles = zeros<unsigned long long>(phases);
    device_channel = zeros<ring::Channel>(1);
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
  }

  /// Lays the rings out as runtime/host/channel_memory.cpp does, and clears what producers and consumers
  /// read.
  void reset(unsigned capacity) {
    channel = {};
    channel.blocks = channel.buffers = channel.first_choices = static_cast<unsigned>(sms()) * blocks_per_sm;
    channel.warps = warps;
    channel.capacity = capacity;
    const std::size_t rings = std::size_t{channel.buffers} * warps;
    char* local = static_cast<char*>(local_);
    channel.stopped = reinterpret_cast<uint32_t*>(local);
    channel.rings = reinterpret_cast<ring::Ring*>(local + 64);
    channel.block_buffers = reinterpret_cast<ring::BlockBuffer*>(channel.rings + rings);
    char* shared = static_cast<char*>(shared_);
    channel.stop = static_cast<uint32_t*>(stop_);
    channel.drained = reinterpret_cast<uint64_t*>(shared);
    channel.entered = reinterpret_cast<uint32_t*>(channel.drained + rings);
    channel.slots = reinterpret_cast<ring::Slot*>(shared + (rings * 12 + 63) / 64 * 64);
    const std::size_t bytes = (rings * 12 + 63) / 64 * 64 + rings * capacity * sizeof(ring::Slot);
    if (bytes > shared_bytes) {
      std::fprintf(stderr, "%zu bytes of rings do not fit\n", bytes);
      std::exit(1);
    }
    *static_cast<uint32_t*>(stop_) = 0;
    check(cudaMemset(local_, 0, local_bytes), "clear");
    if (in_device_memory_)
      check(cudaMemset(shared_, 0, bytes), "clear");
    else
      std::memset(shared_, 0, bytes);
    check(cudaMemset(cycles, 0, phases * sizeof *cycles), "clear");
    check(cudaMemcpy(device_channel, &channel, sizeof channel, cudaMemcpyHostToDevice), "channel");
    check(cudaDeviceSynchronize(), "clear");
  }

  /// Launches the kernel and runs `meanwhile` until the kernel has ended, which it has at the latest when the
  /// stop word was set after two seconds. Returns its milliseconds on the GPU.
  template <class Launch, class Meanwhile> double run(Launch launch, Meanwhile meanwhile) {
    check(cudaEventRecord(begin_), "event");
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(end_), "event");
    const auto begin = Clock::now();
    while (cudaEventQuery(end_) == cudaErrorNotReady) {
      meanwhile();
      if (milliseconds_since(begin) > 2000)
        scoped::store_release(channel.stop, uint32_t{1});
      if (milliseconds_since(begin) > 4000) {
        std::fprintf(stderr, "a kernel does not end\n");
        std::_Exit(1);
      }
    }
    check(cudaDeviceSynchronize(), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "time");
    return milliseconds;
  }

  /// Returns the cycles of each phase by warp and line.
  std::vector<double> cycles_of_lines(double lines) const {
    unsigned long long sums[phases];
    check(cudaMemcpy(sums, cycles, sizeof sums, cudaMemcpyDeviceToHost), "cycles");
    return {sums[0] / lines, sums[1] / lines, sums[2] / lines};
  }

  ring::Channel channel{};
  ring::Channel* device_channel = nullptr;
  unsigned long long* cycles = nullptr;

private:
  bool in_device_memory_;
  void *shared_ = nullptr, *local_ = nullptr, *stop_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void report_phases(const std::string& name, const std::vector<double>& cycles) {
  row("cycles:" + name + ":reserve", 0, cycles[reserving]);
  row("cycles:" + name + ":write", 0, cycles[writing]);
  row("cycles:" + name + ":commit", 0, cycles[committing]);
}

/// Pushes into rings that have room for all lines.
template <Variant variant> void push_without_host(Rings& rings, const char* where) {
  constexpr unsigned lines = 32;
  double shortest = 1e30;
  std::vector<double> cycles;
  for (int repeat = 0; repeat < 3; ++repeat) {
    rings.reset(lines);
    const double milliseconds = rings.run(
        [&] {
          push_lines<variant>
              <<<rings.channel.buffers, warps * 32>>>(rings.device_channel, lines, rings.cycles);
        },
        [] {});
    if (milliseconds >= shortest)
      continue;
    shortest = milliseconds;
    cycles = rings.cycles_of_lines(double(rings.channel.buffers) * warps * lines);
  }
  const std::string name = std::string(where) + names[variant];
  row("push:" + name, 0, double(rings.channel.buffers) * warps * lines * sizeof(ring::Slot) / shortest / 1e6);
  report_phases(name, cycles);
}

/// Takes lines out of the rings of the buffers `first`, `first + step`, … as runtime/host/drain.cpp does;
/// returns their number.
uint64_t drain(const ring::Channel& channel, unsigned first, unsigned step, std::vector<uint64_t>& drained,
               ring::Line* copies, double work_ns) {
  uint64_t lines = 0;
  for (unsigned buffer = first; buffer < channel.buffers; buffer += step) {
    if (!scoped::load_acquire(&channel.entered[buffer]))
      continue;
    for (unsigned warp = 0; warp < warps; ++warp) {
      const std::size_t ring = std::size_t{buffer} * warps + warp;
      const ring::Slot* const slots = &channel.slots[ring * channel.capacity];
      const uint64_t before = drained[ring];
      uint64_t ticket = before;
      while (ticket < before + channel.capacity &&
             scoped::load_acquire(&slots[ticket % channel.capacity].committed) == ticket + 1) {
        copies[ticket - before] = slots[ticket % channel.capacity].line;
        ++ticket;
      }
      if (ticket == before)
        continue;
      drained[ring] = ticket;
      scoped::store_release(&channel.drained[ring], ticket);
      lines += ticket - before;
      if (work_ns > 0) {
        const auto end = Clock::now() +
                         std::chrono::nanoseconds(static_cast<long long>(work_ns * double(ticket - before)));
        while (Clock::now() < end) {
        }
      }
    }
  }
  return lines;
}

void push_and_drain(Rings& rings, unsigned capacity, unsigned threads, double work_ns) {
  constexpr unsigned lines = 128;
  rings.reset(capacity);
  std::vector<uint64_t> drained(std::size_t{rings.channel.buffers} * warps);
  std::atomic<bool> ended{false};
  std::atomic<uint64_t> taken{0};
  std::vector<std::thread> drains;
  for (unsigned thread = 0; thread < threads; ++thread)
    drains.emplace_back([&, thread] {
      std::vector<ring::Line> copies(capacity);
      for (bool last = false; !last;) {
        last = ended;
        while (const uint64_t more = drain(rings.channel, thread, threads, drained, copies.data(), work_ns))
          taken += more;
      }
    });
  const auto begin = Clock::now();
  rings.run(
      [&] {
        push_lines<product><<<rings.channel.buffers, warps * 32>>>(rings.device_channel, lines, rings.cycles);
      },
      [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
  ended = true;
  for (std::thread& thread : drains)
    thread.join();
  const std::string name = std::to_string(threads) + ":" + std::to_string(static_cast<int>(work_ns));
  row("drained:" + name, capacity, double(taken) * sizeof(ring::Slot) / milliseconds_since(begin) / 1e6);
  const auto cycles = rings.cycles_of_lines(double(taken));
  row("waiting:" + name, capacity,
      cycles[reserving] / (cycles[reserving] + cycles[writing] + cycles[committing]));
}

/// Measures the ways to get pinned memory, and to clear it.
void measure_memory() {
  const auto timed = [](const std::string& what, std::size_t bytes, const std::function<void()>& work) {
    const auto begin = Clock::now();
    work();
    row("host_ms:" + what, double(bytes >> 20), milliseconds_since(begin));
  };
  constexpr unsigned flags = cudaHostAllocMapped | cudaHostAllocPortable;
  for (const std::size_t megabytes : {16, 32, 64, 128}) {
    const std::size_t bytes = megabytes << 20;
    void* pinned = nullptr;
    timed("host_alloc", bytes, [&] { check(cudaHostAlloc(&pinned, bytes, flags), "pinned memory"); });
    timed("memset", bytes, [&] { std::memset(pinned, 0, bytes); });
    timed("clear_committed", bytes, [&] {
      for (std::size_t at = 0; at + sizeof(ring::Slot) <= bytes; at += sizeof(ring::Slot))
        reinterpret_cast<ring::Slot*>(static_cast<char*>(pinned) + at)->committed = 0;
    });
    cudaError_t set = cudaSuccess;
    timed("memset_by_gpu", bytes, [&] {
      set = cudaMemsetAsync(pinned, 0, bytes);
      check(cudaDeviceSynchronize(), "memset");
    });
    if (set != cudaSuccess) // then its row is of a call that only fails
      static_cast<void>(cudaGetLastError());
    timed("host_free", bytes, [&] { check(cudaFreeHost(pinned), "pinned memory"); });
    for (const unsigned threads : {1, 4, 8})
      for (const bool huge : {false, true}) {
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
          continue;
        madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        const std::string how = std::string(huge ? "huge:" : "small:") + std::to_string(threads);
        timed("touch:" + how, bytes, [&] {
          std::vector<std::thread> touching;
          for (unsigned thread = 0; thread < threads; ++thread)
            touching.emplace_back([=] {
              char* const part = static_cast<char*>(memory) + bytes / threads * thread;
              for (std::size_t at = 0; at < bytes / threads; at += 4096)
                static_cast<volatile char*>(part)[at] = 0;
            });
          for (std::thread& thread : touching)
            thread.join();
        });
        cudaError_t registered = cudaSuccess;
        timed("register:" + how, bytes, [&] {
          registered = cudaHostRegister(memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
        });
        if (registered == cudaSuccess)
          check(cudaHostUnregister(memory), "unregister");
        else
          static_cast<void>(cudaGetLastError());
        munmap(memory, bytes);
      }
  }
  void* device = nullptr;
  timed("malloc_local", local_bytes, [&] { check(cudaMalloc(&device, local_bytes), "memory"); });
  cudaDeviceProp properties;
  timed("get_properties", 0, [&] { check(cudaGetDeviceProperties(&properties, 0), "properties"); });
  timed("start_threads:15", 0, [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 15; ++i)
      threads.emplace_back([] {});
    for (std::thread& thread : threads)
      thread.join();
  });
}

__global__ void stay_for(int cycles) {
  const long long begin = now();
  while (now() < begin + cycles) {
  }
}

/// A kernel with a stack, as those with probes have.
__global__ void use_stack(unsigned* out, unsigned index) {
  volatile unsigned stack[256];
  for (unsigned i = 0; i < 256; ++i)
    stack[i] = i * index;
  out[threadIdx.x] = stack[index % 256];
}

/// The median time of a short launch as the reference kernels' programs measure it (kernels/program.h).
void measure_launches(const std::string& stage) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> host, gpu;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto start = Clock::now();
    check(cudaEventRecord(begin), "event");
    stay_for<<<sms(), 256>>>(10000);
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(end), "event");
    check(cudaDeviceSynchronize(), "kernel");
    host.push_back(milliseconds_since(start) * 1000);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
    gpu.push_back(milliseconds * 1000);
  }
  std::sort(host.begin(), host.end());
  std::sort(gpu.begin(), gpu.end());
  row("launch_us:" + stage, 0, host[host.size() / 2]);
  row("launch_gpu_us:" + stage, 0, gpu[gpu.size() / 2]);
}

template <class Call> void measure_call(const char* what, Call call) {
  constexpr int calls = 2000;
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i)
    call();
  row(std::string("call_ns:") + what, 0, milliseconds_since(begin) * 1e6 / calls);
}

void measure_calls() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
  measure_call("cudaPeekAtLastError", [] { static_cast<void>(cudaPeekAtLastError()); });
  measure_call("cudaGetLastError", [] { static_cast<void>(cudaGetLastError()); });
  measure_call("getpid", [] { static_cast<void>(getpid()); });
  measure_call("cudaGetDevice", [] {
    int device = 0;
    static_cast<void>(cudaGetDevice(&device));
  });
  measure_call("cudaEventQuery", [&] { static_cast<void>(cudaEventQuery(event)); });
  measure_call("cudaStreamIsCapturing", [] {
    cudaStreamCaptureStatus status{};
    static_cast<void>(cudaStreamIsCapturing(nullptr, &status));
  });
  measure_call("cudaFuncGetAttributes", [] {
    cudaFuncAttributes attributes;
    static_cast<void>(cudaFuncGetAttributes(&attributes, stay_for));
  });
  measure_call("clock", [] { static_cast<void>(Clock::now()); });
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  check(cudaFree(nullptr), "context");
  measure_launches("fresh");
  auto* const out = zeros<unsigned>(256);
  use_stack<<<1, 256>>>(out, 3);
  check(cudaDeviceSynchronize(), "stack");
  measure_launches("after_stack");
  measure_calls();
  Rings rings;
  measure_launches("after_pinned_memory");
  push_without_host<product>(rings, "");
  measure_launches("after_pushing");
  push_without_host<unfenced>(rings, "");
  push_without_host<device_fence>(rings, "");
  push_without_host<whole_header>(rings, "");
  push_without_host<wide_stores>(rings, "");
  push_without_host<four_at_once>(rings, "");
  push_without_host<compact_lines>(rings, "");
  {
    Rings device_rings(true);
    push_without_host<product>(device_rings, "device:");
    push_without_host<unfenced>(device_rings, "device:");
  }
  const unsigned cores = std::thread::hardware_concurrency();
  for (const unsigned threads : {1u, 2u, 4u, 8u, 15u})
    if (threads < cores || threads == 1)
      for (const double work_ns : {0.0, 100.0})
        for (const unsigned capacity : {16u, 32u})
          push_and_drain(rings, capacity, threads, work_ns);
  measure_launches("after_draining");
  measure_memory();
}
