// Kernels whose results the tests know. They are compiled to PTX once for sm_75 and once for sm_80, and by ptxas for each
// architecture.

#include <cassert>
#include <cstdio>

// ---- arithmetic and memory

extern "C" __global__ void scaled_sum(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void block_sums(const float* in, float* out, int n) {
  __shared__ float partial[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  for (int o = 16; o; o >>= 1)
    v += __shfl_down_sync(~0u, v, o);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (lane == 0)
    partial[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.f;
    for (int o = 16; o; o >>= 1)
      v += __shfl_xor_sync(~0u, v, o);
    if (lane == 0)
      atomicAdd(out, v);
  }
}

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j)
      sum += tile_a[y][j] * tile_b[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void integers(const int* x, const int* y, long long* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int a = x[i], b = y[i];
  long long* p = o + i * 16;
  p[0] = b ? a / b : 0;
  p[1] = b ? (unsigned)a % (unsigned)b : 0;
  p[2] = (long long)a * b;
  p[3] = __mulhi(a, b);
  p[4] = __popc(a) + __clz(b) * 100 + __ffs(a) * 10000;
  p[5] = __brev(a);
  p[6] = (long long)a << (b & 63);
  p[7] = ((long long)a << 20 | (unsigned)b) >> (a & 31);
  p[8] = b ? ((long long)a << 22) / b : 0;
  p[9] = ((unsigned long long)(unsigned)a << 31) % ((unsigned)b | 1u);
  p[10] = b ? ((unsigned long long)(unsigned)a << 32 | (unsigned)b) / ((unsigned long long)(unsigned)b << 3 | 1) : 0;
  p[11] = __umulhi(a, b);
  p[12] = __sad(a, b, i);
  p[13] = min(a, b) - max((unsigned)a, (unsigned)b);
  p[14] = __funnelshift_lc(a, b, i) + __funnelshift_r(a, b, i);
  p[15] = abs(a) + (a < b) + __dp4a(a, b, i);
}

extern "C" __global__ void floats(const float* x, const float* y, float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float a = x[i], b = y[i];
  float* p = o + i * 12;
  p[0] = a / b;
  p[1] = sqrtf(fabsf(a));
  p[2] = fmodf(a, b);
  p[3] = __fdiv_rz(a, b);
  p[4] = __fsqrt_ru(fabsf(a));
  p[5] = expf(a * 0.1f);
  p[6] = logf(fabsf(a) + 1e-3f);
  p[7] = sinf(a);
  p[8] = powf(fabsf(a), b * 0.25f);
  p[9] = tanhf(a);
  p[10] = rsqrtf(fabsf(b) + 0.1f);
  p[11] = fmaxf(a, b) + fminf(a, 1.0f) + rintf(b) + floorf(a);
}

extern "C" __global__ void doubles(const double* x, const double* y, double* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const double a = x[i], b = y[i];
  double* p = o + i * 8;
  p[0] = a / b;
  p[1] = sqrt(fabs(a));
  p[2] = (double)(long long)(a * 1e6) + (double)(unsigned)(fabs(b) * 1000);
  p[3] = fmax(a, b) + rint(a) * floor(b) + (a < b ? 1.0 : -1.0);
  p[4] = exp(a * 0.1);
  p[5] = log(fabs(a) + 1e-3);
  p[6] = sin(a);
  p[7] = pow(fabs(a), b * 0.25);
}

extern "C" __global__ void local_array(const float* x, float* o, const int* index, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t[24];
  for (int k = 0; k < 24; ++k)
    t[k] = x[(i + k) % n];
  float s = 0;
  for (int k = 0; k < 16; ++k) {
    const int j = index[(i * 16 + k) % n];
    t[j % 24] += k;
    s += t[(j * 7) % 24];
  }
  o[i] = s;
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned counts[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    counts[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&out[i], counts[i]);
}

__constant__ float coefficients[64];
__device__ int counter;
__device__ int* counter_address = &counter;
extern "C" __global__ void variables(const int* x, float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k < 8; ++k)
    s += coefficients[(x[i] + k) & 63] * coefficients[k];
  o[i] = s;
  atomicAdd(counter_address, 1);
}

extern "C" __global__ void atomics(unsigned long long* o, const unsigned* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(o, (unsigned long long)x[i]);
  atomicMax(o + 1, (unsigned long long)x[i] << 8);
  atomicMin((int*)(o + 2), (int)x[i]);
  atomicXor((unsigned*)(o + 3), x[i]);
  atomicAdd((double*)(o + 4), (double)(x[i] & 255));
  atomicInc((unsigned*)(o + 5), 99u);
  unsigned long long old = o[6], assumed;
  do {
    assumed = old;
    old = atomicCAS(o + 6, assumed, assumed * 5 + 1);
  } while (assumed != old);
  o[8 + i] = atomicAdd((unsigned*)(o + 7), 1u); // each number once
}

extern "C" __global__ void generic_pointers(const float* x, float* o) {
  extern __shared__ float dynamic[];
  const int t = threadIdx.x;
  float own[4];
  for (int k = 0; k < 4; ++k)
    own[k] = x[(t + k) & 63] * 2;
  dynamic[t] = x[t];
  __syncthreads();
  const float* p = t % 3 == 0 ? dynamic : t % 3 == 1 ? x : own;
  float s = 0;
  for (int k = 0; k < 8; ++k)
    s += p[(t + k) & (t % 3 == 2 ? 3 : 63)];
  dynamic[t + 64] = s;
  __syncthreads();
  o[t] = dynamic[64 + (t ^ 5)] + __syncthreads_count(s > 10) + __syncthreads_or(t == 3) + __syncthreads_and(t < 64);
}

// ---- control

extern "C" __global__ void by_lane(float* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  switch (threadIdx.x & 7) {
  case 0: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 1.01f + 0.5f; break;
  case 1: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 0.99f + 0.25f; break;
  case 2: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 0.98f - 0.5f; break;
  case 3: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 1.02f - 0.25f; break;
  case 4: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 0.97f + 1.5f; break;
  case 5: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 1.03f + 2.5f; break;
  case 6: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 0.96f + 3.5f; break;
  default: _Pragma("unroll 16") for (int k = 0; k < 64; ++k) x = x * 1.04f + 4.5f; break;
  }
  data[i] = x;
}

extern "C" __global__ void ways(const int* x, int* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = x[i], r = 0;
  if ((v & 0xff) == 0x11) { // some lanes leave early
    o[i] = -1;
    return;
  }
  switch (v & 15) {
  case 0: r = v * 3; break;
  case 1: for (int k = 0; k < v % 7; ++k) r += k * v; break;
  case 2: r = v ^ 0x55; break;
  case 3: r = __popc(v); break;
  case 4:
    while (v) {
      r += v & 1;
      v = (unsigned)v >> 1;
      if (r > 9)
        break;
    }
    break;
  case 5: r = v / 7; break;
  case 6: r = v % 11; break;
  case 7: r = -v; break;
  case 9:
    r = 1;
    for (int k = 0; k < (v >> 28); ++k) {
      r *= 3;
      if (r > 1000)
        goto out;
    }
    r += 5;
    break;
  case 12: r = v << 3; break;
  default: r = 1;
  }
  r += 7;
out:
  o[i] = r;
}

extern "C" __global__ void remainders(const int* count, const int* x, int* o) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int s = 0;
#pragma unroll 4
  for (int k = 0; k < count[t]; ++k)
    s = s * 3 + x[k];
  o[t] = s;
}

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1) + (n & 1); }
extern "C" __global__ void recursion(const int* x, int* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    o[i] = factorial(x[i] % 10);
}

