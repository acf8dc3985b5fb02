// flags: -arch=sm_80 -std=c++17 -lcuda -lnvrtc -lnvJitLink
// gpu: a100
// Modules of PTX by the driver, nvJitLink, textures, surfaces and layers, arrays of the driver, managed memory, assertions, traps, host API of cuRAND.
#include "../expect.h"
#include <cstring>
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>
__global__ void sample(cudaTextureObject_t linear, cudaTextureObject_t layers, cudaSurfaceObject_t surface, float* out) {
  const int i = threadIdx.x;
  out[i] = tex2D<float>(linear, i * 0.5f + 0.5f, 1.5f); out[32 + i] = tex2DLayered<float>(layers, i % 8 + 0.5f, 2.5f, i % 3);
  float v; surf2Dread(&v, surface, i % 8 * 4, 3); surf2Dwrite(v + 1, surface, i % 8 * 4, 4); out[64 + i] = v;
}
__global__ void read_bytes(cudaTextureObject_t floats, cudaTextureObject_t integers, float* out) { out[0] = tex2D<float>(floats, 4.5f, 1.5f), out[1] = tex2D<unsigned char>(integers, 4.5f, 1.5f); }
__managed__ int managed[32];
__global__ void set_managed() { managed[threadIdx.x] = threadIdx.x * 3; }
static std::string compile(const char* source, bool relocatable, bool ptx) {
  nvrtcProgram p; nvrtcCreateProgram(&p, source, "kernel.cu", 0, nullptr, nullptr);
  const char* options[] = {"-arch=sm_80", "-rdc=true"};
  if (nvrtcCompileProgram(p, relocatable ? 2 : 1, options) != NVRTC_SUCCESS) return "";
  size_t n; std::string code; if (ptx) { nvrtcGetPTXSize(p, &n); code.resize(n); nvrtcGetPTX(p, code.data()); } else { nvrtcGetCUBINSize(p, &n); code.resize(n); nvrtcGetCUBIN(p, code.data()); }
  return code;
}
int main() {
  float* out; cudaMalloc(&out, 4096);
  cudaArray_t array, layered; auto format = cudaCreateChannelDesc<float>(); std::vector<float> texels(64); for (int i = 0; i < 64; ++i) texels[i] = i;
  EXPECT(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore) == cudaSuccess); cudaMemcpy2DToArray(array, 0, 0, texels.data(), 32, 32, 8, cudaMemcpyHostToDevice);
  EXPECT(cudaMalloc3DArray(&layered, &format, {8, 8, 3}, cudaArrayLayered) == cudaSuccess); std::vector<float> all(192); for (int i = 0; i < 192; ++i) all[i] = i * 2;
  cudaMemcpy3DParms copy = {}; copy.srcPtr = make_cudaPitchedPtr(all.data(), 32, 8, 8); copy.dstArray = layered; copy.extent = {8, 8, 3}; copy.kind = cudaMemcpyHostToDevice; EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = array; cudaTextureDesc t = {}; t.filterMode = cudaFilterModeLinear; t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp; t.readMode = cudaReadModeElementType;
  cudaTextureObject_t linear, layers; cudaSurfaceObject_t surface; EXPECT(cudaCreateTextureObject(&linear, &r, &t, nullptr) == cudaSuccess); EXPECT(cudaCreateSurfaceObject(&surface, &r) == cudaSuccess);
  r.res.array.array = layered; t.filterMode = cudaFilterModePoint; EXPECT(cudaCreateTextureObject(&layers, &r, &t, nullptr) == cudaSuccess);
  sample<<<1, 32>>>(linear, layers, surface, out); EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  auto o = host(out, 96); int bad = 0; for (int i = 0; i < 32; ++i) bad += std::abs(o[i] - (8 + std::min(i * 0.5f, 7.f))) > 0.05f || o[32 + i] != (i % 3 * 64 + 16 + i % 8) * 2 || o[64 + i] != 24 + i % 8; EXPECT(bad == 0);
  set_managed<<<1, 32>>>(); cudaDeviceSynchronize(); EXPECT(managed[7] == 21);
  CUdevice dev; CUcontext context; EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&dev, 0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, dev) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
  const auto ptx = compile("extern \"C\" __constant__ int factor; extern \"C\" __constant__ int factor = 2; extern \"C\" __global__ void scale(int* x) { x[threadIdx.x] *= factor; }", false, true);
  CUmodule module; CUfunction f; EXPECT(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS); EXPECT(cuModuleGetFunction(&f, module, "scale") == CUDA_SUCCESS);
  CUdeviceptr g; size_t bytes; EXPECT(cuModuleGetGlobal(&g, &bytes, module, "factor") == CUDA_SUCCESS && bytes == 4); int five = 5; EXPECT(cuMemcpyHtoD(g, &five, 4) == CUDA_SUCCESS);
  std::vector<int> x(32, 7); auto* dx = device(x); void* a[] = {&dx}; EXPECT(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, a, nullptr) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS); EXPECT(host(dx, 32)[31] == 35);
  const auto one = compile("__device__ int helper(int); extern \"C\" __global__ void use(int* x) { x[threadIdx.x] = helper(threadIdx.x); }", true, false), two = compile("__device__ int helper(int x) { return x * x; }", true, false);
  nvJitLinkHandle link; const char* options[] = {"-arch=sm_80"}; EXPECT(nvJitLinkCreate(&link, 1, options) == NVJITLINK_SUCCESS); EXPECT(nvJitLinkAddData(link, NVJITLINK_INPUT_CUBIN, one.data(), one.size(), "one") == NVJITLINK_SUCCESS);
  EXPECT(nvJitLinkAddData(link, NVJITLINK_INPUT_CUBIN, two.data(), two.size(), "two") == NVJITLINK_SUCCESS); EXPECT(nvJitLinkComplete(link) == NVJITLINK_SUCCESS); size_t n = 0; nvJitLinkGetLinkedCubinSize(link, &n); std::vector<char> cubin(n); nvJitLinkGetLinkedCubin(link, cubin.data());
  CUlibrary library; CUkernel kernel; EXPECT(cuLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS); EXPECT(cuLibraryGetKernel(&kernel, library, "use") == CUDA_SUCCESS);
  EXPECT(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, a, nullptr) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS); EXPECT(host(dx, 32)[9] == 81);
  CUarray plane; const CUDA_ARRAY_DESCRIPTOR descriptor{8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1}; EXPECT(cuArrayCreate(&plane, &descriptor) == CUDA_SUCCESS); std::vector<unsigned char> small(6 * 4), returned(2 * 3); for (int i = 0; i < 24; ++i) small[i] = i * 10;
  CUDA_MEMCPY2D box = {}; box.srcMemoryType = CU_MEMORYTYPE_HOST, box.srcHost = small.data(), box.srcPitch = 6, box.dstMemoryType = CU_MEMORYTYPE_ARRAY, box.dstArray = plane, box.dstXInBytes = 2, box.WidthInBytes = 6, box.Height = 4; EXPECT(cuMemcpy2D(&box) == CUDA_SUCCESS);
  CUDA_MEMCPY2D out_box = {}; out_box.srcMemoryType = CU_MEMORYTYPE_ARRAY, out_box.srcArray = plane, out_box.srcXInBytes = 3, out_box.srcY = 1, out_box.dstMemoryType = CU_MEMORYTYPE_HOST, out_box.dstHost = returned.data(), out_box.dstPitch = 2, out_box.WidthInBytes = 2, out_box.Height = 3; EXPECT(cuMemcpy2D(&out_box) == CUDA_SUCCESS); EXPECT(returned == std::vector<unsigned char>({70, 80, 130, 140, 190, 200}));
  CUDA_ARRAY_DESCRIPTOR of_plane; EXPECT(cuArrayGetDescriptor(&of_plane, plane) == CUDA_SUCCESS && of_plane.Width == 8 && of_plane.Height == 4 && of_plane.Format == CU_AD_FORMAT_UNSIGNED_INT8);
  CUDA_RESOURCE_DESC of_texture = {}; of_texture.resType = CU_RESOURCE_TYPE_ARRAY, of_texture.res.array.hArray = plane; CUDA_TEXTURE_DESC how = {}; how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP; CUtexObject as_floats, as_integers; EXPECT(cuTexObjectCreate(&as_floats, &of_texture, &how, nullptr) == CUDA_SUCCESS); how.flags = CU_TRSF_READ_AS_INTEGER; EXPECT(cuTexObjectCreate(&as_integers, &of_texture, &how, nullptr) == CUDA_SUCCESS);
  read_bytes<<<1, 1>>>(as_floats, as_integers, out); EXPECT(host(out, 1)[0] == 80 / 255.f && host(out, 2)[1] == 80); EXPECT(cuTexObjectDestroy(as_floats) == CUDA_SUCCESS && cuArrayDestroy(plane) == CUDA_SUCCESS);
  CUstream stream; CUgraph graph; CUgraphExec executable; CUgraphNode node; EXPECT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS && cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS); EXPECT(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, a, nullptr) == CUDA_SUCCESS && cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
  cudaMemset(dx, 0, 128); EXPECT(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS && cuGraphLaunch(executable, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS); EXPECT(host(dx, 32)[9] == 81);
  CUDA_KERNEL_NODE_PARAMS of_node = {}; of_node.func = f, of_node.gridDimX = of_node.gridDimY = of_node.gridDimZ = of_node.blockDimY = of_node.blockDimZ = 1, of_node.blockDimX = 32, of_node.kernelParams = a; EXPECT(cuGraphCreate(&graph, 0) == CUDA_SUCCESS && cuGraphAddKernelNode(&node, graph, nullptr, 0, &of_node) == CUDA_SUCCESS); EXPECT(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS && cuGraphLaunch(executable, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS); EXPECT(host(dx, 32)[9] == 405);
  CUmemoryPool pool; CUdeviceptr pooled; cuuint64_t used = 0; EXPECT(cuDeviceGetDefaultMemPool(&pool, dev) == CUDA_SUCCESS && cuMemAllocFromPoolAsync(&pooled, 1024, pool, stream) == CUDA_SUCCESS && cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS && used >= 1024 && cuMemFreeAsync(pooled, stream) == CUDA_SUCCESS);
  int grid_size, block_size; EXPECT(cuOccupancyMaxPotentialBlockSize(&grid_size, &block_size, f, nullptr, 0, 0) == CUDA_SUCCESS && block_size >= 256 && grid_size >= 108);
  CUlinkState state; EXPECT(cuLinkCreate(0, nullptr, nullptr, &state) == CUDA_SUCCESS); EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)ptx.c_str(), ptx.size() + 1, "p", 0, nullptr, nullptr) == CUDA_SUCCESS); void* linked; EXPECT(cuLinkComplete(state, &linked, &bytes) == CUDA_SUCCESS); EXPECT(cuModuleLoadData(&module, linked) == CUDA_SUCCESS);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
