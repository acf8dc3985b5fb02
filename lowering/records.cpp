// Makes the tables of a lowered object (runtime/abi/abi.h), and the constructor that passes them to the
// runtime.
#include "lowering/debugging.h"
#include "lowering/device_link.h"
#include "lowering/lane_binding.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "runtime/abi/abi.h"
#include "runtime/abi/stack_frame.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <map>
#include <optional>

namespace warplens::lowering {

using namespace llvm;

namespace {

class Tables {
public:
  Tables(Module& module) : module_(module), builder_(module.getContext()) {}

  Constant* kernel(const Kernel& kernel, Constant* module) {
    static_assert(
        sizeof(cpu::KernelRecord) == 112 && offsetof(cpu::KernelRecord, key_count) == 48 &&
        offsetof(cpu::KernelRecord, max_block_threads) == 76 &&
        offsetof(cpu::KernelRecord, frame_bytes) == 80 && offsetof(cpu::KernelRecord, parameters) == 88 &&
        offsetof(cpu::KernelRecord, architecture) == 96 && offsetof(cpu::KernelRecord, refusal) == 104);
    return global(ConstantStruct::getAnon(
        {text(kernel.symbol), module, entry(kernel.untraced_block), entry(kernel.untraced_lane),
         entry(kernel.traced_lane), keys(kernel.keys), number(kernel.keys.size()),
         number(kernel.parameters.size()), number(kernel.static_shared_bytes), number(stack_bytes(kernel)),
         number(kernel.checks.bits()), number(kernel.in_lock_step), number(kernel.largest_struct_bytes),
         number(kernel.max_block_threads), builder_.getInt64(kernel.frame_bytes), parameters(kernel),
         builder_.getInt64(kernel.architecture),
         kernel.refusal.empty() ? ConstantPointerNull::get(builder_.getPtrTy()) : text(kernel.refusal)}));
  }

  Constant* variable(const DeviceVariable& variable, Constant* module) {
    static_assert(sizeof(cpu::VariableRecord) == 40 && offsetof(cpu::VariableRecord, is_constant) == 32);
    const auto bytes = bytes_of(variable);
    return global(
        ConstantStruct::getAnon({text(variable.symbol), module, variable.variable, builder_.getInt64(bytes),
                                 builder_.getInt64(variable.is_constant)}));
  }

  std::uint64_t bytes_of(const DeviceVariable& variable) const {
    return module_.getDataLayout().getTypeAllocSize(variable.variable->getValueType()).getFixedValue();
  }

  Constant* text(const std::string& string) {
    return global(ConstantDataArray::getString(module_.getContext(), string));
  }

private:
  Constant* keys(const std::vector<Key>& keys) {
    static_assert(sizeof(cpu::KeyRecord) == 16 && offsetof(cpu::KeyRecord, bytes) == 8 &&
                  offsetof(cpu::KeyRecord, kind) == 10);
    auto* type = StructType::get(builder_.getInt64Ty(), builder_.getInt16Ty(), builder_.getInt8Ty(),
                                 ArrayType::get(builder_.getInt8Ty(), 5));
    std::vector<Constant*> records;
    for (const Key& key : keys)
      records.push_back(ConstantStruct::get(type, {builder_.getInt64(key.site), builder_.getInt16(key.bytes),
                                                   builder_.getInt8(key.kind),
                                                   Constant::getNullValue(type->getElementType(3))}));
    return global(ConstantArray::get(ArrayType::get(type, records.size()), records));
  }

  Constant* parameters(const Kernel& kernel) {
    static_assert(sizeof(cpu::ParameterRecord) == 8);
    std::vector<std::uint32_t> numbers;
    for (const auto& parameter : kernel.parameters)
      numbers.insert(numbers.end(), {parameter.offset, parameter.bytes});
    return numbers.empty() ? entry(nullptr) : global(ConstantDataArray::get(module_.getContext(), numbers));
  }

  /// Returns the size of both variants' locals plus a margin for the compiler's spills; 0 where calls may
  /// nest without a known bound, or allocate stack memory as they run.
  std::uint64_t stack_bytes(const Kernel& kernel) {
    if (is_debugged(module_))
      return 0; // code as it was written has a place on the stack for nearly every value
    const auto bytes = deepest_frames(*kernel.traced_body);
    return bytes ? *bytes : 0;
  }

  /// Returns the frame size of the function and of the deepest of its calls together.
  std::optional<std::uint64_t> deepest_frames(const Function& function) {
    const auto known = deepest_frames_.find(&function);
    if (known != deepest_frames_.end())
      return known->second;
    return deepest_frames_[&function] = compute_deepest_frames(function);
  }

  std::optional<std::uint64_t> compute_deepest_frames(const Function& function) {
    // Functions that stay calls are the large ones.
    const std::uint64_t spills = std::max<std::uint64_t>(
        cpu::spill_bytes,
        function.hasFnAttribute(Attribute::NoInline) ? 4 * function.getInstructionCount() : 0);
    std::uint64_t bytes = 0, deepest = 0;
    for (const Instruction& instruction : instructions(function)) {
      if (const auto* local = dyn_cast<AllocaInst>(&instruction)) {
        const auto size = local->getAllocationSize(module_.getDataLayout());
        if (!size)
          return std::nullopt;
        bytes += size->getFixedValue();
      }
      const auto* call = dyn_cast<CallInst>(&instruction);
      if (!call || (call->getCalledFunction() && call->getCalledFunction()->isDeclaration()))
        continue;
      if (!call->getCalledFunction() || !call->getCalledFunction()->hasFnAttribute(takes_lane))
        return std::nullopt;
      const auto callee = deepest_frames(*call->getCalledFunction());
      if (!callee)
        return std::nullopt;
      deepest = std::max(deepest, *callee);
    }
    return bytes + deepest + spills;
  }

