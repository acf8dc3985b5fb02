// flags: -arch=sm_100a
// Tensor memory: products of one block and of two, of each type, with A in shared memory and in tensor memory; loads and stores of each
// shape; copies from shared memory.
#include "../device/check.h"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr int columns = 64, threads = 128;

template <class T> constexpr int depth = 32 / sizeof(T); // of one product

template <class T> __host__ __device__ T a_at(int row, int k) {
  return T(float((row * 3 + k * 5) % 7 - 3));
}
template <class T> __host__ __device__ T b_at(int k, int column) {
  return T(float((k * 2 + column * 3) % 5 - 2));
}
template <class T> float product(int i, float first = 0) {
  for (int k = 0; k < depth<T>; ++k)
    first += float(a_at<T>(i / columns, k)) * float(b_at<T>(k, i % columns));
  return first;
}

enum class Layout { straight, transposed };

/// Returns where an element lies in a matrix whose depth is that of the swizzle's row. A swizzle of 16 is none.
template <class T> __device__ int place(Layout layout, int swizzle, int row, int k) {
  const int size = sizeof(T);
  int at = 0;
  if (layout == Layout::straight)
    at = swizzle == 16 ? row / 8 * 256 + row % 8 * 16 + k * size / 16 * 128 + k * size % 16 : row * swizzle + k * size;
  else
    at = swizzle == 16 ? row * size / 16 * 128 + row * size % 16 + k % 8 * 16 + k / 8 * 2048
                       : row * size / swizzle * 2048 + row * size % swizzle + k * swizzle;
  return (at ^ (at >> 7 & (swizzle / 16 - 1)) << 4) / size;
}

__device__ std::uint64_t descriptor(const void* matrix, Layout layout, int swizzle) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(matrix));
  const std::uint64_t kind = swizzle == 128 ? 2 : swizzle == 64 ? 4 : swizzle == 32 ? 6 : 0, version = 1;
  std::uint64_t leading = 128, stride = swizzle == 16 ? 256 : 8 * swizzle;
  if (layout == Layout::transposed) {
    leading = 2048;
    stride = swizzle == 16 ? 128 : 8 * swizzle;
  }
  return (address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | version << 46 | kind << 61;
}

/// Returns a product's descriptor.
template <class T> __device__ constexpr std::uint32_t product_of(int rows, Layout of_a, Layout of_b, std::uint32_t result = 1) {
  std::uint32_t type = 0; // half, E4M3
  if (std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, __nv_fp8_e5m2> || std::is_same_v<T, std::int8_t>)
    type = 1;
  if (sizeof(T) == 4)
    type = 2;
  if (std::is_same_v<T, std::int8_t>)
    result = 2;
  return result << 4 | type << 7 | type << 10 | std::uint32_t(of_a == Layout::transposed) << 15 |
         std::uint32_t(of_b == Layout::transposed) << 16 | columns / 8 << 17 | std::uint32_t(rows / 16) << 24;
}

#define MULTIPLY(group, kind, a, constraint)                                                                                                \
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %4, 0;\n\ttcgen05.mma.cta_group::" group ".kind::" kind " [%0], " a              \
               ", %2, %3, adds;\n\t}" ::"r"(d), constraint(a_operand), "l"(b), "r"(shape), "r"(adds) : "memory")

template <class T, bool of_two_blocks = false> __device__ void multiply_tiles(std::uint32_t d, std::uint64_t a_operand, std::uint64_t b, std::uint32_t shape, int adds) {
  if constexpr (of_two_blocks)
    MULTIPLY("2", "f16", "%1", "l");
  else if constexpr (std::is_same_v<T, std::int8_t>)
    MULTIPLY("1", "i8", "%1", "l");
  else if constexpr (sizeof(T) == 1)
    MULTIPLY("1", "f8f6f4", "%1", "l");
  else if constexpr (sizeof(T) == 4)
    MULTIPLY("1", "tf32", "%1", "l");
  else
    MULTIPLY("1", "f16", "%1", "l");
}
template <class T> __device__ void multiply_tiles(std::uint32_t d, std::uint32_t a_operand, std::uint64_t b, std::uint32_t shape, int adds) {
  if constexpr (sizeof(T) == 1)
    MULTIPLY("1", "f8f6f4", "[%1]", "r");
  else if constexpr (sizeof(T) == 4)
    MULTIPLY("1", "tf32", "[%1]", "r");
  else
    MULTIPLY("1", "f16", "[%1]", "r");
}

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A block's tensor memory, and a barrier that its products arrive at.
struct TensorMemory {
  std::uint32_t base;
  std::uint64_t barrier;

