// Lowers functions that device code calls without a definition: libdevice's mathematics (__nv_…, libdevice
// User's Guide) and the few system calls of device code (CUDA C++ Programming Guide: formatted output,
// assertion, dynamic global memory allocation).
#include "lowering/defined_arithmetic.h"
#include "lowering/places.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// Returns the LLVM intrinsic of the argument's type that computes __nv_`name`.
Intrinsic::ID same_type_intrinsic(StringRef name) {
  static const std::map<StringRef, Intrinsic::ID> table = {
      {"fabs", Intrinsic::fabs},
      {"fabsf", Intrinsic::fabs},
      {"sqrt", Intrinsic::sqrt},
      {"sqrtf", Intrinsic::sqrt},
      {"dsqrt_rn", Intrinsic::sqrt},
      {"fsqrt_rn", Intrinsic::sqrt},
      {"floor", Intrinsic::floor},
      {"floorf", Intrinsic::floor},
      {"ceil", Intrinsic::ceil},
      {"ceilf", Intrinsic::ceil},
      {"trunc", Intrinsic::trunc},
      {"truncf", Intrinsic::trunc},
      {"rint", Intrinsic::rint},
      {"rintf", Intrinsic::rint},
      {"nearbyint", Intrinsic::nearbyint},
      {"nearbyintf", Intrinsic::nearbyint},
      {"fma", Intrinsic::fma},
      {"fmaf", Intrinsic::fma},
      {"fma_rn", Intrinsic::fma},
      {"fmaf_rn", Intrinsic::fma},
      {"copysign", Intrinsic::copysign},
      {"copysignf", Intrinsic::copysign},
      {"sin", Intrinsic::sin},
      {"sinf", Intrinsic::sin},
      {"fast_sinf", Intrinsic::sin},
      {"cos", Intrinsic::cos},
      {"cosf", Intrinsic::cos},
      {"fast_cosf", Intrinsic::cos},
      {"exp", Intrinsic::exp},
      {"expf", Intrinsic::exp},
      {"fast_expf", Intrinsic::exp},
      {"exp2", Intrinsic::exp2},
      {"exp2f", Intrinsic::exp2},
      {"log", Intrinsic::log},
      {"logf", Intrinsic::log},
      {"fast_logf", Intrinsic::log},
      {"log2", Intrinsic::log2},
      {"log2f", Intrinsic::log2},
      {"fast_log2f", Intrinsic::log2},
      {"log10", Intrinsic::log10},
      {"log10f", Intrinsic::log10},
      {"fast_log10f", Intrinsic::log10},
      {"pow", Intrinsic::pow},
      {"powf", Intrinsic::pow},
      {"fast_powf", Intrinsic::pow},
      {"min", Intrinsic::smin},
      {"llmin", Intrinsic::smin},
      {"max", Intrinsic::smax},
      {"llmax", Intrinsic::smax},
      {"umin", Intrinsic::umin},
      {"ullmin", Intrinsic::umin},
      {"umax", Intrinsic::umax},
      {"ullmax", Intrinsic::umax},
      {"brev", Intrinsic::bitreverse},
      {"brevll", Intrinsic::bitreverse},
  };
  const auto found = table.find(name);
  return found == table.end() ? Intrinsic::not_intrinsic : found->second;
}

/// Returns the value of a function that takes a few instructions; null for all others.
Value* few_instructions(IRBuilder<>& b, StringRef name, CallInst& call) {
  const SmallVector<Value*, 4> a(call.args());
  Type* type = call.getType();
  const auto integer_of_counts = [&](Value* count) { return b.CreateZExtOrTrunc(count, type); };
  if (name == "fadd_rn" || name == "dadd_rn")
    return b.CreateFAdd(a[0], a[1]);
  if (name == "fsub_rn" || name == "dsub_rn")
    return b.CreateFSub(a[0], a[1]);
  if (name == "fmul_rn" || name == "dmul_rn")
    return b.CreateFMul(a[0], a[1]);
  if (name == "fdiv_rn" || name == "ddiv_rn" || name == "fast_fdividef")
    return b.CreateFDiv(a[0], a[1]);
  if (name == "frcp_rn" || name == "drcp_rn")
    return b.CreateFDiv(ConstantFP::get(type, 1.0), a[0]);
  if (name == "rsqrt" || name == "rsqrtf")
    return b.CreateFDiv(ConstantFP::get(type, 1.0), b.CreateUnaryIntrinsic(Intrinsic::sqrt, a[0]));
  if (name == "fminf" || name == "fmin" || name == "fmaxf" || name == "fmax")
    return pick(b, name.starts_with("fmin"), a[0], a[1]);
  if (name == "abs" || name == "llabs")
    return b.CreateBinaryIntrinsic(Intrinsic::abs, a[0], b.getFalse());
  if (name == "popc" || name == "popcll")
    return integer_of_counts(b.CreateUnaryIntrinsic(Intrinsic::ctpop, a[0]));
  if (name == "clz" || name == "clzll")
    return integer_of_counts(b.CreateBinaryIntrinsic(Intrinsic::ctlz, a[0], b.getFalse()));
  if (name == "ffs" || name == "ffsll") { // 1 + the position of the lowest set bit; 0 if there is none
    Value* place = integer_of_counts(b.CreateBinaryIntrinsic(Intrinsic::cttz, a[0], b.getFalse()));
    Value* is_zero = b.CreateICmpEQ(a[0], ConstantInt::get(a[0]->getType(), 0));
    return b.CreateSelect(is_zero, ConstantInt::get(type, 0), b.CreateAdd(place, ConstantInt::get(type, 1)));
  }
  if (name == "mulhi" || name == "umulhi" || name == "mul64hi" || name == "umul64hi") {
    const unsigned bits = type->getIntegerBitWidth();
    const auto widen = [&](Value* value) {
      return name.starts_with("u") ? b.CreateZExt(value, b.getIntNTy(2 * bits))
                                   : b.CreateSExt(value, b.getIntNTy(2 * bits));
    };
    return b.CreateTrunc(b.CreateLShr(b.CreateMul(widen(a[0]), widen(a[1])), bits), type);
  }
  if (name == "float_as_int" || name == "float_as_uint" || name == "int_as_float" ||
      name == "uint_as_float" || name == "double_as_longlong" || name == "longlong_as_double")
    return b.CreateBitCast(a[0], type);
  if (name == "int2float_rn" || name == "int2double_rn" || name == "ll2float_rn" || name == "ll2double_rn")
    return b.CreateSIToFP(a[0], type);
  if (name == "uint2float_rn" || name == "uint2double_rn" || name == "ull2float_rn" ||
      name == "ull2double_rn")
    return b.CreateUIToFP(a[0], type);
  if (name == "double2float_rn")
    return b.CreateFPTrunc(a[0], type);
  return nullptr;
}

