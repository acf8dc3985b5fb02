// Stage: source → instrumented source.
#pragma once

#include "support/expected.h"
#include "toolchain/objects/compilation_note.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

struct InstrumentedSource {
  std::filesystem::path file;       ///< the rewritten source; rewritten headers of the user's lie beside it
  std::filesystem::path site_table; ///< the sites in C++, which `file` holds, too
  std::uint64_t sites = 0, accesses = 0, removed = 0; ///< sites: accesses with a probe, and barriers
  std::vector<UnseenAccess> unseen;                   ///< accesses without a probe
  std::string refused; ///< why Clang makes no code of some device function; empty: it does of all
};

/// Returns the path at which instrument() leaves the rewritten source.
std::filesystem::path copy_with_probes(const std::filesystem::path& source,
                                       const std::filesystem::path& directory);

/// Rewrites the source into `directory`. The error for a source that does not parse is Clang's first error.
Expected<InstrumentedSource> instrument(const std::filesystem::path& source,
                                        const std::vector<std::string>& clang_arguments,
                                        const std::filesystem::path& directory);

/// Returns the instrumentation as a unified diff.
Expected<std::string> instrumentation_patch(const std::filesystem::path& source,
                                            const std::vector<std::string>& clang_arguments);

} // namespace warplens::toolchain
