#include "runtime/gpu/memory_hook.h"

#include "runtime/gpu/scoped_error_suppressor.h"
#include "runtime/gpu/streams.h"
#include "runtime/host/recorder.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace warplens::gpu {
namespace {

using runtime::Recorder;
using Use = trace::MemoryUse::Kind;

constexpr int no_device = -1;
std::atomic<int> logged_device = no_device;

bool is_logged(int device) {
  int known = no_device;
  return logged_device.compare_exchange_strong(known, device) || known == device;
}

/// `height` rows of `width` bytes, `pitch` bytes apart.
struct Rows {
  const void* start;
  std::size_t pitch, width, height;
};

Rows row(const void* start, std::size_t bytes) {
  return {start, bytes, bytes, 1};
}

/// Records the use. CUDA determines whose memory it is: the direction of a copy may be left to it, too.
void used(Use kind, const Rows& rows) {
  cudaPointerAttributes place{};
  if (cudaPointerGetAttributes(&place, rows.start) != cudaSuccess)
    return;
  if (place.type == cudaMemoryTypeManaged) // its pages are where they were last used
    Recorder::instance().note_unseen("a copy or fill of managed memory");
  else if (place.type == cudaMemoryTypeDevice && is_logged(place.device))
    Recorder::instance().note_memory_use({.kind = kind,
                                          .address = reinterpret_cast<std::uintptr_t>(rows.start),
                                          .row_bytes = rows.width,
                                          .pitch = rows.pitch,
                                          .rows = rows.height});
}

void copied(const Rows& to, const Rows& from) {
  used(Use::read, from);
  used(Use::written, to);
}

const void* at(const cudaPitchedPtr& pointer, const cudaPos& position, std::size_t slice) {
  return static_cast<const char*>(pointer.ptr) + (slice * pointer.ysize + position.y) * pointer.pitch +
         position.x;
}

/// Records the copy of a box of a cudaMemcpy3DParms or cudaMemcpy3DPeerParms.
template <class Box> void copied(const Box& box) {
  if (box.srcArray || box.dstArray)
    return Recorder::instance().note_unseen("a copy to or from a CUDA array");
  for (std::size_t z = 0; z < box.extent.depth; ++z)
    copied(
        {at(box.dstPtr, box.dstPos, box.dstPos.z + z), box.dstPtr.pitch, box.extent.width, box.extent.height},
        {at(box.srcPtr, box.srcPos, box.srcPos.z + z), box.srcPtr.pitch, box.extent.width,
         box.extent.height});
}

/// Returns the address of a device variable; null if CUDA does not report it.
const void* place_of(const void* symbol, std::size_t offset) {
  void* start = nullptr;
  return cudaGetSymbolAddress(&start, symbol) == cudaSuccess ? static_cast<char*>(start) + offset : nullptr;
}

/// Records each call's effect, once CUDA has accepted it. If a stream captures, the call has not had its
/// effect yet; the launch of the graph is recorded then.
class Note {
public:
  explicit Note(bool per_thread) : per_thread_(per_thread) {}

