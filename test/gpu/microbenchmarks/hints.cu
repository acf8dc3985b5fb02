// Measures what hints change of what the L2 keeps. Footprints are in shares of its size. Rows:
//   laps:HINT:SHARE, lap, bytes per ns of lap after lap over as much memory, none of which the L2 has at
//   first; laps:st_HINT:SHARE, the same of stores; table:TABLE_HINT:STREAM_HINT, share, bytes per ns of
//   reading a table of that size, since which a stream of twice the L2 has been read (or written: st_HINT),
//   in the mean over the last three of five laps; stream:…, bytes per ns of that stream;
//   mixed:TABLE_HINT:STREAM_HINT, share, ns of reading a stream of 512 MiB and for each tile of it one of the
//   table, lap after lap;
//   discard:WHAT, share, ns of evicting all that the L2 holds, where that share was written before, or
//   written and discarded.
// Hints are instructions' or policies' (createpolicy). Last come windows of launches instead of them, with no
// room set aside and with all that can be: none; window_all, of which all lines are to persist; window_fit,
// of which as many as there can be room for; window_streaming. Takes 3 s.
#include "measure.h"

#include <array>

using namespace measure;

// Hints: a policy for the L2, what comes before a load, and what loads and stores say. (Not in the unnamed
// namespace, where nvcc would warn of what is not used.)
#define HINT(NAME, POLICY, BEFORE, LOAD, LOAD_POLICY, STORE, STORE_POLICY)                                   \
  struct NAME {                                                                                              \
    static constexpr const char* name = #NAME;                                                               \
    static __device__ unsigned long long policy() {                                                          \
      unsigned long long made = 0;                                                                           \
      asm volatile(POLICY : "+l"(made));                                                                     \
      return made;                                                                                           \
    }                                                                                                        \
    static __device__ unsigned load(const char* at, unsigned long long policy) {                             \
      unsigned a, b, c, d;                                                                                   \
      asm volatile(BEFORE "ld.global" LOAD ".v4.u32 {%0, %1, %2, %3}, [%4]" LOAD_POLICY ";"                  \
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                                      \
                   : "l"(at), "l"(policy)                                                                    \
                   : "memory");                                                                              \
      return a ^ b ^ c ^ d; /* or the assembler would load less */                                           \
    }                                                                                                        \
    static __device__ void store(char* at, unsigned value, unsigned long long policy) {                      \
      asm volatile("st.global" STORE ".v4.u32 [%0], {%1, %1, %1, %1}" STORE_POLICY ";" ::"l"(at),            \
                   "r"(value), "l"(policy)                                                                   \
                   : "memory");                                                                              \
    }                                                                                                        \
  };
#define POLICY(NAME, KIND)                                                                                   \
  HINT(NAME, "createpolicy.fractional.L2::" KIND ";", "", ".L2::cache_hint", ", %5", ".L2::cache_hint",      \
       ", %2")

HINT(plain, "", "", "", "", "", "")
HINT(streaming, "", "", ".cs", "", ".cs", "")
HINT(last_use, "", "", ".lu", "", "", "")
HINT(no_allocate, "", "", ".L1::no_allocate", "", ".L1::no_allocate", "")
HINT(prefetch_last, "", // of each line once
     "{.reg .u64 r; .reg .pred p; and.b64 r, %4, 127; setp.eq.u64 p, r, 0;"
     "@p prefetch.global.L2::evict_last [%4];}\n\t",
     "", "", "", "")
POLICY(evict_first, "evict_first.b64 %0, 1.0")
POLICY(evict_unchanged, "evict_unchanged.b64 %0, 1.0")
POLICY(evict_last, "evict_last.b64 %0, 1.0")
POLICY(evict_last_half, "evict_last.b64 %0, 0.5")

namespace {

constexpr int threads = 256, each = 4;
constexpr std::size_t tile = threads * each * 16;

template <class Hint> __device__ unsigned load_tile(const char* memory, std::size_t number) {
  const unsigned long long policy = Hint::policy();
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < each; ++i)
    sum += Hint::load(memory + number * tile + (i * threads + threadIdx.x) * 16, policy);
  return sum;
}

template <class Hint> __global__ void read(const char* memory, unsigned* out) {
  if (const unsigned sum = load_tile<Hint>(memory, blockIdx.x); sum == 1)
    out[0] = sum;
}

