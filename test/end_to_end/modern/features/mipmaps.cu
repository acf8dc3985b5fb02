// flags: -arch=sm_80 -std=c++17
// gpu: a100
// Mipmaps: levels by number and by gradients, between two levels, bounded; cubes with levels; surfaces of a level; colours
// of sRGB.
#include "../expect.h"
#include <cmath>
constexpr int size = 8, levels = 4;

__global__ void fetch(cudaTextureObject_t nearest, cudaTextureObject_t between, cudaTextureObject_t cube, float* out) {
  const int t = threadIdx.x;
  out[t] = tex2DLod<float>(nearest, 0.3f, 0.6f, t * 0.25f);
  out[16 + t] = tex2DLod<float>(between, 0.3f, 0.6f, t * 0.25f);
  const float step = exp2f(t * 0.5f - 1) / size; // 2^(t/2 - 1) texels
  out[32 + t] = tex2DGrad<float>(nearest, 0.3f, 0.6f, make_float2(step, 0), make_float2(0, step / 4));
  out[48 + t] = tex2D<float>(nearest, 0.3f, 0.6f);
  out[64 + t] = texCubemapLod<float>(cube, t % 2 ? 1 : -1, 0.1f, 0.2f, t / 8);
}
__global__ void read_colors(cudaTextureObject_t colors, float4* out) { out[threadIdx.x] = tex2D<float4>(colors, threadIdx.x + 0.5f, 0.5f); }
__global__ void write(cudaSurfaceObject_t level) { surf2Dwrite(float(threadIdx.x) + 100, level, threadIdx.x % 2 * 4, threadIdx.x / 2); }

cudaTextureObject_t texture(cudaMipmappedArray_t mipmap, cudaTextureFilterMode between, float least, float most) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray, resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp, how.normalizedCoords = 1;
  how.mipmapFilterMode = between, how.minMipmapLevelClamp = least, how.maxMipmapLevelClamp = most;
  cudaTextureObject_t made = 0;
  EXPECT(cudaCreateTextureObject(&made, &resource, &how, nullptr) == cudaSuccess);
  return made;
}
int main() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmap, of_cube;
  EXPECT(cudaMallocMipmappedArray(&mipmap, &format, {size, size, 0}, levels, cudaArraySurfaceLoadStore) == cudaSuccess);
  EXPECT(cudaMallocMipmappedArray(&of_cube, &format, {4, 4, 6}, 2, cudaArrayCubemap) == cudaSuccess);
  cudaArray_t array;
  for (int level = 0; level < levels; ++level) {
    EXPECT(cudaGetMipmappedArrayLevel(&array, mipmap, level) == cudaSuccess);
    const int n = size >> level;
    cudaExtent extent; cudaChannelFormatDesc found; unsigned flags;
    EXPECT(cudaArrayGetInfo(&found, &extent, &flags, array) == cudaSuccess && int(extent.width) == n && int(extent.height) == n);
    const std::vector<float> texels(n * n, 10 * level + 1);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, texels.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice) == cudaSuccess);
  }
  EXPECT(cudaGetMipmappedArrayLevel(&array, mipmap, levels) != cudaSuccess); cudaGetLastError();
  for (int level = 0; level < 2; ++level) {
    EXPECT(cudaGetMipmappedArrayLevel(&array, of_cube, level) == cudaSuccess);
    const unsigned n = 4 >> level;
    std::vector<float> texels;
    for (int face = 0; face < 6; ++face) texels.insert(texels.end(), n * n, face + 100 * level);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), n * 4, n, n), copy.dstArray = array, copy.extent = {n, n, 6}, copy.kind = cudaMemcpyHostToDevice;
    EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  }
  float* out;
  cudaMalloc(&out, 80 * sizeof(float));
  fetch<<<1, 16>>>(texture(mipmap, cudaFilterModePoint, 0, 2), texture(mipmap, cudaFilterModeLinear, 0.5f, 3), texture(of_cube, cudaFilterModePoint, 0, 1), out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto r = host(out, 80);
  for (int t = 0; t < 16; ++t) {
    const float level = t * 0.25f;
    EXPECT(r[t] == 10 * std::min(2.f, std::floor(level + 0.5f)) + 1);
    EXPECT(std::fabs(r[16 + t] - (10 * std::min(3.f, std::max(0.5f, level)) + 1)) < 0.05f);
    if (t % 2 == 0) EXPECT(r[32 + t] == 10 * std::min(2.f, std::max(0.f, std::round(t * 0.5f - 1))) + 1);
    EXPECT(r[48 + t] == 1);
    EXPECT(r[64 + t] == (t % 2 ? 0 : 1) + 100 * (t / 8));
  }
  EXPECT(cudaGetMipmappedArrayLevel(&array, mipmap, 2) == cudaSuccess); // 2 × 2 texels
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  write<<<1, 4>>>(surface);
  std::vector<float> texels(4);
  EXPECT(cudaMemcpy2DFromArray(texels.data(), 8, array, 0, 0, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess && texels[3] == 103);

  const auto of_bytes = cudaCreateChannelDesc<uchar4>();
  const std::vector<uchar4> colors{{0, 5, 10, 0}, {20, 60, 100, 50}, {150, 200, 255, 255}};
  EXPECT(cudaMallocArray(&array, &of_bytes, 3, 1) == cudaSuccess && cudaMemcpy2DToArray(array, 0, 0, colors.data(), 12, 12, 1, cudaMemcpyHostToDevice) == cudaSuccess);
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeNormalizedFloat, how.sRGB = 1;
  cudaTextureObject_t as_srgb;
  EXPECT(cudaCreateTextureObject(&as_srgb, &resource, &how, nullptr) == cudaSuccess);
  auto* linear = device(std::vector<float4>(3));
  read_colors<<<1, 3>>>(as_srgb, linear);
  const auto seen = host(linear, 3);
  for (int i = 0; i < 3; ++i) {
    const float g = colors[i].y / 255.f, expected = g <= 0.04045f ? g / 12.92f : std::pow((g + 0.055f) / 1.055f, 2.4f);
    EXPECT(std::fabs(seen[i].y - expected) < 1e-4f && std::fabs(seen[i].w - colors[i].w / 255.f) < 1e-6f);
  }
  EXPECT(seen[2].z == 1 && seen[0].x == 0);
  EXPECT(cudaFreeMipmappedArray(mipmap) == cudaSuccess && cudaFreeMipmappedArray(of_cube) == cudaSuccess);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
