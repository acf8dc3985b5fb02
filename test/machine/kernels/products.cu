// Products of tensor cores of words that the test chooses: each kernel reads its factors and sums from `in`, in
// the order of its lanes, and writes its sums to `out`.
#include <cstdint>

#define MMA(name, instruction, a_words, b_words, c_words, a_text, b_text, c_text, d_text, A, B, C)                        \
  extern "C" __global__ void name(const unsigned* in, unsigned* out) {                                                    \
    unsigned a[4], b[2], c[4], d[4] = {};                                                                                 \
    const unsigned* from = in + threadIdx.x * 16;                                                                         \
    for (int i = 0; i < 4; ++i) a[i] = from[i], c[i] = from[4 + i];                                                       \
    for (int i = 0; i < 2; ++i) b[i] = from[8 + i];                                                                       \
    asm volatile("mma.sync.aligned." instruction " " d_text ", " a_text ", " b_text ", " c_text ";" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = i < c_words ? d[i] : 0;                                        \
  }
#define WHOLE(name, instruction) MMA(name, instruction, 4, 2, 4, "{%4,%5,%6,%7}", "{%8,%9}", "{%10,%11,%12,%13}", "{%0,%1,%2,%3}", , , )
#define HALF(name, instruction) MMA(name, instruction, 2, 1, 4, "{%4,%5}", "{%8}", "{%10,%11,%12,%13}", "{%0,%1,%2,%3}", , , )
#define OF_FLOATS(name, instruction) \
  extern "C" __global__ void name(const unsigned* in, unsigned* out) {                                                    \
    const unsigned* from = in + threadIdx.x * 16;                                                                         \
    float d[4];                                                                                                           \
    for (int i = 0; i < 4; ++i) d[i] = __uint_as_float(from[4 + i]);                                                      \
    asm volatile("mma.sync.aligned." instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "r"(from[8]), "r"(from[9])); \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = __float_as_uint(d[i]);                                         \
  }

#if __CUDA_ARCH__ == 800
OF_FLOATS(halves, "m16n8k16.row.col.f32.f16.f16.f32")
OF_FLOATS(bfloats, "m16n8k16.row.col.f32.bf16.bf16.f32")
OF_FLOATS(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
WHOLE(bytes, "m16n8k32.row.col.s32.s8.u8.s32")
WHOLE(saturated, "m16n8k32.row.col.satfinite.s32.u8.s8.s32")
HALF(few_bytes, "m16n8k16.row.col.s32.s8.s8.s32")
extern "C" __global__ void half_sums(const unsigned* in, unsigned* out) {
  const unsigned* from = in + threadIdx.x * 16;
  unsigned d[2] = {from[4], from[5]};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "r"(from[8]), "r"(from[9]));
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = i < 2 ? d[i] : 0;
}
#endif

/// Fills shared memory with words of `in`; returns the descriptor of what lies there, without its layout.
__device__ inline unsigned long long filled(unsigned char* memory, int bytes, const unsigned* in) {
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) reinterpret_cast<unsigned*>(memory)[i] = in[i];
  __syncthreads();
  asm volatile("fence.proxy.async;" ::: "memory");
  return __cvta_generic_to_shared(memory) >> 4 & 0x3fff;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// The products have 24 columns, so that the last group is not whole.
#define GROUP(name, instruction, scales)                                                                                  \
  extern "C" __global__ void name(const unsigned* in, unsigned* out, unsigned long long layout) {                         \
    __shared__ alignas(1024) unsigned char memory[16384];                                                                 \
    const unsigned long long a = filled(memory, sizeof memory, in) | layout, b = a + 512;                                 \
    unsigned d[12];                                                                                                       \
    for (int i = 0; i < 12; ++i) d[i] = in[threadIdx.x * 12 + i];                                                         \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                               \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." instruction " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}, %12, %13, p" scales ";}" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]) : "l"(a), "l"(b)); \
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");                    \
    for (int i = 0; i < 12; ++i) out[threadIdx.x * 12 + i] = d[i];                                                        \
  }
