// Stores that write parts of sectors, by the whole GPU, beside loads and updates (a load and a store of the
// same bytes) of the same shape. Rows: KIND:BYTES:WHERE:WHAT, bytes from lane to lane, and WHAT of a launch:
// ns, bytes_per_ns that lanes ask for, sectors_per_ns that they touch. WHERE is l2_again, where the launch
// itself makes several laps over 16 MiB; l2_read, one lap over 16 MiB that were read before; l2_cold, one
// that are not in the L2; memory, one lap over 2 GiB. Likewise
//   offset:BYTES:…, how far a run of lanes without gaps lies from the begin of a sector;
//   fields:…, bytes of a struct of words, which each lane writes word by word;
//   halves:BY:…, iterations between the two stores of 16 bytes that fill a sector, BY the same thread
//   (`half`: as many as half the lap has), or of x = 0 by the next warp or block; one_instruction fills it at
//   once; nothing:ns, a launch that does nothing. Takes 4 s.
#include "measure.h"

using namespace measure;

namespace {

constexpr int threads = 256, together = 4;
constexpr std::size_t small = std::size_t{16} << 20, large = std::size_t{2} << 30, margin = 4096;

enum class Kind { load, store, update, store_words };

template <int bytes> __device__ unsigned load(const char* at) {
  unsigned a, b = 0, c = 0, d = 0; // all are used, or the assembler would load less
  if constexpr (bytes == 1)
    asm volatile("ld.global.cg.u8 %0, [%1];" : "=r"(a) : "l"(at) : "memory");
  else if constexpr (bytes == 2)
    asm volatile("{.reg .u16 h; ld.global.cg.u16 h, [%1]; cvt.u32.u16 %0, h;}"
                 : "=r"(a)
                 : "l"(at)
                 : "memory");
  else if constexpr (bytes == 4)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(at) : "memory");
  else if constexpr (bytes == 8)
    asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory");
  else if constexpr (bytes == 16)
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(at)
                 : "memory");
  else
    return load<16>(at) ^ load<16>(at + 16);
  return a ^ b ^ c ^ d;
}

template <int bytes> __device__ void store(char* at, unsigned value) {
  if constexpr (bytes == 1)
    asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  else if constexpr (bytes == 2)
    asm volatile("{.reg .u16 h; cvt.u16.u32 h, %1; st.global.u16 [%0], h;}" ::"l"(at), "r"(value) : "memory");
  else if constexpr (bytes == 4)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  else if constexpr (bytes == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(value) : "memory");
  else if constexpr (bytes == 16)
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(value) : "memory");
  else
#pragma unroll
    for (int part = 0; part < bytes; part += 16)
      store<16>(at + part, value);
}

template <Kind kind, int bytes> __device__ void write(char* at, unsigned value) {
  constexpr int piece = kind == Kind::store_words ? 4 : bytes;
#pragma unroll
  for (int part = 0; part < bytes; part += piece)
    store<piece>(at + part, value);
}

/// Accesses `count` elements a `step` apart, all of them before what waits for a load.
template <Kind kind, int bytes, int count>
__device__ unsigned access_some(char* at, std::size_t step, unsigned value) {
  unsigned values[count], sum = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    values[i] = value;
    if constexpr (kind == Kind::load || kind == Kind::update)
      values[i] += load<bytes>(at + i * step);
  }
#pragma unroll
  for (int i = 0; i < count; ++i)
    if constexpr (kind == Kind::load)
      sum += values[i];
    else
      write<kind, bytes>(at + i * step, values[i]);
  return sum;
}

/// A number in a register: what is a kernel's parameter is loaded from constant memory again and again, which
/// takes longer than a store.
__device__ unsigned lane() {
  unsigned number;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}

template <Kind kind, int bytes>
__global__ void access(char* memory, unsigned count, unsigned stride, int laps, unsigned* out) {
  const unsigned all = gridDim.x * threads, first = blockIdx.x * threads + threadIdx.x, value = lane();
  const unsigned own = first < count ? (count - first + all - 1) / all : 0;
  const std::size_t step = std::size_t{all} * stride;
  unsigned sum = 0;
#pragma unroll 1
  for (int lap = 0; lap < laps; ++lap) {
    char* at = memory + std::size_t{first} * stride;
    unsigned left = own;
#pragma unroll 1
    for (; left >= together; left -= together, at += together * step)
      sum += access_some<kind, bytes, together>(at, step, value);
#pragma unroll 1
    for (; left > 0; --left, at += step)
      sum += access_some<kind, bytes, 1>(at, step, value);
  }
  if (kind == Kind::load && sum == 1)
    out[0] = sum;
}

