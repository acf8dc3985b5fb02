// Launches parse in the device half without libdevice and in the host half.
__global__ void kernel(int* p) { *p = 1; }
int main() {
  kernel<<<1, 32>>>(nullptr);
  kernel<<<dim3(1, 2), dim3(3, 4), 16, cudaStreamPerThread>>>(nullptr);
}