GROUP(group_of_bytes, "m64n24k32.s32.s8.u8", "")
#undef GROUP
#define GROUP(name, instruction, scales, registers)                                                                       \
  extern "C" __global__ void name(const unsigned* in, unsigned* out, unsigned long long layout) {                         \
    __shared__ alignas(1024) unsigned char memory[16384];                                                                 \
    const unsigned long long a = filled(memory, sizeof memory, in) | layout, b = a + 512;                                 \
    float d[12];                                                                                                          \
    for (int i = 0; i < 12; ++i) d[i] = __uint_as_float(in[threadIdx.x * 12 + i]);                                        \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                               \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." instruction " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}, " registers ", %13, p" scales ";}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]) : "l"(a), "l"(b), "r"(in[threadIdx.x]), "r"(in[threadIdx.x + 128]), "r"(in[threadIdx.x + 256]), "r"(in[threadIdx.x + 384])); \
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");                    \
    for (int i = 0; i < 12; ++i) out[threadIdx.x * 12 + i] = __float_as_uint(d[i]);                                       \
  }
GROUP(group_of_halves, "m64n24k16.f32.f16.f16", ", 1, -1, 0, 0", "%12")
GROUP(transposed_group, "m64n24k16.f32.bf16.bf16", ", -1, 1, 1, 1", "%12")
GROUP(group_of_tf32, "m64n24k8.f32.tf32.tf32", ", 1, 1", "%12")
GROUP(group_of_small_floats, "m64n24k32.f32.e4m3.e5m2", ", 1, 1", "%12")
GROUP(group_from_registers, "m64n24k16.f32.f16.f16", ", 1, 1, 0", "{%14,%15,%16,%17}")
#endif

#ifdef __CUDA_ARCH_FEAT_SM100_ALL
// A is in shared memory, and at once in tensor memory.
template <int kind> __device__ void multiply(const unsigned* in, unsigned* out, unsigned long long layout, unsigned shape) {
  __shared__ alignas(1024) unsigned char memory[16384];
  __shared__ unsigned base;
  const unsigned long long a = filled(memory, sizeof memory, in) | layout, b = a + 512;
  if (threadIdx.x < 32)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&base))) : "memory");
  __syncthreads();
  const unsigned own = base + (threadIdx.x / 32 << 21);
  for (int column = 0; column < 32; ++column) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + column), "r"(in[threadIdx.x * 32 + column]) : "memory");
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + 32 + column), "r"(in[threadIdx.x * 32 + column + 7]) : "memory");
  }
  asm volatile("tcgen05.wait::st.sync.aligned;\n\ttcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#define MULTIPLY(kind)                                                                                                    \
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, p;}" ::"r"(base), "l"(a), "l"(b), "r"(shape) : "memory"); \
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], [%1], %2, %3, p;}" ::"r"(base), "r"(base + 48), "l"(b), "r"(shape) : "memory")
    if constexpr (kind == 0) { MULTIPLY("f16"); }
    if constexpr (kind == 1) { MULTIPLY("tf32"); }
    if constexpr (kind == 2) { MULTIPLY("f8f6f4"); }
    if constexpr (kind == 3) { MULTIPLY("i8"); }
  }
  __syncthreads();
  for (int column = 0; column < 32; ++column) {
    unsigned word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\n\ttcgen05.wait::ld.sync.aligned;" : "=r"(word) : "r"(own + column) : "memory");
    out[threadIdx.x * 32 + column] = word;
  }
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(base));
}
#define IN_TENSOR_MEMORY(name, kind) \
  extern "C" __global__ void name(const unsigned* in, unsigned* out, unsigned long long layout, unsigned shape) { multiply<kind>(in, out, layout, shape); }
IN_TENSOR_MEMORY(memory_of_halves, 0)
IN_TENSOR_MEMORY(memory_of_tf32, 1)
IN_TENSOR_MEMORY(memory_of_small_floats, 2)
IN_TENSOR_MEMORY(memory_of_bytes, 3)
#endif
