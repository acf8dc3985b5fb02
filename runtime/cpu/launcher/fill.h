// The bytes of buffers and scalars that a launch's plan describes.
#pragma once

#include "support/expected.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace warplens::launcher {

/// Returns the buffer's bytes: those of a file, or elements of "type" as "fill" says: one "value"; "iota",
/// which begins with "start" and goes on by "step"; or "random", uniform from "low" on, below "high", by
/// "seed".
Expected<std::string> contents_of(const nlohmann::json& plan);

/// Returns the bytes of a "scalar" of a "type".
std::string scalar_of(const nlohmann::json& plan);

} // namespace warplens::launcher