template <class Hint> __global__ void write(char* memory, unsigned*) {
  const unsigned long long policy = Hint::policy();
#pragma unroll
  for (int i = 0; i < each; ++i)
    Hint::store(memory + blockIdx.x * tile + (i * threads + threadIdx.x) * 16, threadIdx.x, policy);
}

template <class TableHint, class StreamHint>
__global__ void read_both(const char* table, unsigned table_tiles, const char* stream, unsigned stream_tiles,
                          unsigned* out) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x; i < stream_tiles; i += gridDim.x)
    sum += load_tile<StreamHint>(stream, i) + load_tile<TableHint>(table, i % table_tiles);
  if (sum == 1)
    out[0] = sum;
}

__global__ void discard(char* memory) {
  asm volatile(
      "discard.global.L2 [%0], 128;" ::"l"(memory + (std::size_t{blockIdx.x} * threads + threadIdx.x) * 128)
      : "memory");
}

int l2_bytes, longest_window, max_aside;
char *table, *stream;
unsigned* out;

unsigned tiles_of(double share) {
  return static_cast<unsigned>(share * l2_bytes / tile);
}

/// What a launch says of the memory that it accesses: `ratio` of the lines have a property. With a ratio of 0
/// it says nothing.
struct Window {
  float ratio = 0;
  cudaAccessProperty property = cudaAccessPropertyPersisting;

  template <class Memory> void launch(void (*kernel)(Memory, unsigned*), char* memory, unsigned tiles) const {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeAccessPolicyWindow;
    attribute.val.accessPolicyWindow = {memory, std::min(tiles * tile, std::size_t(longest_window)), ratio,
                                        property, cudaAccessPropertyStreaming};
    cudaLaunchConfig_t config = {};
    config.gridDim = tiles;
    config.blockDim = threads;
    config.attrs = &attribute;
    config.numAttrs = ratio > 0;
    check(cudaLaunchKernelEx(&config, kernel, memory, out), "window");
  }
};

/// The window whose lines fit into what can be set aside.
Window fitting(double share) {
  return {static_cast<float>(std::min(1.0, max_aside / (share * l2_bytes)))};
}

/// Evicts also what is to persist, where a program may say so.
void empty_l2() {
  if (cudaCtxResetPersistingL2Cache() != cudaSuccess)
    cudaGetLastError(); // what follows shall not fail for it
  occupy_gpu(200);
  evict_l2();
}

template <class Memory>
void print_laps(const std::string& name, double share, void (*kernel)(Memory, unsigned*),
                Window window = {}) {
  const unsigned tiles = tiles_of(share);
  const auto times =
      nanoseconds_of_each(6, empty_l2, [&](std::size_t) { window.launch(kernel, stream, tiles); });
  for (std::size_t lap = 0; lap < times.size(); ++lap)
    row("laps:" + name + ":" + std::to_string(share).substr(0, 4), lap, tiles * tile / times[lap]);
}

template <class Memory>
void print_table(const std::string& name, double share, void (*read_table)(const char*, unsigned*),
                 Window of_table, void (*use_stream)(Memory, unsigned*), Window of_stream) {
  const unsigned tiles = tiles_of(share), stream_tiles = tiles_of(2);
  const auto times = nanoseconds_of_each(9, empty_l2, [&](std::size_t i) {
    if (i % 2 == 0)
      of_table.launch(read_table, table, tiles);
    else
      of_stream.launch(use_stream, stream + i / 2 * stream_tiles * tile, stream_tiles);
  });
  row("table:" + name, share, 3 * tiles * tile / (times[4] + times[6] + times[8]));
  row("stream:" + name, share, 3 * stream_tiles * tile / (times[3] + times[5] + times[7]));
}

constexpr double table_shares[] = {0.25, 0.5, 0.75}, lap_shares[] = {0.5, 0.75, 1, 1.5, 2, 3};

template <class... Hints> void print_all_laps() {
  for (const double share : lap_shares)
    (print_laps(Hints::name, share, read<Hints>), ...);
}

