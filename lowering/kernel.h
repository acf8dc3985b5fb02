// What the stages of lowering hand on to each other.
#pragma once

#include "runtime/cpu/abi.h"

#include <cstdint>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <string>
#include <vector>

namespace warplens::lowering {

/// A __global__ function on its way to its forms.
struct Kernel {
  std::string symbol;     ///< mangled, as the host half registers it
  llvm::Function* source; ///< the kernel itself, everything inlined; gone after make_forms
  std::uint64_t static_shared_bytes = 0;
  std::vector<cpu::ParameterRecord> parameters;
  bool checked = false;                     ///< its accesses are, for --memcheck
  std::uint64_t largest_struct_bytes = 0;   ///< of the parameters passed by value, where it is checked
  llvm::Function* untraced_block = nullptr; ///< null: threads need stacks of their own
  std::uint64_t frame_bytes = 0;            ///< that untraced_block wants for each thread
  llvm::Function* untraced_lane = nullptr;
  llvm::Function* traced_body = nullptr; ///< inlined into traced_lane in the end
  llvm::Function* traced_lane = nullptr;
};

/// A __device__ or __constant__ variable.
struct DeviceVariable {
  std::string symbol;
  llvm::GlobalVariable* variable;
  bool is_constant;
};

/// What an order key stands for: an access, or (site 0) the end of a loop's body.
struct Key {
  std::uint64_t site = 0;
  std::uint16_t bytes = 0;
  std::uint8_t kind = 0;
};

} // namespace warplens::lowering