  void cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) const {
    copied(row(to, bytes), row(from, bytes));
  }
  void cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) const {
    if (runs(stream))
      cudaMemcpy(to, from, bytes, kind);
  }
  void cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind) const {
    copied({to, to_pitch, width, height}, {from, from_pitch, width, height});
  }
  void cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind,
                         cudaStream_t stream) const {
    if (runs(stream))
      cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
  }
  void cudaMemcpy3D(const cudaMemcpy3DParms* box) const { copied(*box); }
  void cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) const {
    if (runs(stream))
      copied(*box);
  }
  void cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) const { copied(*box); }
  void cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box, cudaStream_t stream) const {
    if (runs(stream))
      copied(*box);
  }
  void cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) const {
    copied(row(to, bytes), row(from, bytes));
  }
  void cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                           cudaStream_t stream) const {
    if (runs(stream))
      copied(row(to, bytes), row(from, bytes));
  }
  void cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                            std::size_t count, cudaMemcpyAttributes*, std::size_t*, std::size_t,
                            cudaStream_t stream) const {
    if (!runs(stream))
      return;
    for (std::size_t i = 0; i < count; ++i)
      copied(row(to[i], bytes[i]), row(from[i], bytes[i]));
  }
  void cudaMemcpy3DBatchAsync(std::size_t, cudaMemcpy3DBatchOp*, unsigned long long,
                              cudaStream_t stream) const {
    unseen("a batch of copies of boxes", stream);
  }

  void cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                          cudaMemcpyKind) const {
    copied(row(place_of(symbol, offset), bytes), row(from, bytes));
  }
  void cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind, cudaStream_t stream) const {
    if (runs(stream))
      cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
  }
  void cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                            cudaMemcpyKind) const {
    copied(row(to, bytes), row(place_of(symbol, offset), bytes));
  }
  void cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind, cudaStream_t stream) const {
    if (runs(stream))
      cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
  }

  // CUDA does not reveal the address of an array.
  void cudaMemcpy2DToArray(cudaArray_t, std::size_t, std::size_t, const void*, std::size_t, std::size_t,
                           std::size_t, cudaMemcpyKind) const {
    unseen("a copy to a CUDA array");
  }
  void cudaMemcpy2DToArrayAsync(cudaArray_t, std::size_t, std::size_t, const void*, std::size_t, std::size_t,
                                std::size_t, cudaMemcpyKind, cudaStream_t stream) const {
    unseen("a copy to a CUDA array", stream);
  }
  void cudaMemcpy2DFromArray(void*, std::size_t, cudaArray_const_t, std::size_t, std::size_t, std::size_t,
                             std::size_t, cudaMemcpyKind) const {
    unseen("a copy from a CUDA array");
  }
  void cudaMemcpy2DFromArrayAsync(void*, std::size_t, cudaArray_const_t, std::size_t, std::size_t,
                                  std::size_t, std::size_t, cudaMemcpyKind, cudaStream_t stream) const {
    unseen("a copy from a CUDA array", stream);
  }
  void cudaMemcpy2DArrayToArray(cudaArray_t, std::size_t, std::size_t, cudaArray_const_t, std::size_t,
                                std::size_t, std::size_t, std::size_t, cudaMemcpyKind) const {
    unseen("a copy between CUDA arrays");
  }

  void cudaMemset(void* to, int, std::size_t bytes) const { used(Use::written, row(to, bytes)); }
  void cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) const {
    if (runs(stream))
      cudaMemset(to, value, bytes);
  }
  void cudaMemset2D(void* to, std::size_t pitch, int, std::size_t width, std::size_t height) const {
    used(Use::written, {to, pitch, width, height});
  }
  void cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                         cudaStream_t stream) const {
    if (runs(stream))
      cudaMemset2D(to, pitch, value, width, height);
  }
  void cudaMemset3D(cudaPitchedPtr to, int, cudaExtent extent) const {
    for (std::size_t z = 0; z < extent.depth; ++z)
      used(Use::written, {at(to, {}, z), to.pitch, extent.width, extent.height});
  }
  void cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) const {
    if (runs(stream))
      cudaMemset3D(to, value, extent);
  }

  void cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) const { unseen("a launch of a CUDA graph"); }

private:
  bool runs(cudaStream_t stream) const {
    return !is_capturing(per_thread_ ? per_thread_stream(stream) : stream);
  }
  void unseen(const char* what) const { Recorder::instance().note_unseen(what); }
  void unseen(const char* what, cudaStream_t stream) const {
    if (runs(stream))
      unseen(what);
  }

  bool per_thread_;
};

template <class Then> cudaError_t then_note(cudaError_t result, Then then) {
  if (result == cudaSuccess && Recorder::instance().enabled()) {
    const ScopedErrorSuppressor suppressor;
    then();
  }
  return result;
}

} // namespace

void log_memory_of(int device) {
  if (is_logged(device))
    return;
  Recorder::instance().note_unseen("copies and fills of another GPU's memory came first");
  logged_device = device;
}

} // namespace warplens::gpu

#define WARPLENS_HOOK(name, note, per_thread, parameters, arguments)                                         \
  cudaError_t __warplens_##name parameters {                                                                 \
    return warplens::gpu::then_note(name arguments,                                                          \
                                    [&] { warplens::gpu::Note(per_thread).note arguments; });                \
  }
#define WARPLENS_HOOK_BOTH(CALL, name, suffix, parameters, arguments)                                        \
  WARPLENS_HOOK(cuda##name, cuda##name, false, parameters, arguments)                                        \
  WARPLENS_HOOK(cuda##name##suffix, cuda##name, true, parameters, arguments)
#define WARPLENS_HOOK_ONE(result, name, parameters, arguments)                                               \
  WARPLENS_HOOK(name, name, false, parameters, arguments)
WARPLENS_COPY_LIST(WARPLENS_HOOK_BOTH, )
WARPLENS_PEER_COPY_LIST(WARPLENS_HOOK_ONE)
