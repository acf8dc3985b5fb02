// Kernels that read and write arrays once.
#include "kernels.h"

// says /bound by +DRAM/: 134 MB have to move
// says /1\.\d+ × of it: nothing to mend here/: it moves no byte twice, at the rate that memory reaches
// says /Where its time goes/: a kernel at the roofline has no line to look at first
// never /What to look at first|scattered|uncoalesced|few warps|short blocks/: all is as it should be
__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}

// says /nothing to mend here/: wide accesses move the same bytes at the same rate
// never /strided|array of structs|uncoalesced/: a float4 is one access of 16 bytes, at its own distance
__global__ void copy_wide(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}

// says /misaligned: begins 4 B behind a sector's begin, 5\.00 sectors per request where 4\.00 would do/: each warp reads on from its second element
// says /nothing to mend here/: the L1 has the sector that two warps share, so memory reads it once
// never /uncoalesced|strided/: its lanes are neighbours
__global__ void copy_offset(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i + 1];
}

// says /strided load, lanes 8 B apart: 8\.00 sectors per request where 4\.00 would do/: every other element is read
// says /50 % of the bytes/: memory moves whole sectors, of which half is used
// never /nothing to mend|scattered|at addresses that were loaded/: another layout would halve the time
__global__ void every_other(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[2 * i];
}

// says /strided store, lanes 128 B apart/: the stored value is loaded, but the address is not
// says /tile in shared memory/: such a store is mended by a tile
// never /scattered|at addresses that were loaded/: its addresses follow from the thread's index
__global__ void store_strided(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[32 * (i % (n / 32)) + i / (n / 32)] = in[i];
}

// says /narrow: 1 B for each lane, 32 B for each request: access 4 or more elements at once/: a request carries a quarter of a line
// never /uncoalesced|strided|misaligned/: neighbouring bytes are one sector
__global__ void bytes(const unsigned char* in, unsigned* out, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step, i += gridDim.x * blockDim.x)
    sum += in[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int n = 1 << 24;
  float *in = zeros<float>(2 * n + 32), *out = zeros<float>(n);
  copy<<<n / 256, 256>>>(in, out, n);
  copy_wide<<<n / 1024, 256>>>((const float4*)in, (float4*)out, n / 4);
  copy_offset<<<n / 256, 256>>>(in, out, n);
  every_other<<<n / 256, 256>>>(in, out, n);
  store_strided<<<n / 256, 256>>>(in, out, n);
  bytes<<<432, 256>>>((const unsigned char*)in, (unsigned*)out, n, 64);
  DONE();
}
