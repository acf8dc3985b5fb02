// The machine code in what JIT compilers leave and programs load as a module: a cubin, a fatbin or PTX.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// Returns the bytes of an image in memory. Images have no length: a cubin and a fatbin have theirs in their
/// headers, PTX ends with a null.
std::string_view module_image_at(const void* image);

/// Returns the path of NVIDIA's assembler: in the toolkit that the environment names, in PATH, or at the
/// usual place; empty if it is nowhere.
std::filesystem::path find_assembler();

/// Returns whether GPUs of this compute capability (80 is 8.0) run machine code for the architecture. sm_75,
/// the oldest that today's compilers know, stands for the older ones.
bool runs_on(int architecture, int capability);

/// Returns the cubin of an image for a GPU of this compute capability: the image itself, the best one of a
/// fatbin, or PTX, of which the assembler makes one with the lines of the source. A fatbin or a cubin without
/// any code that the GPU runs gives other code. Bytes may be anything: the error says what is wrong.
Expected<std::string> cubin_for(std::string_view image, int capability,
                                const std::filesystem::path& assembler);

/// A cubin and its architecture.
struct ArchitectureCubin {
  int architecture = 0;
  std::string bytes;
};

/// Returns a fatbin of these cubins.
std::string make_fatbin(const std::vector<ArchitectureCubin>& cubins);

} // namespace warplens
