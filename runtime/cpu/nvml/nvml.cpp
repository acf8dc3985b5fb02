// NVML, NVIDIA's management library, for the one device: what it is (name, clocks, memory). What a GPU's
// sensors measure is refused by name (NVML API Reference Guide). Toolkits may lack its header, so the types
// stand here.
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/cudart/error.h"
#include "runtime/cpu/device/device_description.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>

using namespace warplens::cpu;

namespace {

/// A nvmlReturn_t.
enum Result { success = 0, invalid_argument = 2, not_supported = 3, not_found = 6, insufficient_size = 7 };

/// A nvmlClockType_t.
enum Clock { graphics_clock, sm_clock, memory_clock, video_clock };

/// A nvmlMemory_t.
struct Memory {
  unsigned long long total, free, used;
};

using Device = const void*; // a nvmlDevice_t

constexpr char bus_id[] = "00000000:00:00.0";

Device the_device() {
  return &device();
}

/// Implements `*result = value` for the calls that ask a device.
template <class T, class U> Result answer(Device which, T* result, U value) {
  if (which != the_device() || !result)
    return invalid_argument;
  *result = static_cast<T>(value);
  return success;
}

Result answer_text(const std::string& text, char* result, unsigned bytes) {
  if (!result)
    return invalid_argument;
  if (bytes <= text.size())
    return insufficient_size;
  std::memcpy(result, text.c_str(), text.size() + 1);
  return success;
}

Result answer_clock(Device which, int type, unsigned* megahertz) {
  if (type < graphics_clock || type > video_clock)
    return invalid_argument;
  return answer(which, megahertz,
                (type == memory_clock ? device().memory_clock_khz : device().clock_khz) / 1000);
}

std::string uuid() {
  std::string text = "GPU-";
  const auto& bytes = properties().uuid.bytes;
  for (std::size_t i = 0; i < sizeof bytes; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        static_cast<unsigned char>(bytes[i]));
  return text;
}

Result find(bool is_it, Device* result) {
  if (!result)
    return invalid_argument;
  *result = the_device();
  return is_it ? success : not_found;
}

} // namespace

extern "C" {

Result nvmlInit_v2() {
  return success;
}
Result nvmlInit() {
  return success;
}
Result nvmlInitWithFlags(unsigned) {
  return success;
}
Result nvmlShutdown() {
  return success;
}

const char* nvmlErrorString(int result) {
  switch (result) {
  case success: return "Success";
  case invalid_argument: return "Invalid Argument";
  case not_supported: return "Not Supported";
  case not_found: return "Not Found";
  case insufficient_size: return "Insufficient Size";
  default: return "Unknown Error";
  }
}

Result nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  return answer_text("Warplens CPU back end", version, bytes);
}
Result nvmlSystemGetCudaDriverVersion(int* version) {
  return answer(the_device(), version, CUDART_VERSION);
}
Result nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

Result nvmlDeviceGetCount_v2(unsigned* count) {
  return answer(the_device(), count, 1);
}
Result nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}
Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* result) {
  return index == 0 ? find(true, result) : invalid_argument;
}
Result nvmlDeviceGetHandleByIndex(unsigned index, Device* result) {
  return nvmlDeviceGetHandleByIndex_v2(index, result);
}
Result nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* result) {
  // CUDA's name of it has four digits of the domain, NVML's eight.
  return id ? find(id == std::string_view(bus_id) || id == std::string_view(bus_id + 4), result)
            : invalid_argument;
}
Result nvmlDeviceGetHandleByPciBusId(const char* id, Device* result) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, result);
}
Result nvmlDeviceGetHandleByUUID(const char* id, Device* result) {
  return id ? find(id == uuid(), result) : invalid_argument;
}

Result nvmlDeviceGetIndex(Device which, unsigned* index) {
  return answer(which, index, 0);
}
Result nvmlDeviceGetName(Device which, char* name, unsigned bytes) {
  return which == the_device() ? answer_text(device().name, name, bytes) : invalid_argument;
}
Result nvmlDeviceGetUUID(Device which, char* id, unsigned bytes) {
  return which == the_device() ? answer_text(uuid(), id, bytes) : invalid_argument;
}
Result nvmlDeviceGetClockInfo(Device which, int type, unsigned* megahertz) {
  return answer_clock(which, type, megahertz);
}
Result nvmlDeviceGetMaxClockInfo(Device which, int type, unsigned* megahertz) {
  return answer_clock(which, type, megahertz);
}
Result nvmlDeviceGetApplicationsClock(Device which, int type, unsigned* megahertz) {
  return answer_clock(which, type, megahertz);
}
Result nvmlDeviceGetDefaultApplicationsClock(Device which, int type, unsigned* megahertz) {
  return answer_clock(which, type, megahertz);
}
Result nvmlDeviceGetClock(Device which, int type, int, unsigned* megahertz) {
  return answer_clock(which, type, megahertz);
}
Result nvmlDeviceGetMemoryBusWidth(Device which, unsigned* bits) {
  return answer(which, bits, device().bus_width_bits);
}
Result nvmlDeviceGetCudaComputeCapability(Device which, int* major, int* minor) {
  if (!minor)
    return invalid_argument;
  *minor = capability() % 10;
  return answer(which, major, capability() / 10);
}
Result nvmlDeviceGetMemoryInfo(Device which, Memory* memory) {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return answer(which, memory, Memory{total, free, total - free});
}

#define NVML_REFUSAL(function, why)                                                                          \
  Result function() {                                                                                        \
    say_refused(#function, why);                                                                             \
    return not_supported;                                                                                    \
  }
#include "runtime/cpu/nvml/nvml_refusals.def"
#undef NVML_REFUSAL
}
