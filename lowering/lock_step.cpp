// Finds code that relies on the lock step of a warp: lanes exchange data through memory without a barrier in
// between. CUDA's model calls that a race, and yet it works on GPUs, where the lanes of a warp execute an
// instruction together. On the CPU a lane runs until it waits for others; so stops are inserted where the
// order of accesses matters: a lane waits before it loads data that others may have stored since they last
// met, and before it stores to places that others may have loaded. In a loop over the block's threads
// (regions.h) such a stop is a cut, as at a barrier.
//
// For volatile code the guess errs on the safe side; for other code it leaves properly synchronised code
// alone. docs/how-it-works.md, "Code that relies on lock step", has the table, and are_ordered() is its code.
#include "lowering/address_spaces.h"
#include "lowering/lane_addresses.h"
#include "lowering/places.h"
#include "lowering/program_order.h"
#include "lowering/runtime_calls.h"
#include "lowering/stages.h"
#include "runtime/abi/memcheck.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>
#include <numeric>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr std::int64_t warp = 32;

enum class Space { own, global, shared, unknown };

struct LaneAccess {
  Instruction* instruction;
  const Value* pointer;
  bool writes, is_volatile, is_atomic;
  std::int64_t bytes;
  Space space = Space::own;
  SmallVector<const Value*, 4> objects = {};
  LinearForm form = {};
  std::optional<Extent> extent = {};
  std::vector<Guard> guards = {};
};

/// Returns the address space of a pointer's object.
Space space_of(const Value* object, bool in_kernel) {
  if (isa<AllocaInst>(object))
    return Space::own;
  if (const auto* variable = dyn_cast<GlobalVariable>(object))
    return variable->getAddressSpace() == shared_space ? Space::shared : Space::global;
  if (const auto* argument = dyn_cast<Argument>(object))
    return argument->hasByValAttr() ? Space::own : in_kernel ? Space::global : Space::unknown;
  if (object->getType()->isPointerTy() && object->getType()->getPointerAddressSpace() == shared_space)
    return Space::shared;
  if (const auto* load = dyn_cast<LoadInst>(object)) // a kernel's struct contains no address of shared memory
    if (const auto* argument = dyn_cast<Argument>(getUnderlyingObject(load->getPointerOperand(), 0)))
      return argument->hasByValAttr() && in_kernel ? Space::global : Space::unknown;
  return Space::unknown;
}

/// Returns whether the variables occupy different memory, however pointers into them are changed.
bool are_apart(const Value* one, const Value* other) {
  const auto* first = dyn_cast<GlobalVariable>(one);
  const auto* second = dyn_cast<GlobalVariable>(other);
  if (first && second)
    return first != second &&
           !(first->isDeclaration() && second->isDeclaration()); // all dynamic shared memory overlaps
  return false;
}

class Accesses {
public:
  /// Collects accesses to other than a thread's own memory if `everywhere`, else only those that stops may be
  /// inserted for.
  Accesses(Function& function, bool is_kernel, bool everywhere, const DominatorTree& dominators,
           const LoopInfo& loops)
      : layout_(function.getParent()->getDataLayout()), is_kernel_(is_kernel), everywhere_(everywhere),
        dominators_(dominators), loops_(loops), variations_(is_kernel) {
    for (Instruction& instruction : instructions(function))
      find(instruction);
    if (!everywhere_)
      discard_irrelevant();
    for (LaneAccess& access : all_) {
      auto [guards, added] = guards_.try_emplace(access.instruction->getParent());
      if (added)
        guards->second = guards_of(*access.instruction->getParent(), dominators_);
      access.guards = guards->second;
    }
  }

  const std::vector<LaneAccess>& all() const { return all_; }

