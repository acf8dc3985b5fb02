// A multigrid solver of the Poisson equation on a square: V-cycles over grids of N/2, N/4, … 8 cells a side,
// of which each is smoothed, restricted and interpolated by the same kernels. An application of some two
// thousand launches of thirty shapes:
//
//   multigrid [CELLS [CYCLES]]     (512 and 45 by default)
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    const cudaError_t error = (call);                                                                        \
    if (error != cudaSuccess) {                                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                    \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)

// Cell (x, y) of a grid of `cells` a side; its border is zero and has no cells.
__device__ float at(const float* grid, int cells, int x, int y) {
  return x < 0 || y < 0 || x >= cells || y >= cells ? 0.0f : grid[y * cells + x];
}

__device__ float neighbours(const float* grid, int cells, int x, int y) {
  return at(grid, cells, x - 1, y) + at(grid, cells, x + 1, y) + at(grid, cells, x, y - 1) +
         at(grid, cells, x, y + 1);
}

// Gauss-Seidel in two colours: the cells of one colour have neighbours of the other alone.
__global__ void smooth(float* u, const float* f, int cells, int colour) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
  if (x < cells && y < cells)
    u[y * cells + x] = 0.25f * (f[y * cells + x] + neighbours(u, cells, x, y));
}

__global__ void residual(const float* u, const float* f, float* r, int cells) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cells && y < cells)
    r[y * cells + x] = f[y * cells + x] - 4.0f * u[y * cells + x] + neighbours(u, cells, x, y);
}

// A coarse cell is four fine ones. A correction that is the same for all four makes the coarse equation twice
// that of a grid of its own: half of the sum is the coarse right side.
__global__ void restrict_to(const float* r, float* coarse_f, float* coarse_u, int coarse_cells) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= coarse_cells || y >= coarse_cells)
    return;
  const float* corner = r + (2 * y) * (2 * coarse_cells) + 2 * x;
  coarse_f[y * coarse_cells + x] =
      0.5f * (corner[0] + corner[1] + corner[2 * coarse_cells] + corner[2 * coarse_cells + 1]);
  coarse_u[y * coarse_cells + x] = 0.0f;
}

__global__ void interpolate(float* u, const float* coarse_u, int cells) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cells && y < cells)
    u[y * cells + x] += coarse_u[(y / 2) * (cells / 2) + x / 2];
}

struct Level {
  int cells;
  float *u, *f, *r;
};

dim3 blocks_for(int columns, int rows, dim3 block) {
  return dim3((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
}

void smooth_both(const Level& level) {
  const dim3 block(32, 8);
  for (int colour = 0; colour < 2; ++colour)
    smooth<<<blocks_for(level.cells / 2, level.cells, block), block>>>(level.u, level.f, level.cells, colour);
}

void cycle(const std::vector<Level>& levels, std::size_t at_level) {
  const dim3 block(32, 8);
  const Level& level = levels[at_level];
  smooth_both(level);
  if (at_level + 1 == levels.size())
    return;
  const Level& coarse = levels[at_level + 1];
  const dim3 all = blocks_for(level.cells, level.cells, block);
  residual<<<all, block>>>(level.u, level.f, level.r, level.cells);
  restrict_to<<<blocks_for(coarse.cells, coarse.cells, block), block>>>(level.r, coarse.f, coarse.u,
                                                                        coarse.cells);
  cycle(levels, at_level + 1);
  interpolate<<<all, block>>>(level.u, coarse.u, level.cells);
  smooth_both(level);
}

double norm(const Level& level) {
  std::vector<float> r(std::size_t(level.cells) * level.cells);
  const dim3 block(32, 8);
  residual<<<blocks_for(level.cells, level.cells, block), block>>>(level.u, level.f, level.r, level.cells);
  CHECK(cudaMemcpy(r.data(), level.r, r.size() * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const float value : r)
    sum += double(value) * value;
  return sum;
}

int main(int argc, char** argv) {
  const int cells = argc > 1 ? std::atoi(argv[1]) : 512, cycles = argc > 2 ? std::atoi(argv[2]) : 45;
  std::vector<Level> levels;
  for (int size = cells; size >= 8; size /= 2) {
    Level level{size, nullptr, nullptr, nullptr};
    for (float** array : {&level.u, &level.f, &level.r}) {
      CHECK(cudaMalloc(array, std::size_t(size) * size * sizeof(float)));
      CHECK(cudaMemset(*array, 0, std::size_t(size) * size * sizeof(float)));
    }
    levels.push_back(level);
  }
  std::vector<float> f(std::size_t(cells) * cells);
  for (std::size_t i = 0; i < f.size(); ++i)
    f[i] = float((i * 2654435761u >> 16) % 1000) / 1000.0f - 0.5f;
  CHECK(cudaMemcpy(levels[0].f, f.data(), f.size() * sizeof(float), cudaMemcpyHostToDevice));
  const double before = norm(levels[0]);
  for (int i = 0; i < cycles; ++i)
    cycle(levels, 0);
  const double after = norm(levels[0]);
  CHECK(cudaDeviceSynchronize());
  std::printf("residual %.3g -> %.3g\n", before, after);
  std::printf(after < 1e-3 * before ? "PASS\n" : "FAIL\n");
  return after < 1e-3 * before ? 0 : 1;
}
