// Arrays of structs, and what takes their place.
#include "kernels.h"

struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};

// says /array of structs: lanes 32 B apart, 12 of 32 B used/: three of eight fields are read
// says /an array for each field would do/: the rest need not move then
// never /nothing to mend|scattered/: memory moves what nothing uses
__global__ void fields(const Particle* particles, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = particles[i].x + particles[i].y + particles[i].z;
}

// says /array of structs: lanes 32 B apart, 32 of 32 B used, by one access after the other/: all fields are read, each by an access of its own
// never /scattered|12 of 32/: all of a struct is used
__global__ void all_fields(const Particle* particles, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const Particle& p = particles[i];
    out[i] = p.x * p.vx + p.y * p.vy + p.z * p.vz + p.mass * p.charge;
  }
}

// says /nothing to mend here/: each array is read as a whole
// never /array of structs|strided|uncoalesced/: a structure of arrays
__global__ void arrays(const float* x, const float* y, const float* z, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] + y[i] + z[i];
}

// says /strided load, lanes 1,024 B apart/: each thread walks its own row
// never /scattered|at addresses that were loaded|array of structs|nothing to mend/: rows are no structs
__global__ void row_of_thread(const float* in, float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (row < rows)
    for (int column = 0; column < 256; ++column)
      sum += in[row * 256 + column];
  out[row] = sum;
}

int main() {
  const int n = 1 << 22;
  Particle* particles = zeros<Particle>(n);
  float *soa = zeros<float>(3 * n), *out = zeros<float>(n);
  fields<<<n / 256, 256>>>(particles, out, n);
  all_fields<<<n / 256, 256>>>(particles, out, n);
  arrays<<<n / 256, 256>>>(soa, soa + n, soa + 2 * n, out, n);
  row_of_thread<<<1 << 9, 128>>>((const float*)particles, out, 1 << 16);
  DONE();
}