  /// Returns whether one thread's access may be to the place of an earlier access of another thread.
  /// `carried`: in another iteration of a loop that contains both. Unless `strict`, a thread that very likely
  /// keeps to a part of its own does not conflict.
  bool conflict(const LaneAccess& before, const LaneAccess& after, bool carried, bool strict) {
    if (apart(before, after) || share_one_lane(before, after))
      return false;
    const LinearForm distance = after.form.minus(before.form);
    std::vector<std::int64_t> factors;
    for (const auto& [value, factor] : distance.terms) {
      if (const Variation variation = variations_.of(value);
          variation == Variation::thread || (strict && variation != Variation::none))
        return true;
      factors.push_back(std::abs(factor));
    }
    if (carried)
      for (const LaneAccess* access : {&before, &after})
        for (const auto& [value, factor] : access->form.terms)
          if (varies(value, before, after)) {
            if (variations_.of(value) == Variation::thread)
              return true;
            factors.push_back(std::abs(factor));
          }
    const std::int64_t stride = stride_of(before.form);
    if (factors.empty()) {
      if (distance.constant == 0)
        return variations_.of(before.form) == Variation::none;
      return !(stride && std::abs(distance.constant) + after.bytes <= stride);
    }
    if (strict)
      return true;
    std::int64_t unit = std::abs(distance.constant), largest = 0;
    for (const std::int64_t factor : factors) {
      unit = std::gcd(unit, factor);
      largest = std::max(largest, factor);
    }
    // The accesses form rows at least as wide as a warp, or a stretch of memory for each thread.
    return !(stride && (unit >= warp * stride || largest < stride)) && !has_product(before.form);
  }

  /// Returns whether each thread stores to the place that its neighbour, at a constant distance, has loaded.
  bool is_neighbours(const LaneAccess& load, const LaneAccess& store) {
    const LinearForm distance = store.form.minus(load.form);
    return distance.terms.empty() && distance.constant != 0 && stride_of(load.form) &&
           std::abs(distance.constant) % stride_of(load.form) == 0 && !below_the_load(load, store);
  }

  /// Returns whether each thread stores to a place that it has looked up, after a load from its own.
  bool is_scattered(const LaneAccess& load, const LaneAccess& store) {
    return stride_of(load.form) && any_of(store.form.terms, [&](const auto& term) {
             return isa<LoadInst>(term.first) && !load.form.terms.contains(term.first) &&
                    variations_.of(term.first) != Variation::none;
           });
  }

  /// Returns whether all threads have loaded from the place (`while (next < n) { …; if (t == 0) next = …;
  /// }`).
  bool replaces_what_all_load(const LaneAccess& load, const LaneAccess& store, bool carried) {
    const LinearForm distance = store.form.minus(load.form);
    const bool is_elsewhere_then =
        carried && any_of(load.form.terms, [&](const auto& term) { return varies(term.first, load, store); });
    return is_of_all_lanes(load) && is_of_all_lanes(store) && distance.terms.empty() &&
           distance.constant < load.bytes && -distance.constant < store.bytes && !is_elsewhere_then;
  }

  /// Returns whether no thread stores to a place that another loads, as in `if (t < n) a[t] += a[t + n]`.
  bool below_the_load(const LaneAccess& load, const LaneAccess& store) {
    const std::int64_t stride = stride_of(store.form);
    if (!stride)
      return false;
    const LinearForm distance = load.form.minus(store.form);
    for (const Guard& guard : store.guards) {
      const auto* comparison = dyn_cast<ICmpInst>(guard.condition);
      if (!comparison)
        continue;
      auto predicate = guard.value ? comparison->getPredicate() : comparison->getInversePredicate();
      const Value *small = comparison->getOperand(0), *large = comparison->getOperand(1);
      if (predicate == ICmpInst::ICMP_UGT || predicate == ICmpInst::ICMP_SGT) {
        std::swap(small, large);
        predicate = ICmpInst::getSwappedPredicate(predicate);
      }
      if (predicate != ICmpInst::ICMP_ULT && predicate != ICmpInst::ICMP_SLT)
        continue;
      const LinearForm rest = store.form.minus(linear_form(small, layout_, stride));
      const LinearForm gap = distance.minus(linear_form(large, layout_, stride));
      if (stride_of(rest) == 0 && gap.terms.empty() && gap.constant >= 0)
        return true;
    }
    return false;
  }

