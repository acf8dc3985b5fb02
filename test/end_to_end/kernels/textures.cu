// Texture and surface objects against the formulas of the CUDA C++ Programming Guide, "Texture Fetching",
// worked out here in double precision.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what) {
  if (!right) {
    std::printf("%s: wrong\n", what);
    ++failures;
  }
}

static bool near(double a, double b) {
  return std::fabs(a - b) < 1e-5;
}

// ---- the formulas, for one dimension at a time

static int bounded(double place, int size, cudaTextureAddressMode mode) {
  int i = static_cast<int>(std::floor(place));
  if (mode == cudaAddressModeWrap)
    return ((i % size) + size) % size;
  if (mode == cudaAddressModeMirror) {
    const int period = ((i % (2 * size)) + 2 * size) % (2 * size);
    return period < size ? period : 2 * size - 1 - period;
  }
  if (mode == cudaAddressModeBorder)
    return i < 0 || i >= size ? -1 : i;
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

constexpr int width = 5, height = 4;

static double texel(const std::vector<float>& plane, int x, int y) {
  return x < 0 || y < 0 ? 0 : plane[y * width + x];
}

static double expected(const std::vector<float>& plane, double x, double y, cudaTextureDesc how) {
  const auto mode = how.addressMode[0];
  if (how.normalizedCoords)
    x *= width, y *= height;
  if (how.filterMode == cudaFilterModePoint)
    return texel(plane, bounded(x, width, mode), bounded(y, height, mode));
  const double xb = x - 0.5, yb = y - 0.5;
  const double a = std::round((xb - std::floor(xb)) * 256) / 256,
               b = std::round((yb - std::floor(yb)) * 256) / 256;
  const int i = bounded(xb, width, mode), i1 = bounded(std::floor(xb) + 1, width, mode);
  const int j = bounded(yb, height, mode), j1 = bounded(std::floor(yb) + 1, height, mode);
  return (1 - a) * (1 - b) * texel(plane, i, j) + a * (1 - b) * texel(plane, i1, j) +
         (1 - a) * b * texel(plane, i, j1) + a * b * texel(plane, i1, j1);
}

// ---- kernels

__global__ void fetch_plane(cudaTextureObject_t texture, const float2* at, float* result, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    result[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

__global__ void fetch_others(cudaTextureObject_t line, cudaTextureObject_t volume, cudaTextureObject_t layers,
                             cudaTextureObject_t cube, cudaTextureObject_t bytes,
                             cudaTextureObject_t integers, cudaTextureObject_t plane, float* result) {
  result[0] = tex1Dfetch<float>(line, 3);
  result[1] = tex1Dfetch<float>(line, 100); // outside
  result[2] = tex3D<float>(volume, 1.5f, 0.5f, 1.0f);
  result[3] = tex2DLayered<float>(layers, 1.5f, 0.5f, 1);
  result[4] = texCubemap<float>(cube, 1, 0.1f, -0.1f);
  result[5] = texCubemap<float>(cube, 0.1f, -1, 0.1f);
  result[6] = texCubemap<float>(cube, 0.1f, 0.1f, -1);
  const float4 pixel = tex2D<float4>(bytes, 1.5f, 0.5f);
  result[7] = pixel.x, result[8] = pixel.y, result[9] = pixel.z, result[10] = pixel.w;
  result[11] = tex2D<short2>(integers, 1.5f, 0.5f).y;
  const float4 corners = tex2Dgather<float4>(plane, 2.0f, 1.0f);
  result[12] = corners.x, result[13] = corners.y, result[14] = corners.z, result[15] = corners.w;
}

__global__ void use_surfaces(cudaSurfaceObject_t plane, cudaSurfaceObject_t volume,
                             cudaSurfaceObject_t layers, float* result) {
  surf2Dwrite(42.0f, plane, 2 * sizeof(float), 1);
  result[0] = surf2Dread<float>(plane, 2 * sizeof(float), 1);
  result[1] = surf2Dread<float>(plane, 100 * sizeof(float), 1, cudaBoundaryModeZero);
  result[2] = surf2Dread<float>(plane, 100 * sizeof(float), 1, cudaBoundaryModeClamp);
  surf2Dwrite(7.0f, plane, -4, 0, cudaBoundaryModeZero); // goes nowhere
  surf3Dwrite(5.0f, volume, 4, 1, 1);
  result[3] = surf3Dread<float>(volume, 4, 1, 1);
  surf2DLayeredwrite(6.0f, layers, 4, 1, 1);
  result[4] = surf2DLayeredread<float>(layers, 4, 1, 1);
}

__global__ void leave_surface(cudaSurfaceObject_t plane) {
  surf2Dwrite(1.0f, plane, 0, 1000);
}

// ---- the host's side

static cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  cudaTextureObject_t texture = 0;
  check(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaSuccess,
        "cudaCreateTextureObject");
  return texture;
}

static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static cudaTextureDesc description(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalised,
                                   cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalised;
  how.readMode = read;
  return how;
}

template <class T>
static cudaArray_t plane_of(const std::vector<T>& values, int columns, unsigned flags = cudaArrayDefault) {
  cudaArray_t array;
  const auto format = cudaCreateChannelDesc<T>();
  const std::size_t row = columns * sizeof(T);
  check(cudaMallocArray(&array, &format, columns, values.size() / columns, flags) == cudaSuccess,
        "cudaMallocArray");
  check(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, values.size() / columns,
                            cudaMemcpyHostToDevice) == cudaSuccess,
        "cudaMemcpy2DToArray");
  return array;
}

/// An array of 2 x 2 x depth.
static cudaArray_t box_of(const std::vector<float>& values, unsigned flags) {
  cudaArray_t array;
  const auto format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(2, 2, values.size() / 4);
  check(cudaMalloc3DArray(&array, &format, extent, flags) == cudaSuccess, "cudaMalloc3DArray");
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(values.data()), 2 * sizeof(float), 2, 2);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  check(cudaMemcpy3D(&copy) == cudaSuccess, "cudaMemcpy3D");
  return array;
}

