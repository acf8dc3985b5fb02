// Programs whose first blocks and first launches are not like the others: rows of a triangle, which become longer
// along the grid, as causal attention's do; a breadth-first search, whose frontiers grow and shrink; an elimination,
// whose grid shrinks; and the steps of a solver, which are all alike.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int triangle_rows = 1 << 16, keys = 64, key_floats = 32;

// Row r is compared with the keys before it, each of a line.
__global__ void triangle(const float *keys_of, const float *queries, float *scores) {
  const int row = blockIdx.x, lane = threadIdx.x;
  const int last = row / (triangle_rows / keys);
  const float query = queries[row * key_floats + lane];
  float score = 0;
  for (int key = 0; key <= last; ++key)
    score += query * keys_of[(key + row % 16 * keys) * key_floats + lane];
  scores[row * key_floats + lane] = score;
}

__global__ void visit(const int *first, const int *neighbours, int *depth_of, int vertices, int depth) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || depth_of[vertex] != depth)
    return;
  for (int edge = first[vertex]; edge < first[vertex + 1]; ++edge) {
    const int neighbour = neighbours[edge];
    if (depth_of[neighbour] < 0)
      depth_of[neighbour] = depth + 1;
  }
}

__global__ void eliminate(float *matrix, int size, int pivot) {
  const int column = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x, row = pivot + 1 + blockIdx.y;
  if (column < size)
    matrix[row * size + column] -= matrix[row * size + pivot] * matrix[pivot * size + column];
}

__global__ void relax(const float *from, float *to, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < size - 1)
    to[i] = 0.5f * (from[i - 1] + from[i + 1]);
}

template <class Value> Value *on_device(const std::vector<Value> &values) {
  Value *copy = nullptr;
  cudaMalloc(&copy, values.size() * sizeof(Value));
  cudaMemcpy(copy, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice);
  return copy;
}

static void run_triangle() {
  const std::vector<float> ones(std::size_t(triangle_rows) * key_floats, 1);
  float *scores = on_device(ones);
  triangle<<<triangle_rows, key_floats>>>(on_device(ones), on_device(ones), scores);
  float last = 0;
  cudaMemcpy(&last, scores + std::size_t(triangle_rows) * key_floats - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%s\n", last == keys ? "right" : "wrong");
}

static void run_search() {
  constexpr int vertices = 1 << 17, degree = 8;
  std::vector<int> first{0}, neighbours, depths(vertices, -1);
  unsigned state = 1;
  for (int vertex = 0; vertex < vertices; ++vertex) {
    for (int edge = 0; edge < degree; ++edge) {
      state = state * 1664525u + 1013904223u;
      neighbours.push_back(int(state >> 15));
    }
    first.push_back(int(neighbours.size()));
  }
  depths[0] = 0;
  int *depth_of = on_device(depths), *first_of = on_device(first), *neighbours_of = on_device(neighbours);
  int depth = 0;
  for (bool changed = true; changed; ++depth) {
    visit<<<vertices / 256, 256>>>(first_of, neighbours_of, depth_of, vertices, depth);
    std::vector<int> now(vertices);
    cudaMemcpy(now.data(), depth_of, vertices * sizeof(int), cudaMemcpyDeviceToHost);
    changed = now != depths;
    depths = now;
  }
  std::printf("%d launches\n", depth);
}

static void run_elimination() {
  constexpr int size = 320;
  float *matrix = on_device(std::vector<float>(std::size_t(size) * size, 1));
  for (int pivot = 0; pivot < size - 1; ++pivot)
    eliminate<<<dim3((size - pivot - 1 + 63) / 64, size - pivot - 1), 64>>>(matrix, size, pivot);
  cudaDeviceSynchronize();
}

static void run_solver() {
  constexpr int size = 1 << 16;
  float *a = on_device(std::vector<float>(size, 1)), *b = on_device(std::vector<float>(size, 1));
  for (int step = 0; step < 200; ++step) {
    relax<<<size / 256, 256>>>(a, b, size);
    std::swap(a, b);
  }
  cudaDeviceSynchronize();
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  if (std::strcmp(what, "triangle") == 0)
    run_triangle();
  else if (std::strcmp(what, "search") == 0)
    run_search();
  else if (std::strcmp(what, "elimination") == 0)
    run_elimination();
  else
    run_solver();
}