  /// Returns whether each lane has a place of its own.
  bool is_of_each_lane(const LaneAccess& access) { return variations_.of(access.form) == Variation::thread; }
  bool is_of_all_lanes(const LaneAccess& access) { return variations_.of(access.form) == Variation::none; }

private:
  void find(Instruction& instruction) {
    if (auto* load = dyn_cast<LoadInst>(&instruction)) {
      add(instruction, load->getPointerOperand(), false, load->isVolatile(),
          layout_.getTypeStoreSize(load->getType()), load->isAtomic());
    } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      add(instruction, store->getPointerOperand(), true, store->isVolatile(),
          layout_.getTypeStoreSize(store->getValueOperand()->getType()), store->isAtomic());
    } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) { // the place is the first operand of both
      for (const bool writes : {false, true})
        add(instruction, instruction.getOperand(0), writes, false,
            layout_.getTypeStoreSize(instruction.getOperand(1)->getType()), true);
    } else if (auto* fill = dyn_cast<MemIntrinsic>(&instruction)) {
      const auto* length = dyn_cast<ConstantInt>(fill->getLength());
      const TypeSize bytes = TypeSize::getFixed(length ? length->getZExtValue() : 1);
      if (auto* copy = dyn_cast<MemTransferInst>(&instruction))
        add(instruction, copy->getRawSource(), false, fill->isVolatile(), bytes);
      add(instruction, fill->getRawDest(), true, fill->isVolatile(), bytes);
    }
  }

  void add(Instruction& instruction, const Value* pointer, bool writes, bool is_volatile, TypeSize bytes,
           bool is_atomic = false) {
    LaneAccess access{.instruction = &instruction,
                      .pointer = pointer,
                      .writes = writes,
                      .is_volatile = is_volatile,
                      .is_atomic = is_atomic,
                      .bytes = static_cast<std::int64_t>(bytes.getFixedValue())};
    getUnderlyingObjects(pointer, access.objects, nullptr, 0);
    for (const Value* object : access.objects)
      access.space = std::max(access.space, space_of(object, is_kernel_));
    if (access.space == Space::own)
      return;
    access.form = linear_form(pointer, layout_);
    start_at_own_number(access.form);
    access.extent = extent_of(pointer, layout_);
    all_.push_back(std::move(access));
  }

  /// Keeps, of global memory, only variables that each lane stores to and all lanes load from.
  void discard_irrelevant() {
    std::set<const Value*> stored, loaded;
    for (const LaneAccess& access : all_)
      if (matters_in_global(access))
        (access.writes ? stored : loaded).insert(access.objects.front());
    std::erase_if(all_, [&](const LaneAccess& access) {
      if (access.space != Space::global)
        return access.space == Space::unknown && !access.is_volatile;
      return !matters_in_global(access) || !stored.count(access.objects.front()) ||
             !loaded.count(access.objects.front());
    });
  }
  bool matters_in_global(const LaneAccess& access) {
    return access.space == Space::global && !access.is_atomic && access.objects.size() == 1 &&
           variations_.of(access.form) == (access.writes ? Variation::thread : Variation::none);
  }

  /// Replaces a loop variable by its start: in `for (i = threadIdx.x; …; i += blockDim.x)` threads differ
  /// only there.
  void start_at_own_number(LinearForm& form) {
    for (const auto& [value, factor] : std::map(form.terms)) {
      const auto* phi = dyn_cast<PHINode>(value);
      const Loop* loop = phi ? loops_.getLoopFor(phi->getParent()) : nullptr;
      if (!loop || loop->getHeader() != phi->getParent() || phi->getNumIncomingValues() != 2)
        continue;
      const unsigned again = loop->contains(phi->getIncomingBlock(0)) ? 0 : 1;
      const Value* start = phi->getIncomingValue(1 - again);
      const LinearForm step =
          linear_form(phi->getIncomingValue(again), layout_).minus(linear_form(phi, layout_));
      const bool is_wide =
          step.terms.empty() ? std::abs(step.constant) >= warp : variations_.of(step) == Variation::none;
      if (!is_wide || variations_.of(start) != Variation::thread)
        continue;
      form.terms.erase(value);
      form = form.minus(linear_form(start, layout_, -factor));
    }
  }

  bool apart(const LaneAccess& one, const LaneAccess& other) {
    const auto pairs_apart = [&](const Value* first) {
      return all_of(other.objects, [&](const Value* second) { return are_apart(first, second); });
    };
    if (all_of(one.objects, pairs_apart) ||
        (one.space != other.space && one.space != Space::unknown && other.space != Space::unknown))
      return true;
    return one.extent && other.extent && one.objects == other.objects && !one.extent->meets(*other.extent);
  }

  bool share_one_lane(const LaneAccess& one, const LaneAccess& other) {
    return any_of(one.guards, [&](const Guard& guard) {
      return is_contained(other.guards, guard) && admits_one_lane(guard, variations_);
    });
  }

  /// Returns whether the value differs in another iteration of a loop that contains both accesses.
  bool varies(const Value* value, const LaneAccess& one, const LaneAccess& other) const {
    const auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction)
      return false;
    for (const Loop* loop = loops_.getLoopFor(one.instruction->getParent()); loop;
         loop = loop->getParentLoop())
      if (loop->contains(other.instruction) && loop->contains(instruction))
        return true;
    return false;
  }

  /// Returns the distance between the places of neighbouring threads; 0 if unknown.
  std::int64_t stride_of(const LinearForm& form) {
    std::int64_t least = 0;
    for (const auto& [value, factor] : form.terms)
      if (variations_.of(value) == Variation::thread)
        least = least ? std::min(least, std::abs(factor)) : std::abs(factor);
    return least;
  }

  bool has_product(const LinearForm& form) {
    return any_of(form.terms, [&](const auto& term) {
      const auto* product = dyn_cast<BinaryOperator>(term.first);
      return product &&
             (product->getOpcode() == Instruction::Mul || product->getOpcode() == Instruction::Shl) &&
             variations_.of(product) == Variation::thread;
    });
  }

  const DataLayout& layout_;
  bool is_kernel_, everywhere_;
  const DominatorTree& dominators_;
  const LoopInfo& loops_;
  Variations variations_;
  std::map<const BasicBlock*, std::vector<Guard>> guards_;
  std::vector<LaneAccess> all_;
};