  template <int group = 1> __device__ void begin() {
    if (threadIdx.x < 32 && group == 1) {
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared_address(&base)) : "memory");
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    } else if (threadIdx.x < 32) {
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared_address(&base)) : "memory");
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }
  __device__ void commit() {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
  }
  __device__ void wait() {
    asm volatile("{\n\t.reg .pred done;\nAGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n\t@!done bra AGAIN;\n\t}" ::"r"(
                     shared_address(&barrier))
                 : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }
  template <int group = 1> __device__ void end() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 32 && group == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(base));
    else if (threadIdx.x < 32)
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(base));
  }
  /// Returns the address of a column, from the warp's first lane on.
  __device__ std::uint32_t at(int column) const { return base + column + (threadIdx.x / 32 << 21); }
};

__device__ void load(std::uint32_t address, std::uint32_t (&v)[8]) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
               : "r"(address));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
__device__ void store(std::uint32_t address, const std::uint32_t (&v)[8]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8};" ::"r"(address), "r"(v[0]), "r"(v[1]), "r"(v[2]),
               "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7])
               : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// Writes the columns of the lane that this thread reads to a row.
template <class Sum> __device__ void put(Sum* row, const TensorMemory& memory, int count = columns) {
  for (int column = 0; column < count; column += 8) {
    std::uint32_t words[8];
    load(memory.at(column), words);
    if (row)
      memcpy(row + column, words, sizeof words);
  }
}

template <class T, int rows> __device__ void fill(T* a, T* b, Layout of_a, Layout of_b, int swizzle, int first_row = 0, int first_column = 0, int count_of_b = columns) {
  for (int i = threadIdx.x; i < rows * depth<T>; i += threads)
    a[place<T>(of_a, swizzle, i / depth<T>, i % depth<T>)] = a_at<T>(first_row + i / depth<T>, i % depth<T>);
  for (int i = threadIdx.x; i < count_of_b * depth<T>; i += threads)
    b[place<T>(of_b, swizzle, i / depth<T>, i % depth<T>)] = b_at<T>(i % depth<T>, first_column + i / depth<T>);
}

/// The same product twice: the first does not begin with what is there.
template <class T, int rows, int swizzle, Layout of_a = Layout::straight, Layout of_b = Layout::straight, class Sum = float>
__global__ void multiply(Sum* out) {
  __shared__ alignas(1024) T a[128 * 128 / sizeof(T)], b[64 * 128 / sizeof(T)];
  __shared__ TensorMemory memory;
  fill<T, rows>(a, b, of_a, of_b, swizzle);
  memory.begin();
  if (threadIdx.x == 0) {
    for (int adds = 0; adds < 2; ++adds)
      multiply_tiles<T>(memory.base, descriptor(a, of_a, swizzle), descriptor(b, of_b, swizzle), product_of<T>(rows, of_a, of_b), adds);
    memory.commit();
  }
  memory.wait();
  const int row = rows == 128 ? threadIdx.x : threadIdx.x / 32 * 16 + threadIdx.x % 32;
  put(rows == 64 && threadIdx.x % 32 >= 16 ? static_cast<Sum*>(nullptr) : out + row * columns, memory);
  memory.end();
}

/// A is in tensor memory, in words as registers have them.
template <class T> __global__ void from_tensor_memory(float* out) {
  __shared__ alignas(1024) T a[128 * 128 / sizeof(T)], b[64 * 128 / sizeof(T)];
  __shared__ TensorMemory memory;
  fill<T, 128>(a, b, Layout::straight, Layout::straight, 128);
  memory.begin();
  std::uint32_t words[8];
  for (int k = 0; k < depth<T>; ++k) {
    const T value = a_at<T>(threadIdx.x, k);
    memcpy(reinterpret_cast<T*>(words) + k, &value, sizeof value);
  }
  store(memory.at(64), words);
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    multiply_tiles<T>(memory.base, memory.base + 64, descriptor(b, Layout::straight, 128), product_of<T>(128, Layout::straight, Layout::straight), 0);
    memory.commit();
  }
  memory.wait();
  put(out + threadIdx.x * columns, memory);
  memory.end();
}

