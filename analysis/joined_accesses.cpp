#include "analysis/joined_accesses.h"

#include "analysis/pass_analyses.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>
#include <map>
#include <optional>
#include <utility>

namespace warplens::analysis {

namespace {

/// The loads, or the stores, of one basic block whose addresses differ by constants.
struct Group {
  const llvm::BasicBlock* block = nullptr;
  unsigned opcode = 0;
  const llvm::Value* pointer = nullptr;
  std::map<const llvm::Value*, std::int64_t> indices; ///< with their factors
  friend auto operator<=>(const Group&, const Group&) = default;
};

struct Place {
  Group group;
  std::int64_t offset = 0; ///< bytes
};

Place place_of(const llvm::Instruction& access) {
  const llvm::DataLayout& layout = access.getDataLayout();
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  const unsigned bits = layout.getIndexTypeSizeInBits(pointer->getType());
  llvm::MapVector<llvm::Value*, llvm::APInt> indices;
  llvm::APInt offset(bits, 0);
  const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
  while (step && step->collectOffset(layout, bits, indices, offset)) {
    pointer = step->getPointerOperand();
    step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
  }
  Place result{{access.getParent(), access.getOpcode(), pointer, {}}, offset.getSExtValue()};
  for (const auto& [index, scale] : indices)
    result.group.indices[index] = scale.getSExtValue();
  return result;
}

unsigned bytes_of(const llvm::Instruction& access) {
  llvm::Type* type = llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&access));
  return static_cast<unsigned>(access.getDataLayout().getTypeStoreSize(type).getFixedValue());
}

bool is_plain(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->isSimple();
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->isSimple();
}

/// A plain load or store of a function, and its counterpart in the function's copy.
struct CopiedAccess {
  const llvm::Instruction* original = nullptr;
  llvm::WeakVH copy; ///< null after it became part of another
  Place place;       ///< the copy's
};

std::vector<CopiedAccess> plain_accesses(const llvm::Function& original, llvm::ValueToValueMapTy& copies) {
  std::vector<CopiedAccess> result;
  for (const llvm::Instruction& instruction : llvm::instructions(original))
    if (is_plain(instruction)) {
      auto* copy = llvm::cast<llvm::Instruction>(copies[&instruction]);
      result.push_back({&instruction, llvm::WeakVH(copy), place_of(*copy)});
    }
  return result;
}

/// Loads of one type, keyed by their distance from one address.
using Elements = std::map<std::int64_t, llvm::LoadInst*>;

/// Loads the gaps of vectors of four whose first element is loaded, and the third or the fourth: nvcc 13
/// loads the whole (`a[i].x + a[i].z` of a float4 is one ld.v4), which LLVM 19 does not.
void fill_gaps(const Elements& elements, std::int64_t bytes) {
  for (const auto& [start, first] : elements) {
    const auto is_there = [&](std::int64_t index) { return elements.contains(start + index * bytes); };
    if (first->getAlign().value() < static_cast<std::uint64_t>(4 * bytes) || !(is_there(2) || is_there(3)))
      continue;
    llvm::IRBuilder<> builder(first->getNextNode());
    for (const std::int64_t index : {1, 2, 3}) {
      if (is_there(index))
        continue;
      llvm::Value* address = builder.CreateConstGEP1_64(builder.getInt8Ty(), first->getPointerOperand(),
                                                        static_cast<std::uint64_t>(index * bytes));
      llvm::LoadInst* filling = builder.CreateAlignedLoad(first->getType(), address,
                                                          llvm::Align(static_cast<std::uint64_t>(bytes)));
      filling->copyMetadata(*first, {llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_alias_scope,
                                     llvm::LLVMContext::MD_noalias});
    }
  }
}