/// The accesses of a lane since it last met the others, at some point of the code.
struct Since {
  BitVector here, in_earlier_iteration;
  bool operator|=(const Since& other) {
    const BitVector before = here, before_earlier = in_earlier_iteration;
    here |= other.here;
    in_earlier_iteration |= other.in_earlier_iteration;
    return here != before || in_earlier_iteration != before_earlier;
  }
  void clear() {
    here.reset();
    in_earlier_iteration.reset();
  }
};

class Stops {
public:
  Stops(Function& function, bool is_kernel, bool everywhere)
      : dominators_(function), loops_(dominators_), order_(program_order(function, loops_)),
        accesses_(function, is_kernel, everywhere, dominators_, loops_), everywhere_(everywhere) {
    for (std::size_t i = 0; i < accesses_.all().size(); ++i)
      at_[accesses_.all()[i].instruction].push_back(i);
  }

  /// Inserts the stops and returns their number.
  std::size_t run() {
    const auto writes = [](const LaneAccess& access) { return access.writes; };
    if (none_of(accesses_.all(), writes) || (all_of(accesses_.all(), writes) && !everywhere_))
      return 0;
    find_exchanged();
    while (add_stop()) {
    }
    for (Instruction* before : stops_) {
      IRBuilder<> builder(before);
      call_runtime(builder, lock_step_function, Effects::suspends, builder.getVoidTy(),
                   {current_lane(builder), builder.getInt32(0)});
    }
    return stops_.size();
  }

  /// Inserts into the traced variant a call of the runtime for each access to shared memory; the runtime
  /// reports where lanes exchange data. Like probes the calls block no optimisation.
  void observe_shared_accesses() {
    for (const LaneAccess& access : accesses_.all()) {
      if (access.space != Space::shared || access.is_atomic)
        continue; // atomic accesses are ordered
      IRBuilder<> builder(access.instruction);
      Value* address = builder.CreateAddrSpaceCast(const_cast<Value*>(access.pointer), builder.getPtrTy());
      auto* call = call_runtime(
          builder, observe_function, Effects::acts, builder.getVoidTy(),
          {current_lane(builder), address, builder.getInt64(static_cast<std::uint64_t>(access.bytes)),
           builder.getInt32(
               static_cast<std::uint32_t>(access.writes ? cpu::AccessMode::write : cpu::AccessMode::read)),
           place_text(builder, *access.instruction)});
      Function& observe = *call->getCalledFunction();
      observe.setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
      observe.setWillReturn();
      observe.addParamAttr(1, Attribute::NoCapture);
      observe.addParamAttr(1, Attribute::ReadNone);
    }
  }

private:
  /// Returns one text for all accesses of a line.
  Constant* place_text(IRBuilder<>& builder, const Instruction& instruction) {
    Constant*& text = places_[place_of(instruction)];
    if (!text)
      text = builder.CreateGlobalString(place_of(instruction), "place");
    return text;
  }

