#include "kernels.cuh"
__device__ float scale_by(const float* factor, float value) { return *factor * value; }
void launch_here(float* a) { copy<<<1, 32>>>(a, a); }
