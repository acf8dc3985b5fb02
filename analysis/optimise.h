// The device half of a source as LLVM IR, before and after optimisation.
#pragma once

#include "analysis/adjacent_copies.h"
#include "analysis/atomics.h"
#include "analysis/joined_accesses.h"
#include "analysis/location_keeper.h"
#include "analysis/unrolled_copies.h"

#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>

namespace warplens::analysis {

/// The option that a compilation with device_code_generator() must have.
inline constexpr const char* optimised = "-O2";
/// Returns Clang's code generation for the device half, with line tables, as an AST consumer.
std::unique_ptr<clang::CodeGenerator> device_code_generator(clang::CompilerInstance& compiler,
                                                            llvm::LLVMContext& context);

/// Returns the generated module without the functions that no kernel reaches, or null if the source does not
/// parse.
std::unique_ptr<llvm::Module> take_device_module(clang::CodeGenerator& generator,
                                                 const clang::LangOptions& options);

/// Changes that optimisation made to accesses and that the module itself does not show.
struct Optimised {
  std::map<Position, std::set<Position>> merged; ///< LocationKeeper::merged
  std::set<Position> without_iteration;          ///< LocationKeeper::without_iteration
  std::map<Position, unsigned> trip_counts;      ///< UnrolledCopies::trip_counts
  std::vector<Iterations> iterations;            ///< UnrolledCopies::iterations
  AdjacentCopiesAt copies;                       ///< the result of CountAdjacentCopies
  std::set<Position> unrolled_by_nvcc;           ///< likewise
  AtomicsAt atomics;                             ///< the result of FindAtomics
  std::set<Position> waits;                      ///< the result of FindWaits
  std::vector<JoinedAccess> joined;              ///< the result of joined_accesses() for the optimised module

  /// Returns the iterations that a located access is a copy of.
  const Iterations& iterations_of(const llvm::DILocation& location) const {
    const unsigned discriminator = location.getDiscriminator();
    return iterations[discriminator < iterations.size() ? discriminator : 0];
  }
};

/// Runs LLVM's -O2 pipeline for NVPTX, without the vectorisers of arithmetic (which merge accesses that a GPU
/// still makes one by one), keeping the locations of accesses, and unrolling as much as -O3, which nvcc
/// surpasses, and more for local arrays. (-O3 adds argument promotion, which moves loads to the place of a
/// call; what it gains, inlining gains too.)
Optimised optimise(llvm::Module& module, const LoopsAround& written_in);

} // namespace warplens::analysis