template <class TableHint, class StreamHint> void print_pair() {
  const std::string name = std::string(TableHint::name) + ":" + StreamHint::name;
  const auto stream_tiles = static_cast<unsigned>((std::size_t{512} << 20) / tile);
  for (const double share : table_shares) {
    print_table(name, share, read<TableHint>, {}, read<StreamHint>, {});
    row("mixed:" + name, share, nanoseconds_after(empty_l2, [&] {
          read_both<TableHint, StreamHint>
              <<<4 * sms(), threads>>>(table, tiles_of(share), stream, stream_tiles, out);
        }));
  }
}

template <class StreamHint> void print_stores() {
  const std::string name = std::string("st_") + StreamHint::name;
  for (const double share : lap_shares)
    print_laps(name, share, write<StreamHint>);
  for (const double share : table_shares)
    print_table("plain:" + name, share, read<plain>, {}, write<StreamHint>, {});
}

void print_discards() {
  for (const double share : table_shares)
    for (const int kind : {0, 1, 2}) {
      const auto times = nanoseconds_of_each(3, empty_l2, [&](std::size_t i) {
        if (i == 2)
          evict_l2();
        else if (i == 0 && kind > 0)
          write<plain><<<tiles_of(share), threads>>>(table, out);
        else if (i == 1 && kind > 1)
          discard<<<tiles_of(share) / (threads * 128 / tile), threads>>>(table);
      });
      row(std::string("discard:") + std::array{"nothing_written", "written", "discarded"}[kind], share,
          times[2]);
    }
}

void print_windows(const std::string& suffix) {
  for (const double share : lap_shares) {
    print_laps("none" + suffix, share, read<plain>);
    print_laps("window_all" + suffix, share, read<plain>, {1});
    print_laps("window_fit" + suffix, share, read<plain>, fitting(share));
  }
  for (const double share : table_shares) {
    print_table("none" + suffix + ":none", share, read<plain>, {}, read<plain>, {});
    print_table("window_all" + suffix + ":none", share, read<plain>, {1}, read<plain>, {});
    print_table("window_fit" + suffix + ":none", share, read<plain>, fitting(share), read<plain>, {});
    print_table("none" + suffix + ":window_streaming", share, read<plain>, {}, read<plain>,
                {1, cudaAccessPropertyStreaming});
    print_table("window_fit" + suffix + ":window_streaming", share, read<plain>, fitting(share), read<plain>,
                {1, cudaAccessPropertyStreaming});
  }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "L2");
  check(cudaDeviceGetAttribute(&longest_window, cudaDevAttrMaxAccessPolicyWindowSize, 0), "window");
  check(cudaDeviceGetAttribute(&max_aside, cudaDevAttrMaxPersistingL2CacheSize, 0), "window");
  row("l2_bytes", 0, l2_bytes);
  row("set_aside_bytes", 0, max_aside);
  row("window_bytes", 0, longest_window);
  const std::size_t stream_bytes =
      std::max(std::size_t{512} << 20, std::size_t{8} * static_cast<unsigned>(l2_bytes));
  table = zeros<char>(static_cast<unsigned>(l2_bytes));
  stream = zeros<char>(stream_bytes);
  out = zeros<unsigned>(1);
  fill_with_noise<<<8 * sms(), threads>>>(reinterpret_cast<uint4*>(table),
                                          static_cast<unsigned>(l2_bytes) / 16);
  fill_with_noise<<<8 * sms(), threads>>>(reinterpret_cast<uint4*>(stream), stream_bytes / 16);
  print_all_laps<plain, streaming, last_use, no_allocate, prefetch_last, evict_first, evict_unchanged,
                 evict_last, evict_last_half>();
  print_pair<plain, plain>();
  print_pair<plain, streaming>();
  print_pair<plain, last_use>();
  print_pair<plain, no_allocate>();
  print_pair<plain, evict_first>();
  print_pair<plain, evict_unchanged>();
  print_pair<evict_last, plain>();
  print_pair<evict_last, evict_first>();
  print_pair<evict_last_half, plain>();
  print_pair<prefetch_last, plain>();
  print_discards();
  print_stores<plain>();
  print_stores<streaming>();
  print_stores<no_allocate>();
  print_stores<evict_first>();
  print_stores<evict_last>();
  print_windows(":set_aside_0");
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(max_aside)), "set aside");
  print_windows(":set_aside_all");
}
