// Copies and fills, row by row.
#include "runtime/cpu/memory/copy.h"

#include "runtime/cpu/memory/memory.h"
#include "runtime/cpu/memory/written_memory.h"
#include "runtime/host/recorder.h"

#include <cstdint>
#include <cstring>

namespace warplens::cpu {
namespace {

/// Returns whether `rows` may be accessed. Host memory is not checked.
bool is_valid(Rows rows, std::size_t width, std::size_t height) {
  if (!rows.start || rows.pitch < width)
    return false;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(rows.pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
    return false;
  if (std::uintptr_t end = 0;
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(rows.start), bytes, &end))
    return false;
  const DeviceMemory& memory = DeviceMemory::instance();
  if (!memory.reserves(rows.start))
    return true;
  const auto range = memory.find(rows.start);
  return range && bytes <= range->bytes - (reinterpret_cast<std::uintptr_t>(rows.start) - range->address);
}

/// Records the use of rows in device memory in the trace: by their address or, for variables, as the call
/// names them.
void note_use(trace::MemoryUse::Kind kind, Rows rows, std::size_t width, std::size_t height, bool by_call) {
  if (by_call || DeviceMemory::instance().reserves(rows.start))
    runtime::Recorder::instance().note_memory_use({.kind = kind,
                                                   .address = reinterpret_cast<std::uintptr_t>(rows.start),
                                                   .row_bytes = width,
                                                   .pitch = rows.pitch,
                                                   .rows = height});
}

} // namespace

cudaError_t copy(Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (width == 0 || height == 0)
    return cudaSuccess;
  if (!is_valid(to, width, height) || !is_valid(from, width, height))
    return cudaErrorInvalidValue;
  const bool within = kind == cudaMemcpyDeviceToDevice;
  note_use(trace::MemoryUse::Kind::read, from, width, height, within || kind == cudaMemcpyDeviceToHost);
  note_use(trace::MemoryUse::Kind::written, to, width, height, within || kind == cudaMemcpyHostToDevice);
  char* target = static_cast<char*>(const_cast<void*>(to.start));
  const char* source = static_cast<const char*>(from.start);
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(target + row * to.pitch, source + row * from.pitch, width);
    WrittenMemory::instance().write(target + row * to.pitch, width);
  }
  return cudaSuccess;
}

cudaError_t fill_elements(const cudaMemsetParams& box) {
  if (box.width == 0 || box.height == 0)
    return cudaSuccess;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(box.width, std::size_t{box.elementSize}, &bytes))
    return cudaErrorInvalidValue;
  const Rows rows{box.dst, box.height == 1 ? bytes : box.pitch}; // the pitch of one row means nothing
  if (!is_valid(rows, bytes, box.height))
    return cudaErrorInvalidValue;
  note_use(trace::MemoryUse::Kind::written, rows, bytes, box.height, false);
  for (std::size_t row = 0; row < box.height; ++row) {
    char* const start = static_cast<char*>(box.dst) + row * rows.pitch;
    WrittenMemory::instance().write(start, bytes);
    if (box.elementSize == 1)
      std::memset(start, static_cast<int>(box.value), bytes);
    else
      for (std::size_t i = 0; i < bytes; i += box.elementSize)
        std::memcpy(start + i, &box.value, box.elementSize); // little-endian: the low bytes
  }
  return cudaSuccess;
}

} // namespace warplens::cpu
