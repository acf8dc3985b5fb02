// out[i] = table[index[i]] at three localities: indices from anywhere in the table, from a window of 65536
// elements that moves with i, from a window of 256.
#include "program.h"

#include <algorithm>

constexpr unsigned threads = 256;

// One kernel for each, so that each has counters of its own.
template <unsigned window> __global__ void gather(const unsigned* index, const float* table, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[index[i]];
}

template <unsigned window>
void gather_and_judge(reference::Program& program, const char* name, const std::vector<float>& table) {
  const unsigned size = program.size();
  reference::Random random(11 + window);
  std::vector<unsigned> index(size);
  const unsigned width = std::min(window == 0 ? size : window, size);
  for (unsigned i = 0; i < size; ++i)
    index[i] = std::min(i / width * width + random.below(width), size - 1);
  const reference::Array<unsigned> device_index(index);
  const reference::Array<float> device_table(table), out(size);
  program.measure(name, [&] {
    gather<window><<<size / threads, threads>>>(device_index.data(), device_table.data(), out.data());
  });
  const auto result = out.values();
  bool right = true;
  for (unsigned i = 0; i < size; ++i)
    right &= result[i] == table[index[i]];
  program.judge(name, right);
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, threads, 1 << 26, true);
  const auto table = reference::Random(11).fractions(program.size());
  gather_and_judge<0>(program, "gather<0>", table);
  gather_and_judge<65536>(program, "gather<65536>", table);
  gather_and_judge<256>(program, "gather<256>", table);
  return program.exit_code();
}
