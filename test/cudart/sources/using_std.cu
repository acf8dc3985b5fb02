// The global min and max beside those of namespace std.
#include <algorithm>
#include <cmath>
#include <vector>
using namespace std;
__global__ void kernel(float* f, double* d, int n) {
  float x = f[threadIdx.x];
  double y = d[threadIdx.x];
  if (isfinite(x) && !isnan(y) && !isinf(x) && !signbit(y))
    f[0] = max(abs(x), 1.0f) + min(n, 3) + pow(x, 2) + sqrt(x) + fabs(y) + std::max(x, 2.0f) + floor(y) +
           round(x);
  d[0] = max(y, 1.0) + rsqrt(y) + exp(x) + __expf(x) + fminf(x, 1) + atan2(y, 2.0) + std::abs(y);
}
int main() {
  vector<int> v{3, 1, 2};
  double y = sqrt(2.0) + pow(2.0f, 2) + fabs(-1.f) + std::abs(-2.5);
  return max(v[0], v[1]) + min<int>(v.size(), 2) + max<float>(1, 2) + int(y) + isfinite(y);
}
