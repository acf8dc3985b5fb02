// One step after another of a lattice-Boltzmann fluid in three dimensions with 19 velocities (D3Q19), BGK
// collision, a periodic box. Each cell pulls 19 densities from its neighbours; each velocity has an array of
// its own, so that a warp reads along x.
#include "program.h"

constexpr unsigned velocities = 19, steps = 2;
constexpr float omega = 1.2f;

__constant__ int velocity[velocities][3];
__constant__ float weight[velocities];

struct Lattice {
  int velocity[velocities][3];
  float weight[velocities];
};

Lattice make_lattice() {
  Lattice lattice{};
  unsigned count = 0;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const int speed = x * x + y * y + z * z;
        if (speed > 2)
          continue;
        const int components[] = {x, y, z};
        for (unsigned axis = 0; axis < 3; ++axis)
          lattice.velocity[count][axis] = components[axis];
        lattice.weight[count++] = speed == 0 ? 1.f / 3 : speed == 1 ? 1.f / 18 : 1.f / 36;
      }
  return lattice;
}

template <class Real>
__host__ __device__ Real collide(Real density, Real own, Real along, Real square, Real of_velocity) {
  const Real equilibrium =
      of_velocity * density *
      (1 + 3 * along + static_cast<Real>(4.5) * along * along - static_cast<Real>(1.5) * square);
  return own + static_cast<Real>(omega) * (equilibrium - own);
}

__global__ void lattice_boltzmann(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  const unsigned cells = size * size * size;
  float own[velocities];
  float density = 0, u[3] = {0, 0, 0};
#pragma unroll
  for (unsigned i = 0; i < velocities; ++i) {
    const int vx = velocity[i][0], vy = velocity[i][1], vz = velocity[i][2];
    const unsigned from_x = (x + size - vx) % size, from_y = (y + size - vy) % size,
                   from_z = (z + size - vz) % size;
    own[i] = in[i * cells + (from_z * size + from_y) * size + from_x];
    density += own[i];
    u[0] += own[i] * vx;
    u[1] += own[i] * vy;
    u[2] += own[i] * vz;
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    u[axis] /= density;
  const float square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
#pragma unroll
  for (unsigned i = 0; i < velocities; ++i) {
    const float along = velocity[i][0] * u[0] + velocity[i][1] * u[1] + velocity[i][2] * u[2];
    out[i * cells + (z * size + y) * size + x] = collide(density, own[i], along, square, weight[i]);
  }
}

void step_on_host(const Lattice& lattice, unsigned size, const std::vector<float>& in,
                  std::vector<float>& out) {
  const unsigned cells = size * size * size;
  for (unsigned cell = 0; cell < cells; ++cell) {
    const unsigned place[] = {cell % size, cell / size % size, cell / size / size};
    double own[velocities], density = 0, u[3] = {0, 0, 0};
    for (unsigned i = 0; i < velocities; ++i) {
      unsigned from[3];
      for (unsigned axis = 0; axis < 3; ++axis)
        from[axis] = (place[axis] + size - static_cast<unsigned>(lattice.velocity[i][axis])) % size;
      own[i] = in[i * cells + (from[2] * size + from[1]) * size + from[0]];
      density += own[i];
      for (unsigned axis = 0; axis < 3; ++axis)
        u[axis] += own[i] * lattice.velocity[i][axis];
    }
    double square = 0;
    for (double& component : u) {
      component /= density;
      square += component * component;
    }
    for (unsigned i = 0; i < velocities; ++i) {
      double along = 0;
      for (unsigned axis = 0; axis < 3; ++axis)
        along += lattice.velocity[i][axis] * u[axis];
      out[i * cells + cell] = static_cast<float>(
          collide<double>(density, own[i], along, square, static_cast<double>(lattice.weight[i])));
    }
  }
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, 16, 256);
  const unsigned size = program.size(), cells = size * size * size;
  const Lattice lattice = make_lattice();
  reference::check(cudaMemcpyToSymbol(velocity, lattice.velocity, sizeof lattice.velocity), "velocity");
  reference::check(cudaMemcpyToSymbol(weight, lattice.weight, sizeof lattice.weight), "weight");
  reference::Random random(5);
  std::vector<float> densities(std::size_t{cells} * velocities), next(densities.size());
  for (unsigned i = 0; i < velocities; ++i)
    for (unsigned cell = 0; cell < cells; ++cell)
      densities[i * cells + cell] = lattice.weight[i] * (0.95f + 0.1f * random.fraction());
  const reference::Array<float> first(densities), second(densities.size());

  float *in = first.data(), *out = second.data();
  const unsigned threads = size < 128 ? size : 128;
  for (unsigned step = 0; step < steps; ++step) {
    const dim3 blocks(size / threads, size, size);
    const auto launch = [&] { lattice_boltzmann<<<blocks, threads>>>(size, in, out); };
    if (step == 0)
      program.measure("lattice_boltzmann", launch);
    else
      program.run("lattice_boltzmann", launch);
    std::swap(in, out);
    step_on_host(lattice, size, densities, next);
    std::swap(densities, next);
  }
  const auto result = in == first.data() ? first.values() : second.values();
  bool right = true;
  for (std::size_t i = 0; i < densities.size(); ++i)
    right &= std::abs(result[i] - densities[i]) < 1e-5f;
  program.judge("lattice_boltzmann", right);
  return program.exit_code();
}
