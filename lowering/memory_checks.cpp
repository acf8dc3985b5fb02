// Inserts the checks of --memcheck, --racecheck and --initcheck: a call of the runtime before each access,
// and for --racecheck after each fence. The runtime knows for --memcheck which memory is allocated; the
// compiler often knows the accessed variable, and the access must then stay within that variable.
//
// Only the compiler knows the line, the width and the variable of an access; guard pages alone would know an
// address, and only of accesses that miss a whole page. So the check is code, inserted before the optimiser
// could merge or remove faulty accesses.
#include "lowering/address_spaces.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "runtime/abi/memcheck.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

struct CheckedAccess {
  Instruction* instruction;
  Value* pointer;
  Value* bytes;
  Align alignment;
  cpu::AccessMode mode;
};

/// PTX requires vectors and words at multiples of their size. NVPTX splits accesses that are known to have a
/// smaller alignment.
Align required(Align known, std::uint64_t bytes) {
  constexpr std::uint64_t widest = 16;
  return std::min(known,
                  Align(std::min(widest, std::uint64_t{1} << Log2_64(std::max<std::uint64_t>(bytes, 1)))));
}

/// Returns whether the object is certainly invisible to other threads: a local or a parameter.
bool is_own(const Value* object) {
  if (const auto* argument = dyn_cast<Argument>(object))
    return argument->hasByValAttr();
  return isa<AllocaInst>(object);
}

/// Returns the name without the function or namespace that contains it.
std::string source_name(const GlobalVariable& variable) {
  const std::string name = demangle(variable.getName());
  const std::size_t scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

class CheckedFunction {
public:
  CheckedFunction(Function& function, cpu::Checks checks, bool only_copies)
      : function_(function), checks_(checks), layout_(function.getParent()->getDataLayout()) {
    for (Instruction& instruction : instructions(function))
      if (!only_copies || isa<MemTransferInst>(instruction))
        find(instruction);
  }

  void run() {
    for (Instruction* after : fences_) {
      IRBuilder<> builder(after);
      call_runtime(builder, "__warplens_cpu_check_fence", Effects::suspends, builder.getVoidTy(),
                   {current_lane(builder)});
    }
    for (const CheckedAccess& access : accesses_)
      check(access);
  }

private:
  void find(Instruction& instruction) {
    using cpu::AccessMode;
    if (auto* load = dyn_cast<LoadInst>(&instruction))
      add(instruction, load->getPointerOperand(), load->getType(), load->getAlign(),
          load->isAtomic()     ? AccessMode::atomic_read
          : load->isVolatile() ? AccessMode::volatile_read
                               : AccessMode::read);
    else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      if (checks_.has(cpu::Check::races) && isReleaseOrStronger(store->getOrdering()))
        fences_.push_back(store);
      add(instruction, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
          store->isAtomic()     ? AccessMode::atomic_write
          : store->isVolatile() ? AccessMode::volatile_write
                                : AccessMode::write);
    } else if (auto* fence = dyn_cast<FenceInst>(&instruction)) {
      if (checks_.has(cpu::Check::races) && fence->getSyncScopeID() == SyncScope::System)
        fences_.push_back(fence->getNextNode());
    } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
      add(instruction, update->getPointerOperand(), update->getValOperand()->getType(), Align(16),
          AccessMode::atomic);
    else if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction))
      add(instruction, swap->getPointerOperand(), swap->getNewValOperand()->getType(), Align(16),
          AccessMode::atomic);
    else if (auto* fill = dyn_cast<MemIntrinsic>(&instruction)) {
      const auto* length = dyn_cast<ConstantInt>(fill->getLength());
      const std::uint64_t bytes = length ? length->getZExtValue() : 16;
      accesses_.push_back({&instruction, fill->getRawDest(), fill->getLength(),
                           required(fill->getDestAlign().valueOrOne(), bytes), AccessMode::write});
      if (auto* copy = dyn_cast<MemTransferInst>(&instruction))
        accesses_.push_back({&instruction, copy->getRawSource(), copy->getLength(),
                             required(copy->getSourceAlign().valueOrOne(), bytes), AccessMode::read});
    }
  }

  void add(Instruction& instruction, Value* pointer, Type* type, Align alignment, cpu::AccessMode mode) {
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    accesses_.push_back({&instruction, pointer,
                         ConstantInt::get(Type::getInt64Ty(function_.getContext()), bytes),
                         required(alignment, bytes), mode});
  }

  void check(const CheckedAccess& access) {
    SmallVector<const Value*, 4> objects;
    getUnderlyingObjects(access.pointer, objects, nullptr, 0);
    if (all_of(objects, is_own))
      return;
    IRBuilder<> builder(access.instruction);
    if (any_of(objects, [&](const Value* object) { return matters_to_others(object); }))
      call_runtime(builder, "__warplens_cpu_check_use", Effects::suspends, builder.getVoidTy(),
                   {current_lane(builder), generic(builder, access.pointer),
                    builder.CreateZExtOrTrunc(access.bytes, builder.getInt64Ty()),
                    builder.getInt32(static_cast<std::uint32_t>(access.mode))});
    if (!checks_.has(cpu::Check::memory))
      return;
    SmallVector<Value*, 8> arguments{current_lane(builder), generic(builder, access.pointer),
                                     builder.CreateZExtOrTrunc(access.bytes, builder.getInt64Ty()),
                                     builder.getInt32(static_cast<std::uint32_t>(access.alignment.value())),
                                     builder.getInt32(static_cast<std::uint32_t>(access.mode))};
    const auto* object = objects.size() == 1 ? dyn_cast<GlobalVariable>(objects.front()) : nullptr;
    const bool bounded = object && !object->isDeclaration();
    if (bounded) {
      arguments.push_back(generic(builder, const_cast<GlobalVariable*>(object)));
      arguments.push_back(builder.getInt64(layout_.getTypeAllocSize(object->getValueType())));
      arguments.push_back(name_of(builder, *object));
    }
    call_runtime(builder, bounded ? "__warplens_cpu_check_within" : "__warplens_cpu_check", Effects::suspends,
                 builder.getVoidTy(), arguments);
  }

  /// Returns whether the race check or the initialisation check looks at the object: it may be written by
  /// other threads, and for the latter it is allocated, as variables are initialised from the begin.
  bool matters_to_others(const Value* object) const {
    if (is_own(object) || !(checks_.has(cpu::Check::races) || checks_.has(cpu::Check::initialisation)))
      return false;
    if (const auto* variable = dyn_cast<GlobalVariable>(object))
      return variable->getAddressSpace() == shared_space ||
             (checks_.has(cpu::Check::races) && !variable->isConstant());
    return true;
  }

  static Value* generic(IRBuilder<>& builder, Value* pointer) {
    return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
  }

  static Value* name_of(IRBuilder<>& builder, const GlobalVariable& variable) {
    const std::string space = variable.getAddressSpace() == shared_space ? "__shared__ " : "";
    return builder.CreateGlobalString(space + source_name(variable), "variable");
  }

  Function& function_;
  cpu::Checks checks_;
  const DataLayout& layout_;
  std::vector<CheckedAccess> accesses_;
  std::vector<Instruction*> fences_; ///< those after a fence, and stores that are one
};

