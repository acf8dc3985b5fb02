// Conditions of bodies without accesses are marked: the innermost loops, and the sides of branches.
__device__ float half_of(float x) {
  if (x < 0)
    return 0;
  return x / 2;
}
__device__ float read(const float* p) { return *p; }

__global__ void kernel(const float* in, float* out, int n) {
  float x = in[threadIdx.x];
  for (int i = 0; i < n; ++i)
    x = x * 2 + 1;
  for (int i = 0; i < n; ++i)
    for (int k = i; k; --k)
      x += half_of(x);
  while (x > 4) {
    if (x > 5)
      x -= 1;
    x /= 2;
  }
  do {
    x *= 3;
  } while (x < 100);
  if (n > 3)
    x = sqrtf(x);
  else if (in[n] > 1)
    x = sinf(x);
  else
    x = expf(x);
  if (n == 7)
    x += read(in);
  else
    x = x / 7;
  for (int i = 0; i < n; ++i) {
    if (i % 2)
      x = x / 3;
    out[i] = x;
  }
  for (int i = 0;; i += 2) {
    x += i;
    if (x > 50)
      break;
  }
  for (int i = 0; i < n; i += 4) // an iteration may pass without an access
    if (x > i)
      out[i] = x;
    else
      x = x * x;
  while (n > 20) {
    n /= 2;
    if (n % 3)
      continue;
    out[n] = x;
  }
  if (n > 9)
    return;
  out[threadIdx.x] = x;
}
