// The energies of a board, from [power] of its GPU file.
#pragma once

#include "model/gpu/toml_figures.h"
#include "power/energies.h"

#include <optional>

namespace warplens::model {

/// Returns them; empty if the file has no [power].
std::optional<power::Energies> read_energies(TomlFigures& figures);

} // namespace warplens::model
