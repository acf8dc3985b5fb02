// Host code that relies on the global names nvcc provides.
__global__ void kernel(int* p, unsigned n) {
  p[threadIdx.x] = min(p[threadIdx.x], (int)max(n, 3u));
}
int main() {
  int a = 1;
  unsigned b = 2;
  long c = min(3L, 4L);
  float x = max(1.0f, 2.0f);
  double y = min(x, 2.0);
  clock_t t = clock();
  time_t now = time(nullptr);
  srand(now);
  return min(a, 2) + max(a, b) + (isfinite(y) && !isnan(x) && !isinf(y)) + c + (t > 0) - max(2, 1) + abs(-3) +
         floor(y);
}
