// Breadth-first search by levels from many sources at once, on a random graph of 8 neighbours a vertex. Each
// level is two launches: vertices of the level mark their neighbours, then marked vertices that are new get
// their distance. No thread reads data that another of its launch may have written, so that accesses repeat.
#include "program.h"

constexpr unsigned degree = 8, threads = 256, source_every = 64, unreached = 0xffffffffu;

__global__ void bfs_expand(unsigned level, const unsigned* distance, const unsigned* neighbours,
                           unsigned char* marked) {
  const unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (distance[vertex] != level)
    return;
  for (unsigned j = 0; j < degree; ++j)
    marked[neighbours[vertex * degree + j]] = 1;
}

__global__ void bfs_settle(unsigned level, const unsigned char* marked, unsigned* distance, unsigned* found) {
  const unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (!marked[vertex] || distance[vertex] != unreached)
    return;
  distance[vertex] = level + 1;
  *found = 1;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, threads, 1 << 24, true);
  const unsigned vertices = program.size();
  reference::Random random(12);
  std::vector<unsigned> neighbours(std::size_t{vertices} * degree), expected(vertices, unreached);
  for (unsigned& neighbour : neighbours)
    neighbour = random.below(vertices);
  for (unsigned vertex = 0; vertex < vertices; vertex += source_every)
    expected[vertex] = 0;
  const reference::Array<unsigned> device_neighbours(neighbours), distance(expected);
  reference::Array<unsigned char> marked(vertices);
  reference::Array<unsigned> found(1);

  marked.clear();
  const unsigned blocks = vertices / threads;
  bool more = true;
  for (unsigned level = 0; more; ++level) {
    const auto expand = [&] {
      bfs_expand<<<blocks, threads>>>(level, distance.data(), device_neighbours.data(), marked.data());
    };
    if (level == 0)
      program.measure("bfs_expand", expand);
    else
      program.run("bfs_expand", expand);
    found.clear();
    program.run("bfs_settle", [&] {
      bfs_settle<<<blocks, threads>>>(level, marked.data(), distance.data(), found.data());
    });
    more = found.values()[0] != 0;

    for (unsigned vertex = 0; vertex < vertices; ++vertex)
      for (unsigned j = 0; expected[vertex] == level && j < degree; ++j)
        if (unsigned& other = expected[neighbours[vertex * degree + j]]; other == unreached)
          other = level + 1;
  }
  program.judge("bfs", distance.values() == expected);
  return program.exit_code();
}
