// The device half of a source as LLVM IR, before and after optimisation.
#pragma once

#include "analysis/location_keeper.h"
#include "support/expected.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include <vector>

namespace warplens::analysis {

/// As Clang emits it for optimisation, with line tables, without what no kernel reaches.
Expected<std::unique_ptr<llvm::Module>> emit_device_module(const std::vector<std::string>& arguments,
                                                           const std::string& source,
                                                           llvm::LLVMContext& context);

/// Runs LLVM's -O2 pipeline for NVPTX, without the vectorisers (which merge accesses that a GPU still makes
/// one by one), keeping the locations of accesses. (-O3 adds argument promotion, which moves loads to the
/// place of a call; what it gains, inlining gains too.) Returns which accesses were merged into which
/// (LocationKeeper::merged).
std::map<Position, std::set<Position>> optimise(llvm::Module& module);

} // namespace warplens::analysis
