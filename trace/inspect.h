// Prints the output of `warplens trace info`, `dump` and `check`.
#pragma once

#include "support/expected.h"
#include "trace/reader.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace warplens::trace {

/// Prints a summary: program, launches, sizes. Reads no accesses.
void print_info(const Reader& reader, std::ostream& out);

/// Prints everything, one line per record; accesses as they were written, each as `access LAUNCH BLOCK WARP
/// KIND SPACE BYTES FILE:LINE:COLUMN MASK ADDRESS…` with one hexadecimal address per active lane, none for a
/// barrier. Stops with an error if the trace is damaged or `out` fails.
Expected<void> dump(const Reader& reader, std::ostream& out);

/// Prints how often each site was executed in each traced launch, one line each, its fields separated by
/// tabs: launch, kernel, FILE:LINE:COLUMN, kind, space, warp accesses, lane accesses. Ordered by launch and
/// place.
Expected<void> print_counts(const Reader& reader, std::ostream& out);

/// The faults of a trace that can be read.
struct Findings {
  std::uint64_t count = 0;
  std::vector<std::string> first; ///< one line each, the first hundred
};

/// Reads all of the trace and checks the properties that every reader may rely on:
/// - site ids are unique, element sizes are 0 (not known) or 1 to 4096, line numbers start at 1, dependences
///   name known sites;
/// - launches are numbered 0, 1, 2, … and have 1 to 1024 threads a block and a snapshot within the grid;
/// - each access is at a known site, of its kind, with an active lane, 1 to 16 bytes a lane (a barrier: none,
///   in generic space), in a block of the snapshot and a warp of the block, with no active lane beyond the
///   block's threads and none of its addresses beyond the end of the address space; shared addresses lie
///   within the block's shared memory;
/// - each memory use before a launch has a launch, and its address if it was seen;
/// - each launch of a trace that was not cut short has ended, with no more accesses probed than executed.
Expected<Findings> check(const Reader& reader);

} // namespace warplens::trace
