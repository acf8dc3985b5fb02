// Which of the memories that a placement uses no measured kernel of a GPU had, so that the model's figures of
// them were held against nothing.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/arrays.h"
#include "placement/change/transformation.h"

#include <span>
#include <string>
#include <vector>

namespace warplens::placement {

/// Returns the memories that the moves lead into or out of and that the GPU's accuracy was recorded without,
/// in its words: "textures". Empty where its file says nothing about accuracy: then nothing was measured at
/// all.
std::vector<std::string> not_measured(std::span<const Move> moves, const Arrays& arrays,
                                      const model::Gpu& gpu);

} // namespace warplens::placement
