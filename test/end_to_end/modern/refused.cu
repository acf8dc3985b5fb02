// Functions that the CPU back end's libraries refuse: the program goes on with their statuses.
#include <cstdio>
#include <cublas_v2.h>
#include <cusolverDn.h>

int main() {
  cusolverDnHandle_t handle;
  const int first = cusolverDnCreate(&handle);
  const int second = cublasSgetrfBatched(nullptr, 4, nullptr, 4, nullptr, nullptr, 1);
  std::printf("%d %d\n", first, second);
}
