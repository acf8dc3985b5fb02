// What `warplens nvcc` did to a source, kept in the object that came of it. Linkers collect the notes of all
// objects, so that a program, too, tells which of its sources have probes.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::driver {

/// An access that has no probe, and why.
struct UnseenAccess {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string expression; ///< empty: unknown
  std::string reason;
};

struct CompilationNote {
  std::string source;    ///< as the command line named it
  std::string fell_back; ///< why plain nvcc compiled it; empty: it has probes
  std::uint64_t sites = 0, removed = 0;
  std::vector<UnseenAccess> unseen = {};
  std::string one_form = {}; ///< why its kernels exist with probes only; empty: they do not
};

/// `directory` is for a file that is needed meanwhile.
Expected<void> add_note(const CompilationNote& note, const std::filesystem::path& object,
                        const std::filesystem::path& directory);

/// From an object, a library or a program.
Expected<std::vector<CompilationNote>> read_notes(const std::filesystem::path& file);

/// A note as JSON, and accesses as they stand in one. What is missing there is empty.
nlohmann::json to_json(const CompilationNote& note);
std::vector<UnseenAccess> unseen_accesses(const nlohmann::json& json);

} // namespace warplens::driver
