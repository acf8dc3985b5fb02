// Streams. Work runs to its end when it is issued, so a stream only has to be known; unless it captures what
// it is asked to do (capture.h).
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// A default stream, or one that was created and not destroyed?
bool is_stream(cudaStream_t stream);

/// Does it wait for the legacy default stream, and that one for it? Those made non-blocking do not.
bool waits_for_legacy(cudaStream_t stream);

} // namespace warplens::cpu
