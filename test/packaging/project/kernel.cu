__global__ void scale(float* a, float by) { a[threadIdx.x] *= by; }

void launch_scale(float* a, float by) { scale<<<1, 64>>>(a, by); }
