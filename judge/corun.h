// Words for trials of kernels beside each other, and the power of the board meanwhile.
#pragma once

#include "power/energies.h"
#include "result/corun.h"

#include <string>
#include <vector>

namespace warplens::judge {

/// Sets the watts of a result whose kernels' machine code is known, if the voltage at its clock is.
void put_watts(CorunResult& result, const power::Energies& energies);

/// Returns the name of a kernel as sentences have it, in at most 40 characters.
std::string name_of_kernel(const CorunKernelResult& kernel);

/// Returns how the kernels divide the GPU.
std::string division_in_words(const CorunResult& result);

/// Returns what no GPU has, or an empty string.
std::string what_if_in_words(const CorunWhatIf& what_if);

/// Returns the kernel's part of the GPU, or an empty string if it may use all of it.
std::string place_in_division(const CorunKernelResult& kernel, Division division);

/// Returns a line with the watts beside each other, one after the other and alone; an empty text if they are
/// not known.
std::string watts_in_words(const CorunResult& result);

/// Returns how a partition of blocks was chosen.
std::string partition_in_words(const PartitionChoice& choice);

/// Returns what the kernels fight for, in words; empty if nothing is busy enough to matter.
std::vector<std::string> contention_of(const CorunResult& result);

} // namespace warplens::judge
