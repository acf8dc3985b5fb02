// Streams and events.
#include "test/catch.h"

#include <atomic>
#include <chrono>
#include <cuda_runtime_api.h>
#include <thread>

TEST_CASE("streams") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100) == cudaSuccess);
  unsigned flags = 0;
  int priority = 0, least = 0, greatest = 0;
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  int called = 0;
  CHECK(cudaLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &called) == cudaSuccess);
  CHECK(called == 1);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaMemsetAsync(&called, 0, sizeof called, stream) == cudaErrorInvalidResourceHandle);
  CHECK(called == 1);
  CHECK(cudaStreamCreateWithFlags(&stream, 0x80) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("events measure the time between them") {
  cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventQuery(start) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(start, nullptr) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(cudaEventRecord(end, nullptr) == cudaSuccess);
  CHECK(cudaEventSynchronize(end) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess);
  CHECK(milliseconds >= 5);
  CHECK(cudaEventRecord(untimed, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(nullptr, end, 0) == cudaSuccess);
  for (const cudaEvent_t event : {start, end, untimed})
    CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventRecord(start, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventCreateWithFlags(&start, cudaEventInterprocess) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("events and streams that another thread destroys meanwhile are either valid or refused") {
  constexpr int rounds = 2000;
  std::atomic<cudaEvent_t> event = nullptr;
  std::atomic<cudaStream_t> stream = nullptr;
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      cudaEvent_t one = nullptr;
      cudaStream_t two = nullptr;
      cudaEventCreate(&one);
      cudaStreamCreate(&two);
      event = one;
      stream = two;
      cudaEventDestroy(one);
      cudaStreamDestroy(two);
    }
    done = true;
  });
  const auto is_known = [](cudaError_t error) {
    return error == cudaSuccess || error == cudaErrorInvalidResourceHandle;
  };
  int wrong = 0;
  while (!done) {
    unsigned flags = 0;
    cudaStreamAttrValue value{};
    wrong += !is_known(cudaStreamWaitEvent(nullptr, event, 0));
    wrong += !is_known(cudaEventRecord(event, nullptr));
    wrong += !is_known(cudaStreamGetFlags(stream, &flags));
    wrong += !is_known(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
  }
  other.join();
  CHECK(wrong == 0);
  cudaGetLastError();
}
