// Turns inline PTX into IR, instruction by instruction (lowering/ptx/). An instruction that is not known
// there is refused with its text.
#include "lowering/places.h"
#include "lowering/ptx/instructions.h"
#include "lowering/refused_code.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "lowering/unsupported.h"

#include <algorithm>
#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace warplens::lowering {

using namespace llvm;

namespace {

Value* as_bits(IRBuilder<>& builder, Value* value) {
  if (value->getType()->isPointerTy())
    return builder.CreatePtrToInt(value, builder.getInt64Ty());
  return ptx::to_bits(builder, value);
}

Value* as_type(IRBuilder<>& builder, Value* bits, Type* type) {
  return type->isPointerTy() ? builder.CreateIntToPtr(bits, type) : builder.CreateBitCast(bits, type);
}

std::string operand_name(std::size_t number) {
  return fmt::format("${}", number);
}

/// Binds $0, $1, …: outputs, then inputs. Returns false for a constraint that is neither a register nor a
/// number.
bool bind_operands(ptx::Block& block, const InlineAsm& assembly, CallInst& call,
                   std::vector<Type*>& outputs) {
  IRBuilder<>& b = block.builder();
  if (auto* several = dyn_cast<StructType>(call.getType()))
    outputs.assign(several->element_begin(), several->element_end());
  else if (!call.getType()->isVoidTy())
    outputs.push_back(call.getType());
  std::size_t number = 0;
  for (Type* type : outputs) {
    const unsigned bits = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits().getFixedValue();
    block.set(operand_name(number++), bits, PoisonValue::get(b.getIntNTy(bits)));
  }
  unsigned argument = 0;
  for (const InlineAsm::ConstraintInfo& constraint : assembly.ParseConstraints()) {
    if (constraint.isIndirect)
      return false;
    if (constraint.Type != InlineAsm::isInput)
      continue;
    Value* bits = as_bits(b, call.getArgOperand(argument++));
    block.set(operand_name(number++), bits->getType()->getIntegerBitWidth(), bits);
    if (constraint.hasMatchingInput() ||
        !isdigit(static_cast<unsigned char>(constraint.Codes.front().front())))
      continue;
    // A "+r" output begins with the input's value.
    block.set(operand_name(std::stoul(constraint.Codes.front())), bits->getType()->getIntegerBitWidth(),
              bits);
  }
  return true;
}

const ptx::Rule* ptx_rule_for(StringRef opcode) {
  for (const ptx::Rules* rules :
       {&ptx::integer_rules(), &ptx::floating_rules(), &ptx::conversion_rules(), &ptx::memory_rules(),
        &ptx::asynchronous_rules(), &ptx::texture_rules(), &ptx::thread_rules(), &ptx::video_rules()})
    if (const auto found = rules->find(opcode); found != rules->end())
      return &found->second;
  return nullptr;
}

bool emit(ptx::Block& block, const ptx::Instruction& instruction) {
  const ptx::Rule* rule = ptx_rule_for(instruction.opcode);
  ptx::Modifiers modifiers(instruction.modifiers);
  return rule && (*rule)(block, modifiers, instruction.operands) && modifiers.empty();
}

/// Emits `@p instruction` in a branch of its own; registers that it writes keep their values on the other
/// path.
bool emit_guarded(ptx::Block& block, const ptx::Instruction& instruction, CallInst& call) {
  IRBuilder<>& b = block.builder();
  Value* condition = block.read({.name = instruction.guard, .negated = instruction.guard_negated}, 1);
  if (!condition)
    return false;
  const auto before = block.values();
  Value* carry = block.carry;
  BasicBlock* skipping = call.getParent();
  llvm::Instruction* end = SplitBlockAndInsertIfThen(condition, call.getIterator(), false);
  b.SetInsertPoint(end);
  if (!emit(block, instruction) || block.carry != carry)
    return false;
  BasicBlock* taken = b.GetInsertBlock();
  b.SetInsertPoint(&call);
  const auto after = block.values();
  for (const auto& [name, content] : after) {
    Value* old = before.at(name).value;
    if (content.value == old)
      continue;
    PHINode* merged = b.CreatePHI(old->getType(), 2);
    merged->addIncoming(old, skipping);
    merged->addIncoming(content.value, taken);
    block.set(name, content.bits, merged);
  }
  return true;
}

Value* result(ptx::Block& block, CallInst& call, const std::vector<Type*>& outputs) {
  IRBuilder<>& b = block.builder();
  if (!call.getType()->isStructTy())
    return as_type(b, block.value(operand_name(0)), call.getType());
  Value* all = PoisonValue::get(call.getType());
  for (unsigned i = 0; i < outputs.size(); ++i)
    all = b.CreateInsertValue(all, as_type(b, block.value(operand_name(i)), outputs[i]), i);
  return all;
}

void lower_statement(CallInst& call) {
  const auto& assembly = *cast<InlineAsm>(call.getCalledOperand());
  const auto refuse = [&](const std::string& what) {
    // A user who wrote no inline PTX has called a function that consists of it.
    const auto function = system_function_of(call);
    mark_refused(call, fmt::format("{}: {} is not supported on the CPU back end: {}", place_of(call),
                                   function ? *function + ", which is inline PTX," : "inline PTX", what));
  };
  // The rewriter puts this in the place of the body of a function that Clang refuses.
  constexpr std::string_view refused_function = "warplens.refused ";
  if (std::string text = assembly.getAsmString(); text.starts_with(refused_function)) {
    text.erase(0, refused_function.size());
    return mark_refused(call, text);
  }
  IRBuilder<> builder(&call);
  const auto body = warplens::ptx::parse_body(assembly.getAsmString());
  if (!body) {
    std::string line = assembly.getAsmString();
    std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return refuse(line + " (" + body.error().message + ")");
  }
  if (body->instructions.empty() &&
      call.getType()->isVoidTy()) { // an optimisation barrier only: it stays one
    builder.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
    call.eraseFromParent();
    return;
  }
  ptx::Block block(builder, *body);
  std::vector<Type*> outputs;
  if (!bind_operands(block, assembly, call, outputs))
    return refuse("an operand in memory");
  for (const ptx::Instruction& instruction : body->instructions)
    if (!(instruction.guard.empty() ? emit(block, instruction) : emit_guarded(block, instruction, call)))
      return refuse(instruction.text + explanation(instruction.text));
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(result(block, call, outputs));
  call.eraseFromParent();
}

} // namespace

void lower_inline_assembly(Module& module) {
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst* call : calls)
    lower_statement(*call);
}

} // namespace warplens::lowering