/// Each thread writes the first half of one sector after the other, and with each of them the second half of
/// that one `lag` sectors before, or of the one whose number differs by `flip`.
__global__ void store_halves(char* memory, unsigned count, unsigned flip, unsigned lag, int laps) {
  const unsigned all = gridDim.x * threads, first = blockIdx.x * threads + threadIdx.x, value = lane();
  const unsigned mask = count - 1;
#pragma unroll 1
  for (int lap = 0; lap < laps; ++lap)
#pragma unroll 1
    for (unsigned i = first; i < count; i += all) {
      store<16>(memory + std::size_t{i} * 32, value);
      store<16>(memory + std::size_t{((i ^ flip) - lag) & mask} * 32 + 16, value);
    }
}

struct Place {
  const char* name;
  std::size_t bytes;
  bool again, read;
};
constexpr Place places[] = {{"l2_again", small, true, false},
                            {"l2_read", small, false, true},
                            {"l2_cold", small, false, false},
                            {"memory", large, false, false}};

/// Prints what a launch of `launch(laps)` takes, of which each lap touches `sectors` and asks for `requested`
/// bytes.
template <class Launch>
void print(const std::string& name, double x, const Place& place, const char* memory, double sectors,
           double requested, Launch launch) {
  static unsigned* out = zeros<unsigned>(1);
  const int laps = place.again ? static_cast<int>(std::max(1.0, (1 << 22) / sectors)) : 1;
  const auto prepare = [&] {
    evict_l2();
    if (place.read)
      read_once<<<8 * sms(), threads>>>(reinterpret_cast<const uint4*>(memory), place.bytes / 16, out);
    else if (place.again)
      launch(1);
  };
  const double ns = nanoseconds_after(prepare, [&] { launch(laps); });
  const std::string start = name + ":" + place.name;
  row(start + ":ns", x, ns);
  row(start + ":bytes_per_ns", x, requested * laps / ns);
  row(start + ":sectors_per_ns", x, sectors * laps / ns);
}

char* memory;
unsigned* out;

template <Kind kind, int bytes>
void print_access(const std::string& name, double x, unsigned stride, unsigned offset) {
  for (const Place& place : places) {
    const auto count = static_cast<unsigned>(place.bytes / stride);
    print(name + ":" + std::to_string(bytes), x, place, memory, std::min<double>(place.bytes / 32, count),
          double(count) * bytes, [&](int laps) {
            access<kind, bytes><<<8 * sms(), threads>>>(memory + offset, count, stride, laps, out);
          });
  }
}

template <Kind kind, int... bytes> void print_strides(const char* name) {
  const auto print_width = [&](auto width) {
    for (unsigned stride = std::max(width(), 4); stride <= 512; stride *= 2)
      print_access<kind, width()>(name, stride, stride, 0);
  };
  (print_width(std::integral_constant<int, bytes>()), ...);
}

void print_halves() {
  const unsigned blocks = sms(), all = blocks * threads;
  for (const Place& place : places) {
    const auto count = static_cast<unsigned>(place.bytes / 32);
    const auto print_order = [&](const char* by, double x, unsigned flip, unsigned lag) {
      print(std::string("halves:") + by, x, place, memory, count, place.bytes,
            [&](int laps) { store_halves<<<blocks, threads>>>(memory, count, flip, lag, laps); });
    };
    print("halves:one_instruction", 0, place, memory, count, place.bytes,
          [&](int laps) { access<Kind::store, 16><<<blocks, threads>>>(memory, 2 * count, 16, laps, out); });
    for (unsigned lag : {0U, 1U, 4U, 16U, 64U, 256U})
      if (lag * all < count / 2)
        print_order("same_thread", lag, 0, lag * all);
    print_order("half", 0, 0, count / 2);
    print_order("other_warp", 0, 32, 0);
    print_order("other_block", 0, threads, 0);
  }
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  memory = memory_if_there<char>(large + margin);
  check(memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation, "2 GiB");
  fill_with_noise<<<8 * sms(), threads>>>(reinterpret_cast<uint4*>(memory), large / 16);
  out = zeros<unsigned>(1);
  row("nothing:ns", 0, nanoseconds_after(evict_l2, [] {
        access<Kind::store, 4><<<8 * sms(), threads>>>(memory, 0, 4, 1, out);
      }));
  print_strides<Kind::store, 4, 1, 2, 8, 16, 32>("store");
  print_halves();
  print_access<Kind::store_words, 8>("fields", 8, 8, 0);
  print_access<Kind::store_words, 16>("fields", 16, 16, 0);
  print_access<Kind::store_words, 32>("fields", 32, 32, 0);
  print_access<Kind::store_words, 64>("fields", 64, 64, 0);
  for (unsigned offset : {0U, 4U, 8U, 16U, 32U, 64U}) {
    print_access<Kind::store, 4>("offset", offset, 4, offset);
    if (offset % 16 == 0)
      print_access<Kind::store, 16>("offset", offset, 16, offset);
  }
  print_strides<Kind::update, 4, 1, 16>("update");
  print_strides<Kind::load, 4, 1, 16>("load");
}
