// The device half of a source as LLVM IR, before and after optimisation.
#pragma once

#include "analysis/location_keeper.h"

#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>

namespace warplens::analysis {

/// Clang's code generation for the device half, as an AST consumer, with line tables. The compilation is to
/// be one with `optimised`.
inline constexpr const char* optimised = "-O2";
std::unique_ptr<clang::CodeGenerator> device_code_generator(clang::CompilerInstance& compiler,
                                                            llvm::LLVMContext& context);

/// What it has generated, without what no kernel reaches. Null where the source does not parse.
std::unique_ptr<llvm::Module> take_device_module(clang::CodeGenerator& generator,
                                                 const clang::LangOptions& options);

/// Runs LLVM's -O2 pipeline for NVPTX, without the vectorisers (which merge accesses that a GPU still makes
/// one by one), keeping the locations of accesses. (-O3 adds argument promotion, which moves loads to the
/// place of a call; what it gains, inlining gains too.) Returns which accesses were merged into which
/// (LocationKeeper::merged).
std::map<Position, std::set<Position>> optimise(llvm::Module& module);

} // namespace warplens::analysis
