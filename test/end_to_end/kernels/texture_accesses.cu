// Texture fetches and surface accesses for texture_accesses_test.py. 64 x 64 floats, which as an
// array are 4 x 1 blocks of 16 GOBs.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int width = 64, height = 64;

__global__ void rows(cudaTextureObject_t line, cudaTextureObject_t pitched, cudaTextureObject_t array, float* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * 32 + x] = tex1Dfetch<float>(line, y * 32 + x)     // site: line
                    + tex2D<float>(pitched, x + .5f, y + .5f)  // site: pitched
                    + tex2D<float>(array, x + .5f, y + .5f);   // site: array
}

/// A warp of 8 x 4 threads.
__global__ void tiles(cudaTextureObject_t array, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * 8 + x] = tex2D<float>(array, x + .5f, y + .5f); // site: tile
}

__global__ void outside(cudaTextureObject_t clamped, cudaTextureObject_t bordered, float* out) {
  out[threadIdx.x] = tex2D<float>(clamped, -5.f - threadIdx.x, .5f)    // site: clamped
                     + tex2D<float>(bordered, threadIdx.x - 24.f, .5f); // site: bordered
}

__global__ void filtered(cudaTextureObject_t smooth, float* out) {
  out[threadIdx.x] = tex2D<float>(smooth, threadIdx.x + 1.f, 8.f)           // site: between
                     + tex2D<float>(smooth, threadIdx.x + 1.f, 8.5f)        // site: between columns
                     + tex2D<float>(smooth, threadIdx.x + .5f, 8.5f)        // site: in the middle
                     + tex2DLod<float>(smooth, threadIdx.x + 1.f, 12.f, 3)  // site: of a level
                     + tex2Dgather<float4>(smooth, threadIdx.x + 1.f, 4).x; // site: gather
}

__global__ void narrow(cudaTextureObject_t bytes, float* out) {
  out[threadIdx.x] = tex1Dfetch<float4>(bytes, threadIdx.x).y; // site: bytes
}

__global__ void loops(cudaTextureObject_t line, float* out, int count) {
  for (int i = 0; i < count; ++i)
    out[i * 32 + threadIdx.x] = tex1Dfetch<float>(line, threadIdx.x); // site: stays
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    sum = sum * 2 + tex1Dfetch<float>(line, threadIdx.x); // site: leaves
    const float unused = tex1Dfetch<float>(line, i);      // site: goes
  }
  out[count * 32 + threadIdx.x] = sum;
}

__global__ void surfaces(cudaSurfaceObject_t surface) {
  const float value = surf2Dread<float>(surface, 4 * threadIdx.x, 1); // site: read
  surf2Dwrite(value + 1, surface, 4 * threadIdx.x, 3);                // site: write
}

static cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter = cudaFilterModePoint,
                                      cudaTextureAddressMode mode = cudaAddressModeClamp,
                                      cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how{};
  how.filterMode = filter;
  how.addressMode[0] = how.addressMode[1] = mode;
  how.readMode = read;
  cudaTextureObject_t texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &how, nullptr) != cudaSuccess)
    printf("no texture\n");
  return texture;
}

int main() {
  static float values[height][width];
  for (int i = 0; i < width * height; ++i)
    values[i / width][i % width] = float(i);
  float *line, *pitched, *out;
  size_t pitch;
  cudaMalloc(&line, sizeof values);
  cudaMallocPitch(&pitched, &pitch, sizeof values[0], height);
  cudaMallocManaged(&out, 32 * height * sizeof *out);
  cudaMemcpy(line, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy2D(pitched, pitch, values, sizeof values[0], sizeof values[0], height, cudaMemcpyHostToDevice);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore | cudaArrayTextureGather);
  cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], height, cudaMemcpyHostToDevice);
  cudaResourceDesc of_line{}, of_bytes{}, of_pitched{}, of_array{};
  of_line.resType = of_bytes.resType = cudaResourceTypeLinear;
  of_line.res.linear = {line, format, sizeof values};
  of_bytes.res.linear = {line, cudaCreateChannelDesc<uchar4>(), sizeof values};
  of_pitched.resType = cudaResourceTypePitch2D;
  of_pitched.res.pitch2D = {pitched, format, width, height, pitch};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &of_array);

  rows<<<height, 32>>>(texture_of(of_line), texture_of(of_pitched), texture_of(of_array), out);
  cudaDeviceSynchronize();
  bool right = out[33] == 33.f + 65 + 65;
  tiles<<<1, dim3(8, 4)>>>(texture_of(of_array), out);
  cudaDeviceSynchronize();
  right &= out[9] == 65;
  outside<<<1, 32>>>(texture_of(of_array), texture_of(of_array, cudaFilterModePoint, cudaAddressModeBorder), out);
  cudaDeviceSynchronize();
  right &= out[0] == 0 && out[31] == 7;
  filtered<<<1, 32>>>(texture_of(of_array, cudaFilterModeLinear), out);
  narrow<<<1, 32>>>(texture_of(of_bytes, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeNormalizedFloat), out);
  loops<<<1, 32>>>(texture_of(of_line), out, 8);
  cudaDeviceSynchronize();
  right &= out[7 * 32 + 5] == 5;
  surfaces<<<1, 32>>>(surface);
  cudaMemcpy2DFromArray(values, sizeof values[0], array, 0, 0, sizeof values[0], height, cudaMemcpyDeviceToHost);
  right &= values[3][7] == 64 + 7 + 1;
  printf("%s\n", cudaDeviceSynchronize() == cudaSuccess && right ? "right" : "wrong");
}