  Constant* number(std::uint64_t value) { return builder_.getInt32(static_cast<std::uint32_t>(value)); }
  Constant* entry(Function* function) {
    return function ? static_cast<Constant*>(function) : ConstantPointerNull::get(builder_.getPtrTy());
  }
  Constant* global(Constant* value) {
    return new GlobalVariable(module_, value->getType(), true, GlobalValue::PrivateLinkage, value);
  }

  Module& module_;
  IRBuilder<> builder_;
  std::map<const Function*, std::optional<std::uint64_t>> deepest_frames_;
};

/// Checks that kernels will be launched through the CPU back end's runtime.
void check_runtime(IRBuilder<>& builder, Module& module) {
  auto* registration = Function::Create(FunctionType::get(builder.getPtrTy(), {builder.getPtrTy()}, false),
                                        GlobalValue::ExternalWeakLinkage, "__cudaRegisterFatBinary", module);
  call_runtime(builder, "__warplens_cpu_check_runtime", Effects::acts, builder.getVoidTy(), {registration});
}

/// Makes the destructor that is called when a library is unloaded.
void add_unregistration(Module& module, int priority) {
  auto& context = module.getContext();
  auto* destructor = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                      GlobalValue::InternalLinkage, "warplens_unregister", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", destructor));
  call_runtime(builder, "__warplens_cpu_unregister", Effects::acts, builder.getVoidTy(), {destructor});
  builder.CreateRetVoid();
  appendToGlobalDtors(module, destructor, priority);
}

/// Puts all lowered code into one section, whose begin and end in the program the linker knows.
void register_code(IRBuilder<>& builder, Module& module) {
  constexpr char section[] = "warplens_lowered";
  for (Function& function : module)
    if (!function.isDeclaration() && &function != builder.GetInsertBlock()->getParent())
      function.setSection(section);
  const auto bound = [&](const char* prefix) {
    auto* symbol = new GlobalVariable(module, builder.getInt8Ty(), true, GlobalValue::ExternalWeakLinkage,
                                      nullptr, Twine(prefix) + section);
    symbol->setVisibility(GlobalValue::HiddenVisibility);
    return symbol;
  };
  call_runtime(builder, "__warplens_cpu_register_code", Effects::acts, builder.getVoidTy(),
               {bound("__start_"), bound("__stop_")});
}

} // namespace

void add_references(Module& module, const std::vector<std::string>& symbols) {
  if (symbols.empty())
    return;
  auto* byte = Type::getInt8Ty(module.getContext());
  std::vector<Constant*> addresses;
  for (const std::string& name : symbols) {
    auto* symbol = new GlobalVariable(module, byte, true, GlobalValue::ExternalLinkage, nullptr, name);
    symbol->setVisibility(GlobalValue::HiddenVisibility);
    addresses.push_back(symbol);
  }
  auto* type = ArrayType::get(PointerType::getUnqual(module.getContext()), addresses.size());
  appendToUsed(module, {new GlobalVariable(module, type, true, GlobalValue::InternalLinkage,
                                           ConstantArray::get(type, addresses), "warplens_objects")});
}

void add_records(Module& module, const std::vector<Kernel>& kernels,
                 const std::vector<DeviceVariable>& variables, const std::string& name) {
  auto& context = module.getContext();
  auto* constructor = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                       GlobalValue::InternalLinkage, "warplens_register", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
  Tables tables(module);
  Constant* module_name = tables.text(name);
  for (const Kernel& kernel : kernels)
    call_runtime(builder, "__warplens_cpu_register_kernel", Effects::acts, builder.getVoidTy(),
                 {tables.kernel(kernel, module_name)});
  for (const DeviceVariable& variable : variables) {
    if (!variable.variable
             ->hasHiddenVisibility()) // such a variable is private as soon as the parts are joined
      variable.variable->setLinkage(
          GlobalValue::InternalLinkage); // other files may have a variable of this name
    call_runtime(builder, "__warplens_cpu_register_variable", Effects::acts, builder.getVoidTy(),
                 {tables.variable(variable, module_name)});
    if (variable.is_constant)
      call_runtime(builder, "__warplens_cpu_register_constant", Effects::acts, builder.getVoidTy(),
                   {variable.variable, builder.getInt64(tables.bytes_of(variable))});
  }
  check_runtime(builder, module);
  register_code(builder, module);
  if (!kernels.empty() && kernels.front().checks.any())
    call_runtime(builder, "__warplens_cpu_enable_checks", Effects::acts, builder.getVoidTy(),
                 {builder.getInt32(kernels.front().checks.bits())});
  builder.CreateRetVoid();
  constexpr int before_the_programs_own = 101; // up to 100 are the implementation's
  appendToGlobalCtors(module, constructor, before_the_programs_own);
  add_unregistration(module, before_the_programs_own); // a destructor of this priority comes last
}

} // namespace warplens::lowering
