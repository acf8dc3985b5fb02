// A scan by key of Thrust's, which picks its tuning by the architecture that the program reports to be compiled for.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/scan.h>

int main() {
  const int keys[] = {0, 0, 1, 1, 1, 2}, values[] = {1, 2, 3, 4, 5, 6}, expected[] = {1, 3, 3, 7, 12, 6};
  thrust::device_vector<int> key(keys, keys + 6), value(values, values + 6), sums(6);
  thrust::inclusive_scan_by_key(key.begin(), key.end(), value.begin(), sums.begin());
  for (int i = 0; i < 6; ++i)
    if (sums[i] != expected[i])
      return 1;
  std::puts("right");
}
