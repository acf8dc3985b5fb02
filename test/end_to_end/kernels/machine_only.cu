// Kernels that the CPU back end has no code for: tensor cores by inline PTX, and clusters of blocks.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

// 16 x 8 sums of 16 products each: A by rows, B by columns.
__global__ void multiply(const half* a, const half* b, float* c) {
  const int row = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
  const auto two = [](const half* p) { return *reinterpret_cast<const uint32_t*>(p); };
  const uint32_t a0 = two(a + row * 16 + pair), a1 = two(a + (row + 8) * 16 + pair);
  const uint32_t a2 = two(a + row * 16 + pair + 8), a3 = two(a + (row + 8) * 16 + pair + 8);
  const uint32_t b0 = two(b + row * 16 + pair), b1 = two(b + row * 16 + pair + 8);
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  c[row * 8 + pair] = d0;
  c[row * 8 + pair + 1] = d1;
  c[(row + 8) * 8 + pair] = d2;
  c[(row + 8) * 8 + pair + 1] = d3;
  if (threadIdx.x == 31)
    printf("thread %u: %.1f %s\n", threadIdx.x, double(d3), "of the last row");
}

// Each block reads what its neighbour in the cluster has in shared memory.
__device__ int from_neighbour(int value) {
  __shared__ int own;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    own = value;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int result = *cluster.map_shared_rank(&own, int(next));
  cluster.sync();
  return result;
}
__global__ void __cluster_dims__(4, 1, 1) fixed(int* out) {
  const int value = from_neighbour(100 + int(blockIdx.x));
  if (threadIdx.x == 0)
    out[blockIdx.x] = value;
}
__global__ void chosen(int* out) {
  const int value = from_neighbour(200 + int(blockIdx.x));
  if (threadIdx.x == 0)
    out[blockIdx.x] = value;
}

int main() {
  half *a = nullptr, *b = nullptr;
  float* c = nullptr;
  int* out = nullptr;
  cudaMallocManaged(&a, 256 * sizeof *a);
  cudaMallocManaged(&b, 128 * sizeof *b);
  cudaMallocManaged(&c, 128 * sizeof *c);
  cudaMallocManaged(&out, 8 * sizeof *out);
  for (int i = 0; i < 256; ++i)
    a[i] = __float2half(float(i % 7));
  for (int i = 0; i < 128; ++i)
    b[i] = __float2half(float(i % 5) - 2);
  multiply<<<1, 32>>>(a, b, c);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += __half2float(a[row * 16 + k]) * __half2float(b[column * 16 + k]);
      wrong += c[row * 8 + column] != sum;
    }
  fixed<<<8, 32>>>(out);
  cudaDeviceSynchronize();
  for (int block = 0; block < 8; ++block)
    wrong += out[block] != 100 + block / 4 * 4 + (block + 1) % 4;
  cudaLaunchConfig_t launch{};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  launch.gridDim = 8;
  launch.blockDim = 32;
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  int clusters = 0;
  cudaOccupancyMaxActiveClusters(&clusters, chosen, &launch);
  cudaLaunchKernelEx(&launch, chosen, out);
  cudaDeviceSynchronize();
  for (int block = 0; block < 8; ++block)
    wrong += out[block] != 200 + (block ^ 1);
  attribute.val.clusterDim = {3, 1, 1};
  const bool refused = cudaLaunchKernelEx(&launch, chosen, out) == cudaErrorInvalidClusterSize;
  printf("%s, %d wrong, %s\n", cudaGetErrorString(cudaDeviceSynchronize()), wrong,
         clusters > 0 && refused ? "clusters checked" : "clusters not checked");
  return wrong;
}
