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

#define WARPLENS_TRACE_RECORD(type, number, Record, list) void encode(Bytes& payload, const Record& record);
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
void encode(Bytes& payload, const IndexEntry& entry);

/// Decodes `count` records, which must fill the payload.
template <class Record>
Expected<void> decode(std::span<const std::uint8_t> payload, std::uint32_t count,
                      std::vector<Record>& records);

} // namespace warplens::trace
