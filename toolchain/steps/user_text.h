// Restores the user's text in a compiler's messages, which quote lines with our probes in them.
#pragma once

#include <string>

namespace warplens::toolchain {

/// Removes probes from the lines that a compiler quotes, and moves the marks below them and the columns in
/// the message above to their places without probes. A probe that goes on in another line leaves its brackets
/// there.
std::string without_probes(const std::string& messages);

} // namespace warplens::toolchain
