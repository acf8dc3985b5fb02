__device__ int counter;
__constant__ int offsets[4];

__device__ int doubled_and_counted(int x) {
  ++counter;
  return 2 * x;
}
