// Streams. Work runs to its end when it is issued, so a stream has little state, except while it is captured
// (capture.h).
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

/// Returns whether the handle is a default stream, or one that was created and not destroyed.
bool is_stream(cudaStream_t stream);

/// Returns whether the stream and the legacy default stream wait for each other. Non-blocking streams do not.
bool waits_for_legacy(cudaStream_t stream);

/// Returns the access policy window that the stream's launches have, unless they have one of their own; one
/// of no bytes: none.
cudaAccessPolicyWindow window_of(cudaStream_t stream);

} // namespace warplens::cpu
