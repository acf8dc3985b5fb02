// Loads and stores with cache operators, for scalars and vectors, and explicit includes of NVIDIA's headers
// for them.
#include <sm_20_intrinsics.h>
#include <sm_32_intrinsics.h>
#include <sm_61_intrinsics.h>
__global__ void kernel(float* f, int4* v, unsigned char* c, const double2* d, unsigned long long* u,
                       volatile int* flag) {
  int i = threadIdx.x;
  __stcg(f + i, __ldcg(f + i + 1) + __ldca(f) + __ldcs(f + 2) + __tanhf(f[i]));
  __stcs(v + i, __ldcs(v + i + 1));
  __stwt(c + i, __ldcv(c + i + 1));
  f[i] += __ldlu(d + i).x + __ldg(d + i).y;
  __stwb(u + i, __ldcg(u));
  if (__isGlobal(f))
    f[i] = __dp4a(i, i, i);
}
