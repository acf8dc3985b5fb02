// A kernel template that launches itself.
template <int threads> __global__ void parent(int* data, int depth) {
  if (depth > 0)
    parent<threads><<<1, threads>>>(data, depth - 1);
}

int main() {
  parent<32><<<1, 32>>>(nullptr, 2);
}
