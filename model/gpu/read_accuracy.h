// Reader of the table [accuracy] of a GPU file: either the errors that test/accuracy/accuracy.py recorded of
// this GPU, or the name of the GPU whose errors stand for them.
#pragma once

#include "model/gpu/toml_figures.h"
#include "result/accuracy.h"

namespace warplens::model {

/// Returns what the table says, which has no launches if it only names another GPU; none if there is no
/// table.
std::optional<Accuracy> read_accuracy(TomlFigures& figures);

} // namespace warplens::model
