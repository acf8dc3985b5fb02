// Lookups in a B+ tree of order 256, by a block for each key, whose threads compare one key of a node each:
// the record of a key, and the first and last record of a range. Nodes are half full, as where ascending keys
// were inserted.
//
// Usage: tree [RECORDS [KEYS [RANGES]]]    1000000; 10000; 6000
#include "program.h"

#include <climits>

constexpr int ORDER = 256, FILL = ORDER / 2;

struct Node {
  int location;
  int indices[ORDER + 1]; ///< of children, or of a leaf's records
  int keys[ORDER + 1];
  bool is_leaf;
  int key_count;
};

__global__ void find(long height, const Node* nodes, long node_count, const int* records, long* current,
                     long* next, const int* keys, int* answers) {
  const int t = threadIdx.x, query = blockIdx.x;
  for (int level = 0; level < height; ++level) {
    if (nodes[current[query]].keys[t] <= keys[query] && nodes[current[query]].keys[t + 1] > keys[query])
      if (nodes[next[query]].indices[t] < node_count)
        next[query] = nodes[next[query]].indices[t];
    __syncthreads();
    if (t == 0)
      current[query] = next[query];
    __syncthreads();
  }
  if (nodes[current[query]].keys[t] == keys[query])
    answers[query] = records[nodes[current[query]].indices[t]];
}

__global__ void find_range(long height, const Node* nodes, long node_count, long* first, long* next_of_first,
                           long* last, long* next_of_last, const int* low, const int* high, int* starts,
                           int* lengths) {
  const int t = threadIdx.x, query = blockIdx.x;
  for (int level = 0; level < height; ++level) {
    if (nodes[first[query]].keys[t] <= low[query] && nodes[first[query]].keys[t + 1] > low[query])
      if (nodes[first[query]].indices[t] < node_count)
        next_of_first[query] = nodes[first[query]].indices[t];
    if (nodes[last[query]].keys[t] <= high[query] && nodes[last[query]].keys[t + 1] > high[query])
      if (nodes[last[query]].indices[t] < node_count)
        next_of_last[query] = nodes[last[query]].indices[t];
    __syncthreads();
    if (t == 0) {
      first[query] = next_of_first[query];
      last[query] = next_of_last[query];
    }
    __syncthreads();
  }
  if (nodes[first[query]].keys[t] == low[query])
    starts[query] = nodes[first[query]].indices[t];
  __syncthreads();
  if (nodes[last[query]].keys[t] == high[query])
    lengths[query] = nodes[last[query]].indices[t] - starts[query] + 1;
}

/// Returns a node whose keys are FILL multiples of `apart` from `first` on, below `end`.
Node node_from(int first, int apart, int end, int index, bool is_leaf) {
  Node node = {0, {}, {}, is_leaf, 0};
  for (int i = 0; i <= ORDER; ++i) {
    const long key = long(first) + long(i) * apart;
    const bool is_there = i < FILL && key < end;
    node.keys[i] = is_there ? int(key) : INT_MAX;
    node.indices[i] = is_there ? index + i : 0;
    node.key_count += is_there;
  }
  return node;
}

/// Returns the tree of the keys from 0 on, level after level from the root.
std::vector<Node> tree_of(int records, int& height) {
  std::vector<int> apart = {1}; // keys between neighbours, by level from the leaves
  while (apart.back() * FILL < records)
    apart.push_back(apart.back() * FILL);
  std::vector<Node> nodes;
  int begin = 0;
  for (auto level = apart.rbegin(); level != apart.rend(); ++level) {
    const bool is_leaf = *level == 1;
    const int here = (records + *level * FILL - 1) / (*level * FILL);
    for (int i = 0; i < here; ++i)
      nodes.push_back(node_from(i * *level * FILL, *level, records,
                                is_leaf ? i * FILL : begin + here + i * FILL, is_leaf));
    begin += here;
  }
  height = int(apart.size()) - 1;
  return nodes;
}

int main(int count, char** values) {
  const int records = argument(count, values, 1, 1000000);
  const int keys = argument(count, values, 2, 10000), ranges = argument(count, values, 3, 6000);
  int height = 0;
  const std::vector<Node> tree = tree_of(records, height);
  const Node* nodes = copy_of(tree);
  std::srand(1);
  std::vector<int> wanted(keys), low(ranges), high(ranges);
  for (int& key : wanted)
    key = std::rand() % records;
  for (int i = 0; i < ranges; ++i) {
    low[i] = std::rand() % (records - 3000);
    high[i] = low[i] + 3000;
  }
  const auto roots = [](int queries) { return copy_of(std::vector<long>(queries, 0)); };
  find<<<keys, ORDER>>>(height, nodes, tree.size(), copy_of(std::vector<int>(records, 7)), roots(keys),
                        roots(keys), copy_of(wanted), allocate<int>(keys));
  find_range<<<ranges, ORDER>>>(height, nodes, tree.size(), roots(ranges), roots(ranges), roots(ranges),
                                roots(ranges), copy_of(low), copy_of(high), allocate<int>(ranges),
                                allocate<int>(ranges));
  return finish();
}