  using Visit = function_ref<void(std::size_t access, Since& since)>;

  /// Updates `since` over the block's instructions.
  void follow(BasicBlock& block, Since& since, Visit visit) {
    for (Instruction& instruction : block) {
      if (stops_.count(&instruction))
        since.clear();
      if (const auto* call = dyn_cast<CallInst>(&instruction); call && synchronises(*call))
        since.clear();
      const auto found = at_.find(&instruction);
      if (found == at_.end())
        continue;
      for (const std::size_t access : found->second) {
        visit(access, since);
        since.here.set(static_cast<unsigned>(access));
      }
    }
  }

  /// Computes the state at the begin of each block, with the stops inserted by now.
  void solve() {
    const auto count = static_cast<unsigned>(accesses_.all().size());
    at_begin_.clear();
    for (BasicBlock* block : order_)
      at_begin_[block] = {BitVector(count), BitVector(count)};
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock* block : order_) {
        Since since = at_begin_.at(block);
        follow(*block, since, [](std::size_t, Since&) {});
        for (BasicBlock* next : successors(block))
          changed |= at_begin_.at(next) |= along(block, next, since);
      }
    }
  }

  /// On the back edge of a loop, accesses within it become those of an earlier iteration.
  Since along(const BasicBlock* from, const BasicBlock* to, const Since& since) {
    const Loop* loop = loops_.getLoopFor(to);
    if (!loop || loop->getHeader() != to || !loop->contains(from))
      return since;
    Since result = since;
    for (const unsigned access : since.here.set_bits())
      if (loop->contains(accesses_.all()[access].instruction)) {
        result.here.reset(access);
        result.in_earlier_iteration.set(access);
      }
    return result;
  }

  /// Finds the variables through which threads exchange data without a barrier.
  void find_exchanged() {
    solve();
    for (BasicBlock* block : order_) {
      Since since = at_begin_.at(block);
      follow(*block, since, [&](std::size_t number, Since& now) {
        const LaneAccess& access = accesses_.all()[number];
        if (access.writes || access.space != Space::shared)
          return;
        for_each(now, [&](const LaneAccess& before, bool carried) {
          if (before.writes && before.space == Space::shared && !(before.is_atomic && access.is_atomic) &&
              accesses_.conflict(before, access, carried, false)) {
            exchanged_.insert(before.objects.begin(), before.objects.end());
            exchanged_.insert(access.objects.begin(), access.objects.end());
          }
        });
      });
    }
  }

  template <class Found> void for_each(const Since& since, Found found) {
    for (const unsigned number : since.here.set_bits())
      found(accesses_.all()[number], false);
    for (const unsigned number : since.in_earlier_iteration.set_bits())
      found(accesses_.all()[number], true);
  }

  bool is_exchanged(const LaneAccess& access) const {
    return any_of(access.objects, [&](const Value* object) { return exchanged_.count(object) != 0; });
  }

  /// Returns whether all lanes must have done `before` when any of them does `after`.
  bool are_ordered(const LaneAccess& before, const LaneAccess& after, bool carried) {
    if ((!before.writes && !after.writes) || (before.is_atomic && after.is_atomic))
      return false;
    const bool shared = before.space != Space::global && after.space != Space::global,
               is_volatile = shared && (before.is_volatile || after.is_volatile);
    if (everywhere_ || is_volatile)
      return accesses_.conflict(before, after, carried, true) &&
             !(!before.writes && !carried && accesses_.below_the_load(before, after));
    if (before.space == Space::global && after.space == Space::global)
      return before.writes && !after.writes && before.objects.size() == 1 &&
             before.objects == after.objects && !in_one_loop(before, after) &&
             accesses_.is_of_each_lane(before) && accesses_.is_of_all_lanes(after) &&
             accesses_.conflict(before, after, carried, true);
    if (before.space != Space::shared || after.space != Space::shared)
      return false;
    if (before.writes && !after.writes)
      return accesses_.conflict(before, after, carried, false);
    if (is_exchanged(before) && is_exchanged(after))
      return accesses_.conflict(before, after, carried, false) &&
             !(!before.writes && !carried && accesses_.below_the_load(before, after));
    const bool is_moved =
        !carried && (accesses_.is_neighbours(before, after) || accesses_.is_scattered(before, after));
    return !before.writes && (is_moved || accesses_.replaces_what_all_load(before, after, carried)) &&
           accesses_.conflict(before, after, carried, false);
  }

  bool in_one_loop(const LaneAccess& one, const LaneAccess& other) {
    for (const Loop* loop = loops_.getLoopFor(one.instruction->getParent()); loop;
         loop = loop->getParentLoop())
      if (loop->contains(other.instruction))
        return true;
    return false;
  }

  /// Inserts a stop in the first block that needs one; returns whether there was one.
  bool add_stop() {
    solve();
    for (BasicBlock* block : order_) {
      std::set<Instruction*> added;
      Since since = at_begin_.at(block);
      follow(*block, since, [&](std::size_t number, Since& now) {
        const LaneAccess& access = accesses_.all()[number];
        std::vector<const LaneAccess*> before;
        for_each(now, [&](const LaneAccess& other, bool carried) {
          if (are_ordered(other, access, carried))
            before.push_back(&other);
        });
        if (before.empty())
          return;
        added.insert(place_for(access, before));
        now.clear();
      });
      const std::size_t before = stops_.size();
      stops_.insert(added.begin(), added.end());
      if (stops_.size() > before)
        return true;
    }
    return false;
  }

  /// Returns the point in front of the outermost loop around the access that contains no access of `before`.
  Instruction* place_for(const LaneAccess& access, const std::vector<const LaneAccess*>& before) {
    Instruction* place = access.instruction;
    for (const Loop* loop = loops_.getLoopFor(place->getParent()); loop; loop = loop->getParentLoop()) {
      BasicBlock* front = loop->getLoopPreheader();
      if (!front ||
          any_of(before, [&](const LaneAccess* other) { return loop->contains(other->instruction); }))
        break;
      place = front->getTerminator();
    }
    return place;
  }

  DominatorTree dominators_;
  LoopInfo loops_;
  std::vector<BasicBlock*> order_;
  Accesses accesses_;
  bool everywhere_;
  std::map<const Instruction*, std::vector<std::size_t>> at_;
  std::map<const BasicBlock*, Since> at_begin_;
  std::set<const Value*> exchanged_;
  std::set<Instruction*> stops_;
  std::map<std::string, Constant*> places_;
};

