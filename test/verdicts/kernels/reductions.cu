// Sums: within blocks, and of columns.
#include "kernels.h"

// says /divergence: [\d.]+ of 32 lanes/: in each step fewer lanes of each warp work
// never /bank conflicts|nothing to mend/: the lanes are the fault
__global__ void interleaved(const float* in, float* out) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int stride = 1; stride < 256; stride *= 2) {
    if (t % (2 * stride) == 0)
      part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

// says /bank conflicts: [\d.]+ extra passes per request/: the lanes of a warp fall into fewer and fewer banks
// never /strided|uncoalesced/: global memory is read in rows
__global__ void strided_index(const float* in, float* out) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int stride = 1; stride < 256; stride *= 2) {
    const int at = 2 * stride * t;
    if (at < 256)
      part[at] += part[at + stride];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

// says /bound by +DRAM/: 67 MB have to be read
// says /nothing to mend here/: shuffles and many loads for each thread
// never /divergence|bank conflicts|few warps/: there is nothing of the kind
__global__ void shuffled(const float4* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0)
    out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

// says /idle SMs: 32 of 108 have a block/: a thread for each column, and few columns
// says /divide the work into more/: the rows can be divided as well
// never /nothing to mend|only fewer bytes would help/: most of the GPU is idle, and memory with it
__global__ void columns(const float* in, float* out, int rows, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    sum += in[row * width + column];
  out[column] = sum;
}

// says /idle SMs: 1 of 108 ha/: a single thread
// says /only one thread works/: of 221,184 that would fit
// never /nothing to mend/: it is the slowest way there is
__global__ void single(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += in[i];
  *out = sum;
}

int main() {
  const int n = 1 << 24;
  float *in = zeros<float>(n), *out = zeros<float>(n / 32);
  interleaved<<<n / 1024, 256>>>(in, out);
  strided_index<<<n / 1024, 256>>>(in, out);
  shuffled<<<864, 256>>>((const float4*)in, out, n / 4);
  columns<<<32, 128>>>(in, out, 4096, 4096);
  single<<<1, 1>>>(in, out, 4096);
  DONE();
}