struct Shape {
  virtual __device__ float area(float x) = 0;
  float k;
};
struct Square : Shape {
  __device__ Square(float q) { k = q; }
  __device__ float area(float x) override { return x * k; }
};
struct Line : Shape {
  __device__ Line(float q) { k = q; }
  __device__ float area(float x) override { return x + k; }
};
typedef float (*Function)(float);
__device__ __noinline__ float add_one(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ Function table[3] = {add_one, twice, square};
extern "C" __global__ void pointers(const float* x, float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Square a(3.f);
  Line b(5.f);
  Shape* s = (i & 1) ? (Shape*)&a : (Shape*)&b;
  if (i < n)
    o[i] = table[i % 3](x[i]) + s->area(x[i]);
}

extern "C" __global__ void spin_lock(int* lock, int* count) {
  bool done = false;
  while (!done)
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int*)count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}

// Blocks that wait for each other.
extern "C" __global__ void grid_barrier(unsigned* arrived, unsigned* o) {
  o[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < gridDim.x)
      ;
  }
  __syncthreads();
  o[blockIdx.x * blockDim.x + threadIdx.x] += o[((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x] & 0xff;
}

// The first warp fills buffers that the others empty; named barriers hand them over.
extern "C" __global__ void producer_consumer(const int* in, int* out, int rounds) {
  __shared__ int buffer[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0)
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync %0, 128;" ::"r"(1 + (r & 1)));
      buffer[r & 1][lane] = in[r * 32 + lane];
      asm volatile("bar.arrive %0, 128;" ::"r"(3 + (r & 1)));
    }
  else {
    asm volatile("bar.arrive 1, 128;");
    asm volatile("bar.arrive 2, 128;");
    int s = 0;
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync %0, 128;" ::"r"(3 + (r & 1)));
      s = s * 3 + buffer[r & 1][(lane + warp) & 31];
      if (r + 2 < rounds)
        asm volatile("bar.arrive %0, 128;" ::"r"(1 + (r & 1)));
    }
    out[(warp - 1) * 32 + lane] = s;
  }
}

