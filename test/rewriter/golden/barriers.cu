#define SYNC() __syncthreads()
#define SYNC_ALL __syncthreads();
#define STEP(statement) statement; __syncthreads()

__device__ void meet() { __syncthreads(); }

template <class T> __device__ T sum(T* s, int i) {
  for (int step = 16; step > 0; step /= 2) {
    s[i] += s[i ^ step];
    __syncthreads();
  }
  return s[0];
}

__global__ void kernel(float* out, int* flag, bool whole) {
  __shared__ float s[32];
  const int i = threadIdx.x;
  __syncthreads();
  SYNC();
  SYNC_ALL
  STEP(s[i] = out[i]);
  if (__syncthreads_count(s[i] > 0) > 16 && __syncthreads_and(flag[i]))
    out[1] = __syncthreads_or(1);
  whole ? __syncthreads() : __syncwarp();
  if (whole) __syncthreads(); else (__syncthreads());
  meet();
  const auto again = [] { return __syncthreads(); };
  again();
  sum(flag, i);
  out[i] = sum(s, i);
}
int main() { kernel<<<1, 32>>>(nullptr, nullptr, true); }
