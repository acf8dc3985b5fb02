// The driver API: modules of PTX that NVRTC made, of cubins and fatbins; variables; launches; entry points by name.
#include "expect.h"

#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <string>
#include <vector>

static const char source[] = R"(
__constant__ int factor = 3;
__device__ int count = 5;
extern "C" __global__ void scale(int* x, int n, int addend) {
  __shared__ int part[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    x[i] = part[threadIdx.x] * factor + addend;
  if (i == 0)
    count += 1;
}
)";

static std::string compile(bool cubin) {
  nvrtcProgram program;
  EXPECT(nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char* const options[] = {cubin ? "--gpu-architecture=sm_80" : "--gpu-architecture=compute_80"};
  EXPECT(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
  std::size_t bytes = 0;
  cubin ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes);
  std::string code(bytes, '\0');
  cubin ? nvrtcGetCUBIN(program, code.data()) : nvrtcGetPTX(program, code.data());
  nvrtcDestroyProgram(&program);
  return code;
}

static void run(const std::string& image) {
  CUmodule module;
  CUfunction function;
  CUdeviceptr x, count, factor;
  std::size_t bytes = 0;
  EXPECT(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "no_such_function") == CUDA_ERROR_NOT_FOUND);
  EXPECT(cuModuleGetFunction(&function, module, "scale") == CUDA_SUCCESS);
  EXPECT(cuModuleGetGlobal(&factor, &bytes, module, "factor") == CUDA_SUCCESS && bytes == 4);
  EXPECT(cuModuleGetGlobal(&count, nullptr, module, "count") == CUDA_SUCCESS);
  int n = 100, addend = 7, shared = 0;
  EXPECT(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS && shared == 256);
  std::vector<int> values(n, 2);
  EXPECT(cuMemAlloc(&x, n * 4) == CUDA_SUCCESS);
  EXPECT(cuMemcpyHtoD(x, values.data(), n * 4) == CUDA_SUCCESS);
  void* arguments[] = {&x, &n, &addend};
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(values.data(), x, n * 4) == CUDA_SUCCESS);
  EXPECT(values[0] == 13 && values[99] == 13);
  const int ten = 10;
  EXPECT(cuMemcpyHtoD(factor, &ten, 4) == CUDA_SUCCESS);
  struct {
    CUdeviceptr x;
    int n, addend;
  } packed{x, n, 1};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(values.data(), x, n * 4) == CUDA_SUCCESS);
  int counted = 0;
  EXPECT(cuMemcpyDtoH(&counted, count, 4) == CUDA_SUCCESS);
  EXPECT(values[42] == 131 && counted == 7);
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS);
  EXPECT(cuMemFree(x) == CUDA_SUCCESS);
  EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&function, module, "scale") == CUDA_ERROR_INVALID_HANDLE);
}

int main() {
  CUdevice device;
  CUcontext context;
  char name[256];
  EXPECT(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS && cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  EXPECT(cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS && name[0]);
  EXPECT(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
  run(compile(false));
  run(compile(true));
  CUmodule module;
  EXPECT(cuModuleLoadData(&module, "no module at all") == CUDA_ERROR_INVALID_PTX);
  char log[64] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_80\nnothing", 2, options, values) != CUDA_SUCCESS && log[0] &&
         values[1] != nullptr);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess &&
         entry == reinterpret_cast<void*>(cuMemAlloc));
  EXPECT(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess && !entry &&
         found == cudaDriverEntryPointSymbolNotFound);
  const char* text = nullptr;
  EXPECT(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS && std::string(text) == "CUDA_ERROR_INVALID_VALUE");
  EXPECT(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS && std::string(text) == "CUDA_ERROR_OUT_OF_MEMORY");
  CUcontext own;
  EXPECT(cuCtxCreate(&own, nullptr, 0, 0) == CUDA_SUCCESS && cuCtxDestroy(own) == CUDA_SUCCESS && cuCtxDestroy(own) == CUDA_ERROR_INVALID_CONTEXT &&
         cuCtxSetCurrent(own) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(cuMemFree(0) == CUDA_ERROR_INVALID_VALUE);
  if (!wrong)
    std::puts("all right");
  return wrong;
}