/// Splits a small copy within shared memory into a load and a store, so that a stop fits between them.
void split_copies(Function& function) {
  constexpr std::uint64_t max_bytes = 64;
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    auto* copy = dyn_cast<MemTransferInst>(&instruction);
    const auto* length = copy ? dyn_cast<ConstantInt>(copy->getLength()) : nullptr;
    if (!length || length->isZero() || length->getValue().ugt(max_bytes) || copy->isVolatile() ||
        !all_of(std::initializer_list<const Value*>{copy->getRawDest(), copy->getRawSource()},
                [](const Value* pointer) {
                  return space_of(getUnderlyingObject(pointer, 0), false) == Space::shared;
                }))
      continue;
    IRBuilder<> builder(copy);
    Type* const bytes = builder.getIntNTy(8 * static_cast<unsigned>(length->getZExtValue()));
    Value* const value =
        builder.CreateAlignedLoad(bytes, copy->getRawSource(), copy->getSourceAlign().valueOrOne());
    builder.CreateAlignedStore(value, copy->getRawDest(), copy->getDestAlign().valueOrOne());
    copy->eraseFromParent();
  }
}

} // namespace

void keep_lock_step(Module& module, std::vector<Kernel>& kernels, bool everywhere) {
  for (Function& function : module)
    if (!function.isDeclaration() &&
        !function.hasFnAttribute(kept_call)) { // positions in such functions are not a kernel's
      removeUnreachableBlocks(function);
      split_copies(function);
      const auto kernel =
          find_if(kernels, [&](const Kernel& candidate) { return candidate.source == &function; });
      Stops stops(function, kernel != kernels.end(), everywhere);
      if (stops.run() && kernel != kernels.end()) {
        kernel->in_lock_step = true;
        stops.observe_shared_accesses();
      }
    }
}

} // namespace warplens::lowering
