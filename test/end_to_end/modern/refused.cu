// Functions that the CPU back end's libraries refuse: the program goes on with their statuses.
#include <cstdio>
#include <cublas_v2.h>
#include <cusolverDn.h>

int main() {
  cusolverDnIRSParams_t params;
  const int first = cusolverDnIRSParamsCreate(&params);
  const int second = cublasSspmv(nullptr, CUBLAS_FILL_MODE_LOWER, 4, nullptr, nullptr, nullptr, 1, nullptr, nullptr, 1);
  std::printf("%d %d\n", first, second);
}
