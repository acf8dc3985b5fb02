// A compiler's messages quote the lines that it read, with our probes in them: the user is shown his own.
#pragma once

#include <string>

namespace warplens::driver {

/// Takes probes out of the lines that a compiler quotes, and moves the marks below them and the columns in
/// the message above to where they would stand without. A probe that goes on in another line leaves its
/// brackets there.
std::string without_probes(const std::string& messages);

} // namespace warplens::driver
