#include "lowering/debugging.h"

#include "lowering/places.h"

#include <array>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace warplens::lowering {

using namespace llvm;

namespace {

const Align any_type_alignment(16);
constexpr char for_debuggers[] = "warplens.for_debuggers"; ///< metadata of memory that only debuggers read
constexpr char prefix_of_rewriter[] = "warplens_";         ///< of the variables that it adds to functions

/// Allocates memory that only debuggers read. All stores to it are volatile, so that no pass removes them.
AllocaInst* allocate(Function& function, Type* type) {
  IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
  AllocaInst* memory = builder.CreateAlloca(type);
  memory->setAlignment(any_type_alignment);
  memory->setMetadata(for_debuggers, MDNode::get(function.getContext(), {}));
  return memory;
}

struct BuiltIn {
  const char* name;
  const char* type;
  std::array<Intrinsic::ID, 3> members;
};

constexpr std::array built_ins{
    BuiltIn{"threadIdx",
            "uint3",
            {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
             Intrinsic::nvvm_read_ptx_sreg_tid_z}},
    BuiltIn{"blockIdx",
            "uint3",
            {Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
             Intrinsic::nvvm_read_ptx_sreg_ctaid_z}},
    BuiltIn{"blockDim",
            "dim3",
            {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
             Intrinsic::nvvm_read_ptx_sreg_ntid_z}},
    BuiltIn{"gridDim",
            "dim3",
            {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
             Intrinsic::nvvm_read_ptx_sreg_nctaid_z}},
};

/// Describes a struct of three unsigned numbers `x`, `y` and `z`.
DIType* triple(DIBuilder& description, DIFile* file, StringRef name) {
  DIType* number = description.createBasicType("unsigned int", 32, dwarf::DW_ATE_unsigned);
  SmallVector<Metadata*, 3> members;
  for (const char* member : {"x", "y", "z"})
    members.push_back(description.createMemberType(file, member, file, 0, 32, 32, 32 * members.size(),
                                                   DINode::FlagZero, number));
  return description.createStructType(file, name, file, 0, 96, 32, DINode::FlagZero, nullptr,
                                      description.getOrCreateArray(members));
}

/// Returns where a function's own code begins, behind its locals.
Instruction* begin_of(Function& function) {
  return &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
}

/// Describes a local of the function, in memory at `storage`, and visible everywhere in it.
void describe_local(DIBuilder& description, Function& function, StringRef name, DIType* type, unsigned line,
                    Value* storage, DIExpression* expression) {
  DISubprogram* scope = function.getSubprogram();
  auto* variable = description.createAutoVariable(scope, name, scope->getFile(), line, type, true);
  description.insertDeclare(storage, variable, expression,
                            DILocation::get(function.getContext(), line, 0, scope), begin_of(function));
}

/// A variable in one inlined call of the function that declares it.
using Instance = std::pair<DILocalVariable*, DILocation*>;

Instance instance_of(const DbgVariableRecord& record) {
  return {record.getVariable(), record.getDebugLoc().getInlinedAt()};
}

/// Returns the part of the variable that the record's value is, in bits; nothing where it is not the value
/// itself.
std::optional<DIExpression::FragmentInfo> part_of(const DbgVariableRecord& record,
                                                  std::uint64_t variable_bits) {
  const DIExpression* expression = record.getExpression();
  const auto fragment = expression->getFragmentInfo();
  const bool is_plain = expression->getNumElements() == (fragment ? 3U : 0U);
  if (!is_plain || record.isKillLocation() || record.hasArgList())
    return std::nullopt;
  return fragment.value_or(DIExpression::FragmentInfo{variable_bits, 0});
}

/// Stores the record's value in the variable's memory.
void store_value(const DbgVariableRecord& record, AllocaInst& memory, std::uint64_t variable_bits) {
  const auto part = part_of(record, variable_bits);
  if (!part)
    return;
  Value* value = record.getVariableLocationOp(0);
  const DataLayout& layout = memory.getModule()->getDataLayout();
  const std::uint64_t bytes = layout.getTypeStoreSize(value->getType()).getFixedValue();
  if (part->OffsetInBits % 8 || 8 * bytes > part->SizeInBits)
    return;
  auto* block = const_cast<BasicBlock*>(record.getParent());
  Instruction* at = const_cast<Instruction*>(record.getInstruction());
  if (isa<PHINode>(at))
    at = &*block->getFirstInsertionPt();
  IRBuilder<> builder(at);
  // The store is part of a neighbour's line, so that a debugger that steps by lines does not stop at it.
  // Parameters are stored before the function's first line.
  const Instruction* before = at->getPrevNode();
  const bool is_first = !before || isa<PHINode>(before);
  if (!is_first)
    builder.SetCurrentDebugLocation(before->getDebugLoc());
  else if (block->isEntryBlock())
    builder.SetCurrentDebugLocation(DebugLoc());
  builder.CreateAlignedStore(
      value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), &memory, part->OffsetInBits / 8),
      commonAlignment(any_type_alignment, part->OffsetInBits / 8),
      /*isVolatile=*/true);
}

