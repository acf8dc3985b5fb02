// Surface functions parse.
__global__ void kernel(cudaSurfaceObject_t surface, float4* out) {
  out[threadIdx.x] = surf2Dread<float4>(surface, threadIdx.x * 16, threadIdx.y);
  surf2Dwrite(out[0], surface, threadIdx.x * 16, threadIdx.y);
  surf1Dwrite(1.0f, surface, threadIdx.x * 4);
}
