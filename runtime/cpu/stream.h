// Streams and events. Work runs to its end when it is issued, so a stream only has to be known and an event
// only remembers its time.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// A default stream, or one that was created and not destroyed?
bool is_stream(cudaStream_t stream);

} // namespace warplens::cpu
