// Functions that the CPU back end's libraries refuse: the program goes on with their statuses.
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>

int main() {
  cufftHandle plan;
  const int first = cufftPlan1d(&plan, 64, CUFFT_C2C, 1);
  const int second = cublasSgetrfBatched(nullptr, 4, nullptr, 4, nullptr, nullptr, 1);
  std::printf("%d %d\n", first, second);
}