// ---- lanes

extern "C" __global__ void votes(const int* x, unsigned* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = x[i];
  int all;
  const unsigned same = __match_all_sync(~0u, v >> 30, &all);
  o[i * 6] = __ballot_sync(~0u, v & 1);
  o[i * 6 + 1] = __match_any_sync(~0u, v & 7);
  o[i * 6 + 2] = same + all;
  o[i * 6 + 3] = __any_sync(~0u, v == 5) + 2 * __all_sync(~0u, v != 5);
  o[i * 6 + 4] = __shfl_sync(~0u, v, i * 3, 8) + __shfl_up_sync(~0u, v, 3, 16);
  unsigned active = 0;
  if (v & 2)
    active = __activemask();
  o[i * 6 + 5] = active;
}

// Lanes exchange values inside of both sides of a branch, by masks.
extern "C" __global__ void masked(const int* x, int* o) {
  const int lane = threadIdx.x & 31;
  __shared__ int s[32];
  s[lane] = x[lane];
  __syncwarp();
  int v = s[31 - lane];
  if (lane < 12) {
    __syncwarp(0xfff);
    v += __shfl_sync(0xfff, v, (lane + 1) % 12);
    s[lane] = v;
    __syncwarp(0xfff);
    v = s[(lane + 5) % 12];
  } else {
    v += __shfl_xor_sync(0xfffff000, v, 1);
    for (int k = 0; k < (lane & 3); ++k)
      v = v * 3 + k;
    __syncwarp(0xfffff000);
  }
  o[lane] = v;
}

// The same collective in both sides, which from sm_90 on lanes may reach from different copies of the code.
extern "C" __global__ void collective(const int* x, int* o, int limit) {
  const int i = threadIdx.x;
  int v = x[i], s;
  if (v > limit) {
    v = v * 3;
    s = __shfl_xor_sync(~0u, v, 1);
    s += 7;
    for (int k = 0; k < (v & 3); ++k)
      s = s * 5 + k;
  } else {
    v += 100;
    for (int k = 0; k < (v & 7); ++k)
      v = v * 3 + k;
    s = __shfl_xor_sync(~0u, v, 1);
    s ^= 1;
  }
  o[i] = s;
}

// ---- the outside world

extern "C" __global__ void outside(int* x) {
  int* block = (int*)malloc(16);
  block[0] = x[threadIdx.x];
  if (threadIdx.x < 2)
    printf("a %d %f\n", block[0], 0.5f);
  assert(block[0] < 1000);
  x[threadIdx.x] = block[0] + 1;
  free(block);
}

extern "C" __global__ void out_of_bounds(int* x) { x[threadIdx.x * 1000000] = 1; }
extern "C" __global__ void never_ends(volatile int* x) {
  while (*x == 0)
    ;
}
extern "C" __global__ void traps(int* x) {
  if (x[threadIdx.x] == 7)
    __trap();
}

