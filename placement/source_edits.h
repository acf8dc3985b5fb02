// The edits of sources that are mechanical: text in, text out.
#pragma once

#include "placement/advice.h"

#include <string>

namespace warplens::placement {

/// Returns the source with the suggestion's edit made, where it is mechanical: a longer last dimension in the
/// declaration of a shared array, `__ldg()` or `__ldcg()` around the loads of an array, a kernel's parameter
/// in constant memory or behind a texture, or `__launch_bounds__` of the kernel. The error says why it is
/// not.
Expected<std::string> edited_source(const Experiment& experiment, const Suggestion& suggestion,
                                    const std::string& source);

/// The error of edited_source() for a change that no edit of a few words makes.
inline constexpr const char* not_mechanical = "the edit is not mechanical";

} // namespace warplens::placement
