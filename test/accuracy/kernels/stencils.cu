// Two stencils on the plane: two steps of heat that spreads, by tiles with a border in shared memory; and the
// coefficients of a diffusion, with the neighbours' numbers read from arrays.
//
// Usage: stencils [SIZE [ROWS COLUMNS]]    of the first 1024; of the second 502 × 458
#include "program.h"

#include <algorithm>

constexpr int TILE = 16, STEPS = 2;

/// Each tile has a border of as many elements as there are steps, which neighbouring blocks compute, too.
__global__ void spread_heat(const float* power, const float* before, float* after, int size, float share,
                            float across, float along, float outside) {
  __shared__ float heat[TILE][TILE], next[TILE][TILE], heating[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int left = (TILE - 2 * STEPS) * blockIdx.x - STEPS, top = (TILE - 2 * STEPS) * blockIdx.y - STEPS;
  const int x = left + tx, y = top + ty, i = y * size + x;
  if (x >= 0 && x < size && y >= 0 && y < size) {
    heat[ty][tx] = before[i];
    heating[ty][tx] = power[i];
  }
  __syncthreads();
  const int first_x = max(0, -left), last_x = min(TILE, size - left) - 1;
  const int first_y = max(0, -top), last_y = min(TILE, size - top) - 1;
  const int north = max(ty - 1, first_y), south = min(ty + 1, last_y);
  const int west = max(tx - 1, first_x), east = min(tx + 1, last_x);
  bool is_inside = false;
  for (int step = 0; step < STEPS; ++step) {
    is_inside = tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step && tx >= first_x &&
                tx <= last_x && ty >= first_y && ty <= last_y;
    if (is_inside)
      next[ty][tx] =
          heat[ty][tx] +
          share * (heating[ty][tx] + (heat[south][tx] + heat[north][tx] - 2.0 * heat[ty][tx]) * along +
                   (heat[ty][east] + heat[ty][west] - 2.0 * heat[ty][tx]) * across +
                   (80.0f - heat[ty][tx]) * outside);
    __syncthreads();
    if (step == STEPS - 1)
      break;
    if (is_inside)
      heat[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (is_inside)
    after[i] = next[ty][tx];
}

/// Stores the differences to the four neighbours and the coefficient; the image lies column after column.
__global__ void diffuse(int rows, long elements, const int* north, const int* south, const int* east,
                        const int* west, float* to_north, float* to_south, float* to_east, float* to_west,
                        float noise, float* result, const float* image) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements)
    return;
  const int row = i % rows, column = i / rows;
  const float here = image[i];
  const float up = image[north[row] + rows * column] - here, down = image[south[row] + rows * column] - here;
  const float back = image[row + rows * west[column]] - here, ahead = image[row + rows * east[column]] - here;
  const float gradient = (up * up + down * down + back * back + ahead * ahead) / (here * here);
  const float laplacian = (up + down + back + ahead) / here;
  const float numerator = 0.5 * gradient - 1.0 / 16.0 * (laplacian * laplacian);
  const float denominator = 1 + 0.25 * laplacian;
  const float variation = numerator / (denominator * denominator);
  const float coefficient = 1.0 / (1.0 + (variation - noise) / (noise * (1 + noise)));
  to_north[i] = up;
  to_south[i] = down;
  to_west[i] = back;
  to_east[i] = ahead;
  result[i] = fminf(fmaxf(coefficient, 0), 1);
}

/// Returns a device array of each number's neighbour, `step` away and at the end the number itself.
int* neighbours(int count, int step) {
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i)
    numbers[i] = std::min(std::max(i + step, 0), count - 1);
  return copy_of(numbers);
}

int main(int count, char** values) {
  const int size = argument(count, values, 1, 1024), inner = TILE - 2 * STEPS;
  const int blocks = (size + inner - 1) / inner;
  const float *power = allocate<float>(size * size), *before = allocate<float>(size * size);
  float* after = allocate<float>(size * size);
  spread_heat<<<dim3(blocks, blocks), dim3(TILE, TILE)>>>(power, before, after, size, 0.1f, 0.2f, 0.2f, 0.3f);

  const int rows = argument(count, values, 2, 502), columns = argument(count, values, 3, 458);
  const int elements = rows * columns, threads = 512;
  const float* image = copy_of(std::vector<float>(elements, 1.5f));
  float* results[5];
  for (float*& result : results)
    result = allocate<float>(elements);
  diffuse<<<(elements + threads - 1) / threads, threads>>>(
      rows, elements, neighbours(rows, -1), neighbours(rows, 1), neighbours(columns, 1),
      neighbours(columns, -1), results[0], results[1], results[2], results[3], 0.05f, results[4], image);
  return finish();
}
