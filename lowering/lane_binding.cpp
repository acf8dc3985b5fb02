#include "lowering/lane_binding.h"

#include "lowering/intrinsics.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "runtime/abi/abi.h"

#include <functional>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <map>

namespace warplens::lowering {

using namespace llvm;

static Value* load_unchanging(IRBuilderBase& builder, Type* type, Value* base, std::size_t offset) {
  auto* load =
      builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
  return load;
}

Value* load_block_field(IRBuilderBase& builder, Value* block, std::size_t offset) {
  return load_unchanging(builder, builder.getInt32Ty(), block, offset);
}

Value* load_block_pointer(IRBuilderBase& builder, Value* block, std::size_t offset) {
  return load_unchanging(builder, builder.getPtrTy(), block, offset);
}

bool is_lane_value(StringRef function) {
  return function == lane_function || function == shared_function || function == dynamic_shared_function ||
         is_special_register(function);
}

namespace {

/// Materialises the special registers that a function reads, each once, at the function's begin.
class Registers {
public:
  explicit Registers(Function& function)
      : builder_(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca()),
        lane_(function.hasFnAttribute(takes_lane)
                  ? static_cast<Value*>(function.getArg(function.arg_size() - 1))
                  : call_runtime(builder_, runtime_lane, Effects::none, builder_.getPtrTy(), {})) {
    block_ = builder_.CreateLoad(builder_.getPtrTy(), lane_field(offsetof(cpu::LaneContext, block)));
  }

  Value* value(StringRef name) {
    Value*& value = made_[name.str()];
    if (!value)
      value = make(name);
    return value;
  }

  static constexpr char runtime_lane[] =
      "__warplens_cpu_running_lane"; ///< renamed once all placeholders are removed

private:
  Value* lane_field(std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), lane_, offset);
  }
  Value* lane_number(std::size_t offset) {
    return builder_.CreateLoad(builder_.getInt32Ty(), lane_field(offset));
  }
  Value* block_number(std::size_t offset) { return load_block_field(builder_, block_, offset); }
  Value* linear() { return lane_number(offsetof(cpu::LaneContext, linear_thread)); }
  Value* lane_bit() { return builder_.CreateShl(builder_.getInt32(1), lane_id()); }
  Value* lane_id() { return builder_.CreateAnd(linear(), 31); }
  Value* below() { return builder_.CreateSub(lane_bit(), builder_.getInt32(1)); }

  Value* make(StringRef name) {
    if (name == lane_function)
      return lane_;
    if (name == shared_function)
      return load_block_pointer(builder_, block_, offsetof(cpu::BlockContext, shared));
    if (name == dynamic_shared_function)
      return load_block_pointer(builder_, block_, offsetof(cpu::BlockContext, dynamic_shared));
    name.consume_front("llvm.nvvm.read.ptx.sreg.");
    const auto [reg, part] = name.split('.');
    const std::size_t dimension = 4 * (part.empty() ? 0 : part[0] - 'x');
    if (reg == "tid")
      return lane_number(offsetof(cpu::LaneContext, thread_index) + dimension);
    if (reg == "ntid")
      return block_number(offsetof(cpu::BlockContext, block_dim) + dimension);
    if (reg == "ctaid")
      return block_number(offsetof(cpu::BlockContext, block_index) + dimension);
    if (reg == "nctaid")
      return block_number(offsetof(cpu::BlockContext, grid_dim) + dimension);
    if (reg == "laneid")
      return lane_id();
    if (reg == "warpid")
      return builder_.CreateLShr(linear(), 5);
    if (reg == "warpsize")
      return builder_.getInt32(32);
    if (reg == "smid") // programs see one processor
      return builder_.getInt32(0);
    if (reg == "nsmid")
      return builder_.getInt32(1);
    if (part == "eq")
      return lane_bit();
    if (part == "lt")
      return below();
    if (part == "le")
      return builder_.CreateOr(below(), lane_bit());
    if (part == "gt")
      return builder_.CreateNot(builder_.CreateOr(below(), lane_bit()));
    return builder_.CreateNot(below()); // ge
  }

  IRBuilder<> builder_;
  Value* lane_;
  Value* block_;
  std::map<std::string, Value*> made_;
};

} // namespace

bool is_special_register(StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return false;
  const auto [reg, part] = name.split('.');
  if (reg == "tid" || reg == "ntid" || reg == "ctaid" || reg == "nctaid")
    return part == "x" || part == "y" || part == "z";
  return reg == "laneid" || reg == "warpid" || reg == "warpsize" || reg == "smid" || reg == "nsmid" ||
         reg == "lanemask";
}

void bind_lanes(Module& module) {
  for (Function& function : module) {
    std::vector<CallInst*> requests;
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction(); callee && is_lane_value(callee->getName()))
          requests.push_back(call);
    if (requests.empty())
      continue;
    Registers registers(function);
    for (CallInst* call : requests)
      call->replaceAllUsesWith(registers.value(call->getCalledFunction()->getName()));
    for (CallInst* call : requests)
      call->eraseFromParent();
  }
  if (Function* placeholder = module.getFunction(lane_function))
    placeholder->eraseFromParent();
  if (Function* running = module.getFunction(Registers::runtime_lane))
    running->setName(lane_function);
}

} // namespace warplens::lowering
