// CUDA's errors: the last one, the sticky one, names and texts.
#include "runtime/cpu/cudart/error.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace warplens::cpu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> sticky_error = cudaSuccess;

struct Text {
  cudaError_t error;
  const char* name;
  const char* description;
};

constexpr Text texts[] = {
#define CUDA_ERROR(name, description) {name, #name, description},
#include "runtime/cpu/cudart/cuda_errors.def"
#undef CUDA_ERROR
};

const Text* find(cudaError_t error) {
  const Text* found =
      std::find_if(std::begin(texts), std::end(texts), [&](const Text& text) { return text.error == error; });
  return found == std::end(texts) ? nullptr : found;
}

} // namespace

cudaError_t report(cudaError_t error) {
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

cudaError_t error_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::length_error&) { // more than fits in any memory
    return cudaErrorMemoryAllocation;
  } catch (const std::system_error&) { // no further thread, …
    return cudaErrorOperatingSystem;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "warplens: a call of CUDA failed: %s\n", exception.what());
  } catch (...) {
    std::fputs("warplens: a call of CUDA failed, and does not say why\n", stderr);
  }
  return cudaErrorUnknown;
}

void say_refused(const char* function, const char* why) {
  static std::mutex mutex;
  static std::set<std::string_view> reported;
  const std::lock_guard lock(mutex);
  if (reported.insert(function).second)
    std::fprintf(stderr, "warplens: %s is not supported by the CPU back end: %s\n", function, why);
}

/// Names the function and returns CUDA's error for it.
int refuse(const char* function, const char* why) {
  say_refused(function, why);
  return report(cudaErrorNotSupported);
}

void fail_context(cudaError_t error) {
  sticky_error = error;
}

cudaError_t context_error() {
  return sticky_error;
}

void reset_errors() {
  sticky_error = cudaSuccess;
  last_error = cudaSuccess;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = context_error();
  return sticky != cudaSuccess ? sticky : last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const Text* text = find(error);
  return text ? text->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Text* text = find(error);
  return text ? text->description : "unrecognized error code";
}

} // extern "C"
