// Assembles a source's PTX for the GPUs that are asked for. The PTX lies in the program, so that ptxas, which
// takes longer than all else for large kernels, runs only for GPUs that a person asks for.
#pragma once

#include "support/expected.h"
#include "toolchain/ptx/ptxas.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::toolchain {

/// All that NVIDIA's assembler needs of one source.
struct SourcePtx {
  std::vector<std::string> architectures;     ///< those of the command, from which a GPU chooses
  std::vector<std::string> flags;             ///< nvcc's
  std::map<std::string, std::string> modules; ///< PTX by its architecture; those that could be made
};

/// Returns the bytes that a program keeps.
std::string packed(const SourcePtx& ptx);
Expected<SourcePtx> unpack(std::string_view bytes);

/// The capabilities of GPUs, by the architecture that their machine code is made for.
using Binaries = std::map<std::string, std::vector<int>>;

/// Returns the machine code that GPUs of these capabilities take, by the architecture of its PTX.
std::map<std::string, Binaries> choose_binaries(const std::vector<std::string>& architectures,
                                                const std::vector<int>& capabilities);

/// Returns nvcc's output. Its temporary files go to the folder.
Expected<std::string> run_nvcc(const Toolkit& toolkit, const std::vector<std::string>& flags,
                               const std::vector<std::string>& arguments,
                               const std::filesystem::path& folder);

/// Returns the programs that make machine code, by which an earlier run is found again.
std::vector<std::filesystem::path> nvccs_programs(const Toolkit& toolkit);

/// Returns one entry for each kernel and capability; the cubins are in the folder, which must exist. A module
/// that the assembler refuses has none.
std::vector<KernelCode> assemble(const SourcePtx& ptx, const Toolkit& toolkit,
                                 const std::vector<int>& capabilities, const std::filesystem::path& folder);

} // namespace warplens::toolchain