void fill_gaps(const std::vector<CopiedAccess>& accesses) {
  std::map<std::pair<Group, llvm::Type*>, Elements> loads;
  for (const CopiedAccess& access : accesses)
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access.copy))
      if (llvm::Type* type = load->getType();
          (type->isIntegerTy() || type->isFloatTy()) && bytes_of(*load) <= 4)
        loads[{access.place.group, type}].emplace(access.place.offset, load);
  for (const auto& [group_and_type, elements] : loads)
    fill_gaps(elements, bytes_of(*elements.begin()->second));
}

/// Returns the alignment of an array's start: for a shared array the one that LLVM does not see after a cast
/// of its address to a generic one, for a local array the one that nvcc 13 chooses.
llvm::Align alignment_of(const llvm::Value& array) {
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&array))
    return variable->getAlign().valueOrOne();
  const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&array);
  const auto bytes = local ? local->getAllocationSize(local->getDataLayout()) : std::nullopt;
  return bytes && bytes->getFixedValue() >= 16 ? llvm::Align(16) : llvm::Align();
}

void align(llvm::Instruction& access, const Place& place) {
  llvm::Align known = llvm::commonAlignment(alignment_of(*place.group.pointer->stripPointerCasts()),
                                            static_cast<std::uint64_t>(place.offset));
  for (const auto& [index, scale] : place.group.indices)
    known = llvm::commonAlignment(known, static_cast<std::uint64_t>(scale));
  known = std::max(known, llvm::getLoadStoreAlignment(&access));
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access))
    load->setAlignment(known);
  else
    llvm::cast<llvm::StoreInst>(access).setAlignment(known);
}

/// Returns the joined accesses of the copy; nothing if some accesses were removed and their replacement is
/// not known.
std::vector<JoinedAccess> find_joined(const std::vector<CopiedAccess>& accesses, llvm::Function& copy) {
  llvm::DenseSet<const llvm::Value*> left;
  std::map<Group, std::map<std::int64_t, std::deque<const llvm::Instruction*>>>
      removed; // each list in its original order
  for (const CopiedAccess& access : accesses)
    if (access.copy)
      left.insert(access.copy);
    else
      removed[access.place.group][access.place.offset].push_back(access.original);
  std::vector<JoinedAccess> result;
  for (llvm::Instruction& instruction : llvm::instructions(copy)) {
    if (!is_plain(instruction) || left.contains(&instruction))
      continue;
    const Place place = place_of(instruction);
    const auto parts = removed.find(place.group);
    if (parts == removed.end())
      continue;
    JoinedAccess joined{{}, bytes_of(instruction)};
    const auto first = parts->second.lower_bound(place.offset),
               last = parts->second.lower_bound(place.offset + joined.bytes);
    for (auto part = first; part != last; ++part)
      if (std::deque<const llvm::Instruction*>& there = part->second; !there.empty()) {
        joined.parts.push_back(there.front());
        there.pop_front();
      }
    if (joined.parts.size() > 1)
      result.push_back(std::move(joined));
  }
  const bool all_found = std::ranges::all_of(removed, [](const auto& parts) {
    return std::ranges::all_of(parts.second, [](const auto& there) { return there.second.empty(); });
  });
  return all_found ? result : std::vector<JoinedAccess>();
}

} // namespace

std::vector<JoinedAccess> joined_accesses(const llvm::Module& module, llvm::TargetMachine* machine) {
  if (!machine)
    return {};
  llvm::ValueToValueMapTy copies;
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module, copies);
  llvm::PassBuilder builder(machine);
  PassAnalyses analyses(builder);
  std::vector<JoinedAccess> result;
  for (const llvm::Function& original : module) {
    auto& function = *llvm::cast<llvm::Function>(copies[&original]);
    const std::vector<CopiedAccess> accesses = plain_accesses(original, copies);
    if (accesses.size() < 2)
      continue;
    for (const CopiedAccess& access : accesses)
      align(*llvm::cast<llvm::Instruction>(access.copy), access.place);
    fill_gaps(accesses);
    llvm::LoadStoreVectorizerPass().run(function, analyses.functions);
    std::ranges::move(find_joined(accesses, function), std::back_inserter(result));
  }
  return result;
}

} // namespace warplens::analysis
