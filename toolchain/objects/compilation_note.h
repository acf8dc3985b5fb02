// The record of what `warplens nvcc` did to a source, kept in the resulting object. Linkers collect the notes
// of all objects, so that a program, too, says which of its sources have probes.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::toolchain {

/// An access that has no probe, and the reason.
struct UnseenAccess {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string expression; ///< empty: unknown
  std::string reason;
};

struct CompilationNote {
  std::string source;        ///< the name on the command line
  std::string fell_back;     ///< the reason for compiling it by plain nvcc; empty: it has probes
  std::uint64_t sites = 0;   ///< accesses with a probe
  std::uint64_t removed = 0; ///< accesses that the compiler removes
  std::vector<UnseenAccess> unseen = {};
  std::string single_variant_reason =
      {}; ///< the reason if its kernels exist with probes only; empty: they have both variants
};

/// Adds the note to the object. `directory` is for a temporary file.
Expected<void> add_note(const CompilationNote& note, const std::filesystem::path& object,
                        const std::filesystem::path& directory);

/// Reads the notes of an object, a library or a program.
Expected<std::vector<CompilationNote>> read_notes(const std::filesystem::path& file);

/// Converts notes and accesses to JSON and back. A missing field becomes an empty value.
nlohmann::json to_json(const CompilationNote& note);
std::vector<UnseenAccess> unseen_accesses(const nlohmann::json& json);

} // namespace warplens::toolchain