void check(Module& module, cpu::Checks checks, bool only_copies) {
  for (Function& function : module)
    if (!function.isDeclaration())
      CheckedFunction(function, checks, only_copies).run();
}

/// Replaces the marks of asynchronous copies by calls of the runtime, or removes them.
void lower_copy_marks(Module& module, bool with_calls) {
  for (const char* name : {copy_function, copies_end_function, copies_wait_function}) {
    Function* mark = module.getFunction(name);
    if (!mark)
      continue;
    for (User* user : make_early_inc_range(mark->users())) {
      auto* call = cast<CallInst>(user);
      IRBuilder<> builder(call);
      Value* lane = with_calls ? current_lane(builder) : nullptr;
      if (with_calls && mark->getName() == copy_function)
        call_runtime(builder, "__warplens_cpu_check_use", Effects::suspends, builder.getVoidTy(),
                     {lane, call->getArgOperand(0), call->getArgOperand(1),
                      builder.getInt32(static_cast<std::uint32_t>(cpu::AccessMode::async_write))});
      else if (with_calls && mark->getName() == copies_end_function)
        call_runtime(builder, "__warplens_cpu_check_copies_end", Effects::suspends, builder.getVoidTy(),
                     {lane});
      else if (with_calls)
        call_runtime(builder, "__warplens_cpu_check_copies_wait", Effects::suspends, builder.getVoidTy(),
                     {lane, call->getArgOperand(0)});
      call->eraseFromParent();
    }
    mark->eraseFromParent();
  }
}

} // namespace

void check_copies(Module& module) {
  check(module, cpu::Checks(static_cast<std::uint32_t>(cpu::Check::memory)), true);
}

void add_tables(Module& module, std::vector<DeviceVariable>& variables) {
  std::set<const GlobalVariable*> known;
  for (const DeviceVariable& variable : variables)
    known.insert(variable.variable);
  for (GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == 0 && !variable.isDeclaration() &&
        !variable.getName().starts_with("llvm.") && !known.count(&variable))
      variables.push_back({variable.getName().str(), &variable, false});
}

void check_accesses(Module& module, std::vector<Kernel>& kernels, cpu::Checks checks) {
  if (checks.has(cpu::Check::memory))
    for (Kernel& kernel : kernels)
      for (const Argument& parameter : kernel.source->args())
        if (Type* type = parameter.getParamByValType())
          kernel.largest_struct_bytes = std::max(
              kernel.largest_struct_bytes, module.getDataLayout().getTypeAllocSize(type).getFixedValue());
  if (checks.has(cpu::Check::memory) || checks.has(cpu::Check::races) ||
      checks.has(cpu::Check::initialisation))
    check(module, checks, false);
  lower_copy_marks(module, checks.has(cpu::Check::races));
}

} // namespace warplens::lowering
