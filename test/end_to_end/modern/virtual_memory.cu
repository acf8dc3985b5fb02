// An address range that grows: two pieces of memory are mapped behind each other, and one of them again elsewhere.
#include <cstdio>
#include <cuda.h>

__global__ void count(int* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    a[i] += i;
}

int wrong = 0;

void hold(const char* what, bool right) {
  if (!right)
    std::printf("%s\n", what), ++wrong;
}

int main() {
  cuInit(0);
  CUdevice device;
  CUcontext context;
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  std::size_t page = 0;
  hold("granularity", cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS && page != 0);
  CUdeviceptr range, other;
  CUmemGenericAllocationHandle pieces[2];
  hold("reserve", cuMemAddressReserve(&range, 4 * page, 0, 0, 0) == CUDA_SUCCESS && range % page == 0);
  hold("reserve again", cuMemAddressReserve(&other, page, 0, 0, 0) == CUDA_SUCCESS && other != range);
  for (int i = 0; i < 2; ++i) {
    hold("create", cuMemCreate(&pieces[i], page, &properties, 0) == CUDA_SUCCESS);
    hold("map", cuMemMap(range + i * page, page, 0, pieces[i], 0) == CUDA_SUCCESS);
  }
  hold("mapped twice", cuMemMap(range, page, 0, pieces[0], 0) == CUDA_ERROR_INVALID_VALUE);
  hold("access of what is not mapped", cuMemSetAccess(range, 3 * page, &access, 1) == CUDA_ERROR_INVALID_VALUE);
  hold("access", cuMemSetAccess(range, 2 * page, &access, 1) == CUDA_SUCCESS);
  const int numbers = int(2 * page / sizeof(int));
  cuMemsetD32(range, 5, numbers);
  count<<<1, 256>>>(reinterpret_cast<int*>(range), numbers);
  hold("kernel", cudaDeviceSynchronize() == cudaSuccess);
  hold("map elsewhere", cuMemMap(other, page, 0, pieces[1], 0) == CUDA_SUCCESS && cuMemSetAccess(other, page, &access, 1) == CUDA_SUCCESS);
  int last[2] = {};
  cuMemcpyDtoH(&last[0], range + 2 * page - sizeof(int), sizeof(int));
  cuMemcpyDtoH(&last[1], other + page - sizeof(int), sizeof(int));
  hold("one piece at two addresses", last[0] == numbers + 4 && last[1] == last[0]);
  hold("free while mapped", cuMemAddressFree(other, page) == CUDA_ERROR_INVALID_VALUE);
  hold("unmap", cuMemUnmap(range, 2 * page) == CUDA_SUCCESS && cuMemUnmap(other, page) == CUDA_SUCCESS);
  hold("release", cuMemRelease(pieces[0]) == CUDA_SUCCESS && cuMemRelease(pieces[1]) == CUDA_SUCCESS);
  hold("release twice", cuMemRelease(pieces[0]) == CUDA_ERROR_INVALID_VALUE);
  hold("free", cuMemAddressFree(range, 4 * page) == CUDA_SUCCESS && cuMemAddressFree(other, page) == CUDA_SUCCESS);
  if (wrong == 0)
    std::printf("all right\n");
  return wrong != 0;
}
