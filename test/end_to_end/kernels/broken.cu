// This file does not compile: the kernel uses a name that nothing declares.
__global__ void broken(int* out) { out[threadIdx.x] = undeclared; }

int main() { broken<<<1, 32>>>(nullptr); }
