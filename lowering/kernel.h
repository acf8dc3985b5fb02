// The data that the stages of lowering pass on to each other.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/abi/checks.h"

#include <cstdint>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <string>
#include <vector>

namespace warplens::lowering {

/// Describes an order key: that of an access, or (site 0) of the end of a loop's body.
struct Key {
  std::uint64_t site = 0;
  std::uint16_t bytes = 0;
  std::uint8_t kind = 0;
};

/// A __global__ function between the stages of lowering.
struct Kernel {
  std::string symbol;                  ///< mangled, as the host half registers it
  llvm::Function* source;              ///< the kernel itself, everything inlined; removed by make_variants
  unsigned architecture = 0;           ///< the architecture it was compiled for (80 is sm_80); 0: unknown
  std::string refusal;                 ///< why it is not lowered; empty: it is
  std::uint64_t max_block_threads = 0; ///< the bound of __launch_bounds__; 0: none
  std::uint64_t static_shared_bytes = 0;
  std::vector<cpu::ParameterRecord> parameters;
  std::vector<Key> keys;                    ///< indexed by order key
  cpu::Checks checks;                       ///< the checks that its code makes
  bool in_lock_step = false;                ///< lanes of its warps wait for each other where a GPU would
  std::uint64_t largest_struct_bytes = 0;   ///< the largest parameter passed by value; set for checks only
  llvm::Function* untraced_block = nullptr; ///< null: threads need stacks of their own
  std::uint64_t frame_bytes = 0;            ///< the frame size of each thread in untraced_block
  llvm::Function* untraced_lane = nullptr;
  llvm::Function* traced_body = nullptr; ///< inlined into traced_lane in the end
  llvm::Function* traced_lane = nullptr;
};

/// Reports a crash during its lifetime as one in this kernel.
struct KernelTask : llvm::PrettyStackTraceFormat {
  explicit KernelTask(const std::string& symbol)
      : PrettyStackTraceFormat("lowering kernel %s", llvm::demangle(symbol).c_str()) {}
};

/// A function that stays a call within kernels (inlining.cpp). Its keys count from the first one that its
/// caller passes, so that each call has its own keys, as if it were inlined.
struct KeptFunction {
  std::string symbol;
  std::vector<Key> keys;
};

/// A __device__ or __constant__ variable.
struct DeviceVariable {
  std::string symbol;
  llvm::GlobalVariable* variable;
  bool is_constant;
};

} // namespace warplens::lowering
