// Encodes everything in a trace but the accesses into payloads and decodes it. The decoders append to
// existing records, and their errors name the fault in a payload.
#pragma once

#include "support/expected.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/records.h"

#include <span>
#include <vector>

namespace warplens::trace {

void encode(Bytes& payload, const Program& program);
void encode(Bytes& payload, const Site& site);
void encode(Bytes& payload, const Allocation& allocation);
void encode(Bytes& payload, const Launch& launch);
void encode(Bytes& payload, const LaunchEnd& end);
void encode(Bytes& payload, const KernelLaunches& launches);
void encode(Bytes& payload, const IndexEntry& entry);
void encode(Bytes& payload, const MemoryUse& use);
void encode(Bytes& payload, const Cubin& cubin);
void encode(Bytes& payload, const Execution& execution);

/// Decodes `count` records, which must fill the payload.
template <class Record>
Expected<void> decode(std::span<const std::uint8_t> payload, std::uint32_t count,
                      std::vector<Record>& records);

} // namespace warplens::trace
