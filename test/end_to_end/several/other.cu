static __device__ int bias = 100;

static __global__ void add(int* sum) {
  *sum += bias;
}

void add_elsewhere(int* sum) {
  int value = 0;
  cudaMemcpyFromSymbol(&value, bias, sizeof value);
  value *= 2;
  cudaMemcpyToSymbol(bias, &value, sizeof value);
  add<<<1, 1>>>(sum);
}
