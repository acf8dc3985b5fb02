#include "lowering/parameters.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace warplens::lowering {

using namespace llvm;

/// Calls `visit` for each use that is not only another name for the place, until `visit` returns false.
template <class Visit> static bool for_each_access(Value& pointer, const Visit& visit) {
  return all_of(pointer.uses(), [&](Use& use) {
    auto* user = cast<Instruction>(use.getUser());
    return isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user) ? for_each_access(*user, visit)
                                                                        : visit(*user, use.getOperandNo());
  });
}

static bool is_only_read(Argument& parameter) {
  return for_each_access(parameter, [](const Instruction& user, unsigned operand) {
    return isa<LoadInst>(user) || (isa<MemTransferInst>(user) && operand == 1);
  });
}

void share_parameters(Function& body) {
  auto& context = body.getContext();
  for (Argument& parameter : body.args()) {
    if (!parameter.hasByValAttr() || !is_only_read(parameter))
      continue;
    for_each_access(parameter, [&](Instruction& user, unsigned) {
      if (isa<LoadInst>(user))
        user.setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
      return true;
    });
    Type* type = parameter.getParamByValType();
    parameter.removeAttr(Attribute::ByVal);
    parameter.addAttr(Attribute::getWithByRefType(context, type));
    parameter.addAttr(Attribute::NoAlias);
    parameter.addAttr(Attribute::ReadOnly);
  }
}

SmallVector<Value*, 16> load_parameters(IRBuilderBase& builder, Value* arguments, Function& body) {
  SmallVector<Value*, 16> values;
  const DataLayout& layout = body.getParent()->getDataLayout();
  for (Argument& parameter : body.args()) {
    if (parameter.getArgNo() + 1 == body.arg_size())
      break;
    auto* slot = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), arguments, parameter.getArgNo()));
    if (Type* type = parameter.getPointeeInMemoryValueType()) {
      const auto promise = [&](unsigned kind, std::uint64_t number) {
        slot->setMetadata(
            kind, MDNode::get(builder.getContext(), ConstantAsMetadata::get(builder.getInt64(number))));
      };
      promise(LLVMContext::MD_dereferenceable, layout.getTypeAllocSize(type));
      promise(LLVMContext::MD_align, parameter.getParamAlign().valueOrOne().value());
      slot->setMetadata(LLVMContext::MD_noundef, MDNode::get(builder.getContext(), {}));
      values.push_back(slot);
    } else if (parameter.getType()->isIntegerTy(1)) {
      values.push_back(
          builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), slot), parameter.getType()));
    } else {
      values.push_back(builder.CreateLoad(parameter.getType(), slot));
    }
  }
  return values;
}

} // namespace warplens::lowering