/// Stores the address of a parameter that is passed in memory: the register that holds it is used again.
void keep_address(DbgVariableRecord& record, Function& function) {
  AllocaInst* memory = allocate(function, record.getAddress()->getType());
  IRBuilder<> builder(begin_of(function));
  builder.SetCurrentDebugLocation(DebugLoc());
  builder.CreateStore(record.getAddress(), memory, /*isVolatile=*/true);
  record.replaceVariableLocationOp(record.getAddress(), memory);
  record.setExpression(DIExpression::prepend(record.getExpression(), DIExpression::DerefBefore));
}

void keep_variables(Function& function) {
  std::map<Instance, std::vector<DbgVariableRecord*>> values;
  std::set<Instance> in_memory;
  std::vector<Instance> order; // of first appearance: the maps' order depends on addresses
  for (Instruction& instruction : instructions(function))
    for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
      if (!record.isDbgValue()) {
        in_memory.insert(instance_of(record));
        if (record.isDbgDeclare() && isa_and_nonnull<Argument>(record.getAddress()))
          keep_address(record, function);
        continue;
      }
      auto& records = values[instance_of(record)];
      if (records.empty())
        order.push_back(instance_of(record));
      records.push_back(&record);
    }
  DIBuilder description(*function.getParent(), false, function.getSubprogram()->getUnit());
  for (const Instance& instance : order) {
    const auto bits = instance.first->getSizeInBits();
    if (in_memory.count(instance) || !bits || !*bits)
      continue; // a part that stayed in memory is described there
    auto& records = values.at(instance);
    AllocaInst* memory =
        allocate(function, ArrayType::get(Type::getInt8Ty(function.getContext()), divideCeil(*bits, 8)));
    for (const DbgVariableRecord* record : records)
      store_value(*record, *memory, *bits);
    description.insertDeclare(memory, instance.first, description.createExpression(),
                              records.front()->getDebugLoc().get(), begin_of(function));
    for (DbgVariableRecord* record : records)
      record->eraseFromParent();
  }
}

/// Replaces the description of a variable in its compile unit's list; null: removes it.
void replace_in_unit(Module& module, const DIGlobalVariableExpression* before,
                     DIGlobalVariableExpression* now) {
  for (DICompileUnit* unit : module.debug_compile_units()) {
    SmallVector<Metadata*, 16> all;
    for (DIGlobalVariableExpression* variable : unit->getGlobalVariables())
      if (variable != before)
        all.push_back(variable);
      else if (now)
        all.push_back(now);
    unit->replaceGlobalVariables(MDTuple::get(module.getContext(), all));
  }
}

} // namespace

bool is_debugged(const Module& module) {
  return any_of(module.debug_compile_units(), [](const DICompileUnit* unit) {
    return unit->getEmissionKind() == DICompileUnit::FullDebug;
  });
}

