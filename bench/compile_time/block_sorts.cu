// CUB's block sort in many instantiations: much device code from few lines.
#include <cub/block/block_radix_sort.cuh>

template <class Key, int Threads, int Items> __global__ void sort(Key* keys) {
  using Sort = cub::BlockRadixSort<Key, Threads, Items>;
  __shared__ typename Sort::TempStorage storage;
  Key own[Items];
  for (int i = 0; i < Items; ++i)
    own[i] = keys[threadIdx.x * Items + i];
  Sort(storage).Sort(own);
  for (int i = 0; i < Items; ++i)
    keys[threadIdx.x * Items + i] = own[i];
}

template __global__ void sort<unsigned, 64, 4>(unsigned*);
template __global__ void sort<unsigned, 128, 4>(unsigned*);
template __global__ void sort<unsigned, 256, 4>(unsigned*);
template __global__ void sort<unsigned, 256, 8>(unsigned*);
template __global__ void sort<float, 128, 4>(float*);
template __global__ void sort<float, 256, 8>(float*);
template __global__ void sort<long long, 128, 4>(long long*);
template __global__ void sort<long long, 256, 8>(long long*);

int main() {}