/// Sums of halves have a column each.
__global__ void to_halves(float* out) {
  __shared__ alignas(1024) half a[128 * 64], b[64 * 64];
  __shared__ TensorMemory memory;
  fill<half, 128>(a, b, Layout::straight, Layout::straight, 128);
  memory.begin();
  if (threadIdx.x == 0) {
    multiply_tiles<half>(memory.base, descriptor(a, Layout::straight, 128), descriptor(b, Layout::straight, 128),
                         product_of<half>(128, Layout::straight, Layout::straight, 0), 0);
    memory.commit();
  }
  memory.wait();
  for (int column = 0; column < columns; column += 4) {
    std::uint32_t words[2];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%0,%1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(memory.at(column)));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    half2 pairs[2];
    memcpy(pairs, words, sizeof words);
    for (int i = 0; i < 4; ++i)
      out[threadIdx.x * columns + column + i] = __half2float(i % 2 ? pairs[i / 2].y : pairs[i / 2].x);
  }
  memory.end();
}

/// A pair of blocks: each has a half of the rows of A and of the columns of B; the first one issues, and the barriers of both get an arrival.
template <int rows> __global__ void __cluster_dims__(2) of_two_blocks(float* out) {
  __shared__ alignas(1024) half a[128 * 64], b[64 * 64];
  __shared__ TensorMemory memory;
  constexpr int of_block = rows / 2;
  fill<half, of_block>(a, b, Layout::straight, Layout::straight, 128, blockIdx.x * of_block, blockIdx.x * columns / 2, columns / 2);
  memory.begin<2>();
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    multiply_tiles<half, true>(memory.base, descriptor(a, Layout::straight, 128), descriptor(b, Layout::straight, 128),
                               product_of<half>(rows, Layout::straight, Layout::straight), 0);
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                     shared_address(&memory.barrier)),
                 "h"(std::uint16_t(3))
                 : "memory");
  }
  memory.wait();
  if (of_block == 128)
    put(out + (blockIdx.x * 128 + threadIdx.x) * columns, memory);
  else
    put(out + (blockIdx.x * 64 + threadIdx.x % 64) * columns + threadIdx.x / 64 * columns / 2, memory, columns / 2);
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  memory.end<2>();
}

/// Stores words of 32 rows, and loads them as 16 rows of each shape: the words of a lane beside each other.
__global__ void shapes(int* out) {
  __shared__ TensorMemory memory;
  memory.begin();
  std::uint32_t words[8];
  for (int i = 0; i < 8; ++i)
    words[i] = threadIdx.x * 8 + i;
  store(memory.at(0), words);
  std::uint32_t v[7];
  const std::uint32_t high = memory.at(0) + (16 << 16);
  asm volatile("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%0}, [%1];" : "=r"(v[0]) : "r"(memory.at(2)));
  asm volatile("tcgen05.ld.sync.aligned.16x128b.x1.b32 {%0,%1}, [%2];" : "=r"(v[1]), "=r"(v[2]) : "r"(high + 4));
  asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0,%1,%2,%3}, [%4];" : "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]) : "r"(high));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int i = 0; i < 7; ++i)
    out[threadIdx.x * 7 + i] = v[i];
  memory.end();
}
int of_shape(int i) {
  const int lane = i / 7 % 32, first = i / 7 / 32 * 32, word = i % 7;
  if (word == 0)
    return (first + lane / 4 + lane / 2 % 2 * 8) * 8 + 2 + lane % 2;
  if (word < 3)
    return (first + 16 + lane / 4 + (word - 1) * 8) * 8 + 4 + lane % 4;
  return (first + 16 + lane / 4 + (word - 3) / 2 * 8) * 8 + lane % 4 * 2 + (word - 3) % 2;
}

/// The first 16 lanes get a column and the others another one, of the same 16 rows.
__global__ void halves_of_lanes(int* out) {
  __shared__ TensorMemory memory;
  memory.begin();
  std::uint32_t words[8], v;
  for (int i = 0; i < 8; ++i)
    words[i] = threadIdx.x * 8 + i;
  store(memory.at(0), words);
  asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%0}, [%1], 4;" : "=r"(v) : "r"(memory.at(1)));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  out[threadIdx.x] = v;
  memory.end();
}