void describe_built_in_variables(Module& module) {
  if (!is_debugged(module))
    return;
  for (Function& function : module) {
    const DISubprogram* scope = function.getSubprogram();
    if (function.isDeclaration() || !scope || !is_users(module, *scope))
      continue;
    DIBuilder description(module, false, scope->getUnit());
    for (const BuiltIn& built_in : built_ins) {
      // One store of a vector, of three used elements: LLVM would divide memory that is stored in parts.
      auto* type = FixedVectorType::get(Type::getInt32Ty(function.getContext()), 4);
      Value* memory = allocate(function, type);
      IRBuilder<> builder(begin_of(function));
      builder.SetCurrentDebugLocation(DebugLoc());
      Value* all = Constant::getNullValue(type);
      for (unsigned i = 0; i < 3; ++i)
        all = builder.CreateInsertElement(all, builder.CreateIntrinsic(built_in.members[i], {}, {}), i);
      builder.CreateStore(all, memory, /*isVolatile=*/true);
      describe_local(description, function, built_in.name,
                     triple(description, scope->getFile(), built_in.type), scope->getLine(), memory,
                     description.createExpression());
    }
  }
}

bool is_debugged(const Function& function) {
  return function.getSubprogram() && is_debugged(*function.getParent());
}

void hide_foreign_code(Module& module) {
  if (!is_debugged(module))
    return;
  const ScopedDbgInfoFormatSetter records(module, true);
  for (Function& function : module)
    for (Instruction& instruction : instructions(function)) {
      for (DbgVariableRecord& record : make_early_inc_range(filterDbgVars(instruction.getDbgRecordRange())))
        if (users_location(module, record.getDebugLoc().get()) != record.getDebugLoc().get() ||
            record.getVariable()->getName().starts_with(prefix_of_rewriter))
          record.eraseFromParent();
      if (const DILocation* users = users_location(module, instruction.getDebugLoc().get()))
        instruction.setDebugLoc(users);
    }
}

void keep_variables(Module& module) {
  if (!is_debugged(module))
    return;
  const ScopedDbgInfoFormatSetter records(module, true);
  for (Function& function : module)
    if (!function.isDeclaration() && function.getSubprogram())
      keep_variables(function);
}

void keep_as_written(Function& function) {
  if (!is_debugged(function))
    return;
  function.removeFnAttr(Attribute::AlwaysInline);
  function.addFnAttr(Attribute::NoInline);
  function.addFnAttr(Attribute::OptimizeNone);
}

void forget_description(Function& function) {
  if (!is_debugged(function))
    return;
  std::vector<AllocaInst*> memory;
  for (Instruction& instruction : instructions(function))
    if (auto* local = dyn_cast<AllocaInst>(&instruction); local && local->hasMetadata(for_debuggers))
      memory.push_back(local);
  for (AllocaInst* local : memory) {
    while (!local->use_empty()) {
      auto* user = cast<Instruction>(local->user_back()); // a store, or an address that stores use
      while (!user->use_empty())
        cast<Instruction>(user->user_back())->eraseFromParent();
      user->eraseFromParent();
    }
    local->eraseFromParent();
  }
  stripDebugInfo(function);
}

void describe_shared_variable(GlobalVariable& variable, Function& function, Value* address,
                              IRBuilderBase& builder) {
  SmallVector<DIGlobalVariableExpression*, 1> descriptions;
  variable.getDebugInfo(descriptions);
  if (descriptions.empty())
    return;
  const DIGlobalVariable* known = descriptions.front()->getVariable();
  Value* memory = allocate(function, builder.getPtrTy());
  builder.CreateStore(address, memory, /*isVolatile=*/true);
  DIBuilder description(*function.getParent(), false, function.getSubprogram()->getUnit());
  describe_local(description, function, known->getName(), known->getType(), known->getLine(), memory,
                 description.createExpression(ArrayRef<std::uint64_t>{dwarf::DW_OP_deref}));
  replace_in_unit(*variable.getParent(), descriptions.front(), nullptr);
}

void move_description(GlobalVariable& before, GlobalVariable& now) {
  SmallVector<DIGlobalVariableExpression*, 1> descriptions;
  before.getDebugInfo(descriptions);
  for (const DIGlobalVariableExpression* known : descriptions) {
    auto& context = before.getContext();
    // Clang's expression is of NVPTX's address spaces.
    auto* here =
        DIGlobalVariableExpression::get(context, known->getVariable(), DIExpression::get(context, {}));
    now.addDebugInfo(here);
    replace_in_unit(*before.getParent(), known, here);
  }
}

} // namespace warplens::lowering
