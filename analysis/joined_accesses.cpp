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
#include <tuple>
#include <utility>

namespace warplens::analysis {

namespace {

/// An address without its constant part: a pointer, and indices with their factors.
struct Base {
  const llvm::Value* pointer = nullptr;
  std::map<const llvm::Value*, std::int64_t> indices;
  friend auto operator<=>(const Base&, const Base&) = default;
};

struct Place {
  Base base;
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
  Place result{{pointer, {}}, offset.getSExtValue()};
  for (const auto& [index, scale] : indices)
    result.base.indices[index] = scale.getSExtValue();
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

/// Loads of one type, keyed by their distance from one address.
using Elements = std::map<std::int64_t, llvm::LoadInst*>;

/// Loads the gaps of vectors of four whose first element is loaded, and the third or the fourth: nvcc 13
/// loads the whole (`a[i].x + a[i].z` of a float4 is one ld.v4), which LLVM 19 does not.
void fill_gaps(const Elements& elements, std::int64_t bytes) {
  for (const auto& [start, first] : elements) {
    const auto is_there = [&, start = start](std::int64_t index) {
      return elements.contains(start + index * bytes);
    };
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

void fill_gaps(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    std::map<std::pair<Base, llvm::Type*>, Elements> loads;
    for (llvm::Instruction& instruction : block)
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && load->isSimple())
        if (llvm::Type* type = load->getType();
            (type->isIntegerTy() || type->isFloatTy()) && bytes_of(*load) <= 4) {
          const Place place = place_of(*load);
          loads[{place.base, type}].emplace(place.offset, load);
        }
    for (const auto& [base_and_type, elements] : loads)
      fill_gaps(elements, bytes_of(*elements.begin()->second));
  }
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

void align(llvm::Instruction& access) {
  const Place place = place_of(access);
  llvm::Align known = llvm::commonAlignment(alignment_of(*place.base.pointer->stripPointerCasts()),
                                            static_cast<std::uint64_t>(place.offset));
  for (const auto& [index, scale] : place.base.indices)
    known = llvm::commonAlignment(known, static_cast<std::uint64_t>(scale));
  known = std::max(known, llvm::getLoadStoreAlignment(&access));
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access))
    load->setAlignment(known);
  else
    llvm::cast<llvm::StoreInst>(access).setAlignment(known);
}

/// The plain loads and stores of a function and their counterparts in its copy.
class Copied {
public:
  Copied(const llvm::Function& original, llvm::ValueToValueMapTy& copies) {
    for (const llvm::Instruction& instruction : llvm::instructions(original))
      if (is_plain(instruction)) {
        auto* copy = llvm::cast<llvm::Instruction>(copies[&instruction]);
        const Place place = place_of(*copy);
        known_.push_back({&instruction, llvm::WeakVH(copy), block_of(*copy, place), place.offset});
      }
  }
  std::size_t size() const { return known_.size(); }

  /// Returns the joined accesses; nothing if some accesses were removed and their replacement is not known.
  std::vector<JoinedAccess> joined(llvm::Function& copy) const {
    llvm::DenseSet<const llvm::Value*> left;
    std::map<Block, std::map<std::int64_t, std::deque<const llvm::Instruction*>>>
        removed; // each list in its original order
    for (const Access& access : known_)
      if (access.copy)
        left.insert(access.copy);
      else
        removed[access.block][access.offset].push_back(access.original);
    std::vector<JoinedAccess> result;
    for (llvm::Instruction& instruction : llvm::instructions(copy)) {
      if (!is_plain(instruction) || left.contains(&instruction))
        continue;
      const Place place = place_of(instruction);
      const auto parts = removed.find(block_of(instruction, place));
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

private:
  /// Accesses of one kind, to constant distances from one address, in one basic block.
  using Block = std::tuple<const llvm::BasicBlock*, unsigned, Base>;
  struct Access {
    const llvm::Instruction* original = nullptr;
    llvm::WeakVH copy; ///< null after it became part of another
    Block block;
    std::int64_t offset = 0;
  };
  static Block block_of(const llvm::Instruction& access, const Place& place) {
    return {access.getParent(), access.getOpcode(), place.base};
  }

  std::vector<Access> known_;
};

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
    const Copied copied(original, copies);
    if (copied.size() < 2)
      continue;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (is_plain(instruction))
        align(instruction);
    fill_gaps(function);
    llvm::LoadStoreVectorizerPass().run(function, analyses.functions);
    std::ranges::move(copied.joined(function), std::back_inserter(result));
  }
  return result;
}

} // namespace warplens::analysis