/// Rows of 16 bytes: the warps' lanes get the same 32 ones, or pairs of warps the same.
__global__ void copies(int* out) {
  __shared__ alignas(1024) std::uint32_t rows[128 * 8];
  __shared__ TensorMemory memory;
  for (int i = threadIdx.x; i < 128 * 8; i += threads) // without a swizzle: 16 bytes of 8 rows beside each other
    rows[i / 8 / 8 * 64 + i / 8 % 8 * 4 + i % 8 / 4 * 32 + i % 4] = i;
  memory.begin();
  if (threadIdx.x == 0) {
    const std::uint64_t matrix = descriptor(rows, Layout::straight, 16);
    asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(memory.base), "l"(matrix) : "memory");
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(memory.base + 8), "l"(matrix) : "memory");
    asm volatile("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 [%0], %1;" ::"r"(memory.base + 12), "l"(matrix) : "memory");
    memory.commit();
  }
  memory.wait();
  put(out + threadIdx.x * 16, memory, 16);
  memory.end();
}
int copied(int i) {
  const int lane = i / 16, word = i % 16;
  if (word < 8)
    return lane * 8 + word;
  return word < 12 ? lane % 32 * 8 + word - 8 : (lane / 64 * 32 + lane % 32) * 8 + word - 12;
}

int main() {
  constexpr auto straight = Layout::straight, transposed = Layout::transposed;
  constexpr int count = 128 * columns;
  using bf16 = __nv_bfloat16;
  using e4m3 = __nv_fp8_e4m3;
  using e5m2 = __nv_fp8_e5m2;
  check<float>("rows of 16 bytes", multiply<half, 128, 16>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("rows of 32 bytes", multiply<half, 128, 32>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("rows of 64 bytes", multiply<half, 128, 64>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("rows of 128 bytes", multiply<half, 128, 128>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("64 rows", multiply<half, 64, 128>, 1, threads, count / 2, [](int i) { return 2 * product<half>(i); });
  check<float>("transposed, 16 bytes", multiply<half, 128, 16, transposed, transposed>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("transposed, 128 bytes", multiply<half, 128, 128, transposed, transposed>, 1, threads, count, [](int i) { return 2 * product<half>(i); });
  check<float>("bfloat16", multiply<bf16, 128, 128>, 1, threads, count, [](int i) { return 2 * product<bf16>(i); });
  check<float>("B transposed", multiply<bf16, 128, 64, straight, transposed>, 1, threads, count, [](int i) { return 2 * product<bf16>(i); });
  check<float>("tf32", multiply<float, 128, 128>, 1, threads, count, [](int i) { return 2 * product<float>(i); });
  check<float>("e4m3", multiply<e4m3, 128, 64>, 1, threads, count, [](int i) { return 2 * product<e4m3>(i); });
  check<float>("e5m2", multiply<e5m2, 128, 32>, 1, threads, count, [](int i) { return 2 * product<e5m2>(i); });
  check<int>("bytes", multiply<std::int8_t, 128, 32, straight, straight, int>, 1, threads, count,
             [](int i) { return int(2 * product<std::int8_t>(i)); });
  check<float>("A in tensor memory", from_tensor_memory<half>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("A in tensor memory, tf32", from_tensor_memory<float>, 1, threads, count, [](int i) { return product<float>(i); });
  check<float>("A in tensor memory, e4m3", from_tensor_memory<e4m3>, 1, threads, count, [](int i) { return product<e4m3>(i); });
  check<float>("to halves", to_halves, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("two blocks, 256 rows", of_two_blocks<256>, 2, threads, 2 * count, [](int i) { return product<half>(i); });
  check<float>("two blocks, 128 rows", of_two_blocks<128>, 2, threads, count, [](int i) { return product<half>(i); });
  check<int>("shapes", shapes, 1, threads, threads * 7, of_shape);
  check<int>("halves of lanes", halves_of_lanes, 1, threads, threads,
             [](int i) { return (i / 32 * 32 + i % 16) * 8 + (i % 32 < 16 ? 1 : 5); });
  check<int>("copies", copies, 1, threads, threads * 16, copied);
}
