// Last errors, names and texts. launch_test.cpp tests the sticky error, with failing kernels.
#include "runtime/cpu/cudart/error.h"
#include "test/catch.h"

#include <cuda_runtime_api.h>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

TEST_CASE("the last error is kept until it is queried") {
  cudaGetLastError();
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("each host thread has its own last error") {
  cudaGetLastError();
  cudaError_t other = cudaSuccess;
  std::thread([&] {
    cudaSetDevice(7);
    other = cudaGetLastError();
  }).join();
  CHECK(other == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("errors have names and texts") {
  CHECK(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)) == "cudaErrorMemoryAllocation");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
  CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(5000))) == "unrecognized error code");
  std::set<std::string> names;
  int known = 0;
  for (int code = 0; code < 10001; ++code) {
    const std::string name = cudaGetErrorName(static_cast<cudaError_t>(code));
    if (name == "unrecognized error code")
      continue;
    ++known;
    names.insert(name);
  }
  CHECK(known == 134); // the enumerators of cudaError in CUDA 13.0
  CHECK(names.size() == 134);
}

TEST_CASE("no exception leaves a call of CUDA") {
  using warplens::cpu::cuda_entry;
  CHECK(cuda_entry([]() -> cudaError_t { throw std::bad_alloc(); }) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cuda_entry([]() -> cudaError_t { throw std::length_error("vector"); }) == cudaErrorMemoryAllocation);
  CHECK(cuda_entry([]() -> cudaError_t {
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        }) == cudaErrorOperatingSystem);
  CHECK(cuda_entry([]() -> cudaError_t { throw std::runtime_error("for the test"); }) == cudaErrorUnknown);
  CHECK(cuda_entry([]() -> cudaError_t { throw 7; }) == cudaErrorUnknown);
  cudaGetLastError();
}
