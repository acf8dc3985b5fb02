// Clang refuses a function that nvcc takes: it has no probes, the others do. Functions with two harmless errors have them, too.
// probes: 4
// unseen: 1
// runs on the GPU only
template <class T> __global__ void refused(T* numbers, int n) {
  if (numbers > 0) // a pointer compared with a number
    numbers[threadIdx.x] += 1;
  numbers[n] = numbers[0];
}

__global__ void taken(float* numbers) {
  numbers[threadIdx.x] = 2 * numbers[threadIdx.x] + numbers[0];
}

__global__ void launching(float* numbers) {
  int n = 0;
  switch (threadIdx.x) {
  case 0: {
    numbers[1] = n;
    break;
  }
    int m = 1; // a jump past an initialisation
  default: n = m;
  }
#pragma unroll -1
  for (int i = 0; i < n; ++i)
    asm volatile("");
}

int main() {
  refused<<<1, 1>>>((float*)nullptr, 1);
  taken<<<1, 1>>>(nullptr);
  launching<<<1, 1>>>(nullptr);
}
