// Times each launch of a program that measures nothing itself. The program is linked with `--wrap` of the
// functions below, so that its launches come here: those of `<<<>>>` as __cudaLaunchKernel
// (crt/host_runtime.h).
//
// Without RELAUNCHES in the environment a launch is what it was. With RELAUNCHES=N it is followed by N more
// of its kind, each between two events, and by N that follow each other between two; then a line is printed,
// "relaunched MEDIAN LEAST MOST TOGETHER KERNEL": microseconds, the last of which is the time of the N at
// once divided by N. The first launch is the warm-up. Launches must be such that others may follow: no kernel
// that expects counters of zero.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <vector>

extern "C" {
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __real_cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
}

namespace {

int relaunches() {
  static const char* const wanted = std::getenv("RELAUNCHES");
  return wanted != nullptr ? std::atoi(wanted) : 0;
}

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : mangled;
}

std::string name_of(const void* function) {
  const char* name = nullptr;
  return cudaFuncGetName(&name, function) == cudaSuccess && name != nullptr ? readable(name) : "unknown";
}

/// Returns the name of a kernel by its handle, which the driver knows alone.
std::string name_of(cudaKernel_t kernel) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const char* name = nullptr;
  if (cudaGetDriverEntryPointByVersion("cuKernelGetName", &found, 12030, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess ||
      reinterpret_cast<int (*)(const char**, cudaKernel_t)>(found)(&name, kernel) != 0 || name == nullptr)
    return "unknown";
  return readable(name);
}

/// Returns the microseconds of `count` launches, as the stream sees them.
template <class Launch> float time_of(int count, cudaStream_t stream, const Launch& launch) {
  cudaEvent_t begin{}, end{};
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream);
  for (int i = 0; i < count; ++i)
    launch();
  cudaEventRecord(end, stream);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds * 1000;
}

template <class Kernel, class Launch>
cudaError_t launch_and_time(Kernel kernel, cudaStream_t stream, const Launch& launch) {
  const cudaError_t error = launch();
  const int count = relaunches();
  if (count <= 0 || error != cudaSuccess)
    return error;
  cudaStreamSynchronize(stream);
  std::vector<float> times;
  for (int i = 0; i < count; ++i)
    times.push_back(time_of(1, stream, launch));
  std::sort(times.begin(), times.end());
  const float together = time_of(count, stream, launch) / float(count);
  const cudaError_t failed = cudaGetLastError();
  if (failed == cudaSuccess)
    std::printf("relaunched %.3f %.3f %.3f %.3f %s\n", times[times.size() / 2], times.front(), times.back(),
                together, name_of(kernel).c_str());
  return failed;
}

} // namespace

extern "C" cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                                 std::size_t shared, cudaStream_t stream) {
  return launch_and_time(kernel, stream, [&] {
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  });
}

extern "C" cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared, cudaStream_t stream) {
  return launch_and_time(kernel, stream, [&] {
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  });
}

extern "C" cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                          void** arguments, std::size_t shared,
                                                          cudaStream_t stream) {
  return launch_and_time(kernel, stream, [&] {
    return __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
  });
}
