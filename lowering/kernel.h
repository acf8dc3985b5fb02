// What the stages of lowering hand on to each other.
#pragma once

#include "runtime/cpu/abi.h"
#include "runtime/cpu/checks.h"

#include <cstdint>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <string>
#include <vector>

namespace warplens::lowering {

/// What an order key stands for: an access, or (site 0) the end of a loop's body.
struct Key {
  std::uint64_t site = 0;
  std::uint16_t bytes = 0;
  std::uint8_t kind = 0;
};

/// A __global__ function on its way to its forms.
struct Kernel {
  std::string symbol;                  ///< mangled, as the host half registers it
  llvm::Function* source;              ///< the kernel itself, everything inlined; gone after make_forms
  unsigned architecture = 0;           ///< that it was compiled for (80 is sm_80); 0: not known
  std::uint64_t max_block_threads = 0; ///< by __launch_bounds__; 0: it has none
  std::uint64_t static_shared_bytes = 0;
  std::vector<cpu::ParameterRecord> parameters;
  std::vector<Key> keys;                    ///< what its order keys stand for
  cpu::Checks checks;                       ///< what its code checks
  bool in_lock_step = false;                ///< lanes of its warps wait for each other where a GPU would
  std::uint64_t largest_struct_bytes = 0;   ///< of the parameters passed by value, where it is checked
  llvm::Function* untraced_block = nullptr; ///< null: threads need stacks of their own
  std::uint64_t frame_bytes = 0;            ///< that untraced_block wants for each thread
  llvm::Function* untraced_lane = nullptr;
  llvm::Function* traced_body = nullptr; ///< inlined into traced_lane in the end
  llvm::Function* traced_lane = nullptr;
};

/// While it lives, a crash is reported as one in this kernel.
struct KernelTask : llvm::PrettyStackTraceFormat {
  explicit KernelTask(const std::string& symbol)
      : PrettyStackTraceFormat("lowering kernel %s", llvm::demangle(symbol).c_str()) {}
};

/// A function that stays a call within kernels (inlining.cpp). Its keys count from the first one that its
/// caller gives it, so that each call has keys of its own, as if it were inlined.
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