const StringSet<>& provided_by_the_runtime() {
  static const StringSet<> names = {
#define DEVICE_FUNCTION(name) #name,
#include "runtime/abi/device_functions.def"
#undef DEVICE_FUNCTION
  };
  return names;
}

constexpr char assertion[] = "__warplens_cpu_assertfail";

/// System functions, and the names that the runtime gives them.
const std::map<StringRef, StringRef>& system_functions() {
  static const std::map<StringRef, StringRef> names = {
      {"vprintf", "__warplens_cpu_vprintf"}, {"__assertfail", assertion},
      {"malloc", "__warplens_cpu_malloc"},   {"cudaGraphSetConditional", "__warplens_cpu_set_condition"},
      {"free", "__warplens_cpu_free"},       {"__cxa_pure_virtual", "__warplens_cpu_pure_virtual"}};
  return names;
}

bool takes_pointer(const Function& function) {
  return any_of(function.args(), [](const Argument& argument) { return argument.getType()->isPointerTy(); });
}

/// Turns C++'s allocations into C's, as nvcc does: a size that `delete` has is not needed.
void lower_allocations(Module& module) {
  for (const StringRef name : {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}) {
    Function* const function = module.getFunction(name);
    if (!function || !function->isDeclaration())
      continue;
    Type* const result = function->getReturnType();
    const FunctionCallee c = module.getOrInsertFunction(
        name.starts_with("_Zn") ? "malloc" : "free",
        FunctionType::get(result, {function->getFunctionType()->getParamType(0)}, false));
    for (User* user : make_early_inc_range(function->users()))
      if (auto* call = dyn_cast<CallInst>(user); call && call->getCalledOperand() == function) {
        CallInst* const made = IRBuilder<>(call).CreateCall(c, {call->getArgOperand(0)});
        call->replaceAllUsesWith(made);
        call->eraseFromParent();
      }
  }
}

/// Mathematical functions access no memory but that of their arguments.
void assume_pure(Function& function) {
  function.removeFnAttr(Attribute::Convergent);
  function.setDoesNotThrow();
  function.setWillReturn();
  function.addFnAttr(Attribute::NoCallback);
  function.setMemoryEffects(takes_pointer(function) ? MemoryEffects::argMemOnly() : MemoryEffects::none());
}

/// An assertion's message names the thread; in code that runs without fibers the runtime does not know it.
void enter_lane(CallInst& call) {
  IRBuilder<> builder(&call);
  call_runtime(builder, "__warplens_cpu_enter_lane", Effects::acts, builder.getVoidTy(),
               {current_lane(builder)});
}

/// Replaces the call by instructions if the function has any.
bool expand(CallInst& call, StringRef name) {
  IRBuilder<> builder(&call);
  Value* value = nullptr;
  const bool same_types =
      all_of(call.args(), [&](const Use& use) { return use->getType() == call.getType(); });
  if (const auto intrinsic = same_type_intrinsic(name); intrinsic && same_types) {
    SmallVector<Value*, 4> arguments(call.args());
    value = builder.CreateIntrinsic(intrinsic, {call.getType()}, arguments);
  } else {
    value = few_instructions(builder, name, call);
  }
  if (!value)
    return false;
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
  return true;
}

} // namespace

Expected<void> lower_device_functions(Module& module) {
  lower_allocations(module);
  for (const auto& [name, runtime_name] : system_functions())
    if (Function* function = module.getFunction(name); function && function->isDeclaration()) {
      function->setName(runtime_name);
      function->removeFnAttr(Attribute::Convergent);
    }
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction();
            callee && callee->isDeclaration() && !callee->isIntrinsic())
          calls.push_back(call);
  for (CallInst* call : calls) {
    Function& callee = *call->getCalledFunction();
    StringRef name = callee.getName();
    if (name == assertion)
      enter_lane(*call);
    if (name.starts_with("__warplens_"))
      continue;
    if (!name.consume_front("__nv_") || !provided_by_the_runtime().contains(callee.getName()))
      return fail(
          "{}: calls {}, which is defined neither in this file nor in the CPU back end (where another file "
          "defines it, compile both with -rdc=true)",
          place_of(*call), demangle(callee.getName()));
    call->removeFnAttr(Attribute::Convergent);
    if (!expand(*call, name))
      assume_pure(callee);
  }
  for (Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !function.getName().starts_with("__warplens_") &&
        !provided_by_the_runtime().contains(function.getName()))
      return fail("{}: uses the address of {}, which is defined neither there nor in the CPU back end",
                  module.getSourceFileName(), demangle(function.getName()));
  return {};
}

} // namespace warplens::lowering