static void planes() {
  std::vector<float> plane(width * height);
  for (int i = 0; i < width * height; ++i)
    plane[i] = static_cast<float>((i * 37) % 23);
  std::vector<float2> at;
  for (float y = -1.7f; y < 2.5f; y += 0.31f)
    for (float x = -1.7f; x < 2.5f; x += 0.23f)
      at.push_back({x, y});
  const int count = static_cast<int>(at.size());
  float2* places;
  float* results;
  cudaMalloc(&places, count * sizeof *places);
  cudaMallocManaged(&results, count * sizeof *results);
  const auto array = plane_of(plane, width);
  for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (bool normalised : {true, false}) {
        if (!normalised && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
          continue;
        auto scaled = at;
        if (!normalised)
          for (auto& place : scaled)
            place.x *= width, place.y *= height;
        cudaMemcpy(places, scaled.data(), count * sizeof *places, cudaMemcpyHostToDevice);
        const auto how = description(mode, filter, normalised);
        const auto texture = texture_of(resource_of(array), how);
        fetch_plane<<<(count + 31) / 32, 32>>>(texture, places, results, count);
        check(cudaDeviceSynchronize() == cudaSuccess, "fetch_plane");
        int wrong = 0;
        for (int i = 0; i < count; ++i)
          wrong += !near(results[i], expected(plane, scaled[i].x, scaled[i].y, how));
        if (wrong)
          std::printf("mode %d, filter %d, normalised %d: ", mode, filter, normalised);
        check(wrong == 0, "tex2D");
        check(cudaDestroyTextureObject(texture) == cudaSuccess, "cudaDestroyTextureObject");
      }
  cudaFreeArray(array);
}

static void others() {
  float *line, *results;
  cudaMalloc(&line, 8 * sizeof *line);
  cudaMallocManaged(&results, 16 * sizeof *results);
  const float values[8] = {0, 10, 20, 30, 40, 50, 60, 70};
  cudaMemcpy(line, values, sizeof values, cudaMemcpyHostToDevice);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {line, cudaCreateChannelDesc<float>(), sizeof values};
  const auto point = description(cudaAddressModeClamp, cudaFilterModePoint, false);
  const auto smooth = description(cudaAddressModeClamp, cudaFilterModeLinear, false);
  std::vector<float> box(values, values + 8), faces(24), plane(width * height);
  for (int i = 0; i < 24; ++i)
    faces[i] = static_cast<float>(i / 4);
  for (int i = 0; i < width * height; ++i)
    plane[i] = static_cast<float>(i);
  const auto volume = box_of(box, 0), layers = box_of(box, cudaArrayLayered),
             cube = box_of(faces, cudaArrayCubemap);
  const auto bytes = plane_of(std::vector<uchar4>{{0, 0, 0, 0}, {255, 51, 0, 102}}, 2);
  const auto integers = plane_of(std::vector<short2>{{0, 0}, {1, -300}}, 2);
  fetch_others<<<1, 1>>>(
      texture_of(linear, point), texture_of(resource_of(volume), smooth),
      texture_of(resource_of(layers), point),
      texture_of(resource_of(cube), description(cudaAddressModeClamp, cudaFilterModePoint, true)),
      texture_of(resource_of(bytes),
                 description(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat)),
      texture_of(resource_of(integers), point),
      texture_of(resource_of(plane_of(plane, width, cudaArrayTextureGather)), point), results);
  check(cudaDeviceSynchronize() == cudaSuccess, "fetch_others");
  const double right[] = {30, 0, (10 + 50) / 2., 50, 0, 3, 5, 1, 0.2, 0, 0.4, -300, 6, 7, 2, 1};
  for (int i = 0; i < 16; ++i)
    if (!near(results[i], right[i])) {
      std::printf("%d: %g and not %g: ", i, results[i], right[i]);
      check(false, "fetch_others");
    }
  std::vector<float> back(8);
  check(cudaMemcpyFromArray(back.data(), layers, 0, 0, 16, cudaMemcpyDeviceToHost) == cudaSuccess &&
            back[3] == 30,
        "cudaMemcpyFromArray");
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
  const auto resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  check(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess, "cudaCreateSurfaceObject");
  return surface;
}

static void surfaces() {
  const auto plane = plane_of(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}, 4, cudaArraySurfaceLoadStore);
  float* results;
  cudaMallocManaged(&results, 5 * sizeof *results);
  use_surfaces<<<1, 1>>>(
      surface_of(plane), surface_of(box_of(std::vector<float>(8), cudaArraySurfaceLoadStore)),
      surface_of(box_of(std::vector<float>(8), cudaArrayLayered | cudaArraySurfaceLoadStore)), results);
  check(cudaDeviceSynchronize() == cudaSuccess, "use_surfaces");
  const float right[] = {42, 0, 7, 5, 6};
  check(std::memcmp(results, right, sizeof right) == 0, "use_surfaces");
  float back[8];
  cudaMemcpy2DFromArray(back, 16, plane, 0, 0, 16, 2, cudaMemcpyDeviceToHost);
  check(back[6] == 42 && back[0] == 0, "surf2Dwrite");
  leave_surface<<<1, 1>>>(surface_of(plane));
  check(cudaDeviceSynchronize() != cudaSuccess, "cudaBoundaryModeTrap");
}

int main() {
  planes();
  others();
  surfaces();
  std::printf("textures: %s\n", failures ? "wrong" : "right");
}