#if __CUDA_ARCH__ >= 800
// Sums of tiles of eight lanes, whose masks differ.
extern "C" __global__ void tile_sums(const unsigned* x, unsigned* o) {
  const int lane = threadIdx.x & 31;
  const unsigned mask = 0xffu << (lane & 24);
  o[threadIdx.x] = __reduce_add_sync(mask, x[threadIdx.x]) + __popc(__match_any_sync(mask, x[threadIdx.x] & 3));
}

extern "C" __global__ void reductions(const unsigned* x, unsigned* o) {
  const unsigned v = x[threadIdx.x];
  o[threadIdx.x * 4] = __reduce_add_sync(~0u, v);
  o[threadIdx.x * 4 + 1] = __reduce_min_sync(~0u, (int)v);
  o[threadIdx.x * 4 + 2] = __reduce_xor_sync(~0u, v);
  o[threadIdx.x * 4 + 3] = __reduce_max_sync(~0u, v);
}

extern "C" __global__ void asynchronous_copies(const float4* x, float4* o) {
  __shared__ float4 s[2][128];
  const int t = threadIdx.x;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&s[0][t]), stride = sizeof(float4) * 128;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(at), "l"(x + t) : "memory");
  float4 sum = {0, 0, 0, 0};
  for (int k = 0; k < 4; ++k) {
    if (k < 3)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + ((k + 1) & 1) * stride), "l"(x + (k + 1) * 128 + t) : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const float4 v = s[k & 1][t ^ 1];
    sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    __syncthreads();
  }
  o[t] = sum;
}

// D = A · B with A 16 × 16 and B 16 × 8 of halves (as bits), by ldmatrix and mma.
extern "C" __global__ void tensor(const unsigned short* a, const unsigned short* b, float* d) {
  __shared__ unsigned short sa[16 * 16], sb[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    sa[i] = a[i];
  for (int i = lane; i < 128; i += 32)
    sb[i] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2];
  const unsigned pa = (unsigned)__cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
  const unsigned pb = (unsigned)__cvta_generic_to_shared(sb + (lane % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  float c[4] = {1, 2, 3, 4};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  const int g = lane / 4, t = lane % 4;
  d[g * 8 + 2 * t] = c[0];
  d[g * 8 + 2 * t + 1] = c[1];
  d[(g + 8) * 8 + 2 * t] = c[2];
  d[(g + 8) * 8 + 2 * t + 1] = c[3];
}

// D = A · B of signed bytes, 16 × 32 and 32 × 8; B is given by columns.
extern "C" __global__ void tensor_bytes(const unsigned* a, const unsigned* b, int* d) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int c[4] = {0, 1, 2, 3};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
  d[g * 8 + 2 * t] = c[0];
  d[g * 8 + 2 * t + 1] = c[1];
  d[(g + 8) * 8 + 2 * t] = c[2];
  d[(g + 8) * 8 + 2 * t + 1] = c[3];
}

extern "C" __global__ void tensor_doubles(const double* a, const double* b, double* c) {
  const int t = threadIdx.x;
  double d0 = 0, d1 = 0;
  for (int k = 0; k < 8; k += 4)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d0), "+d"(d1) : "d"(a[(t >> 2) * 8 + k + (t & 3)]), "d"(b[(k + (t & 3)) * 8 + (t >> 2)]));
  c[(t >> 2) * 8 + (t & 3) * 2] = d0;
  c[(t >> 2) * 8 + (t & 3) * 2 + 1] = d1;
}
#endif

#if __CUDA_ARCH__ >= 800
// Warps hand a value on through a barrier in shared memory, which each round all threads arrive at.
extern "C" __global__ void shared_barriers(int* o, int rounds) {
  __shared__ unsigned long long barrier;
  __shared__ int value;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    value = 1;
  }
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x / 32 == r % (blockDim.x / 32) && threadIdx.x % 32 == 0)
      value = value * 3 + r;
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("{ .reg .pred p; W: mbarrier.test_wait.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at), "l"(state) : "memory");
  }
  o[threadIdx.x] = *(volatile int*)&value;
}
#endif
