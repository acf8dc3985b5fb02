// The records of a trace that are kept in memory, a list for each line of records.def.
#pragma once

#include "trace/records.h"

#include <vector>

namespace warplens::trace {

struct RecordLists {
#define WARPLENS_TRACE_RECORD(type, number, Record, list) std::vector<Record> list;
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
};

} // namespace warplens::trace
