// One variable that both halves read and write.
__managed__ int counter = 5;
__device__ __managed__ float table[16];
__global__ void kernel() {
  atomicAdd(&counter, (int)table[threadIdx.x]);
}
int main() {
  table[3] = 1;
  kernel<<<1, 16>>>();
  return counter;
}
