#include "lowering/places.h"

#include "lowering/runtime_calls.h"
#include "runtime/abi/abi.h"

#include <deque>
#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/Path.h>
#include <map>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

constexpr char system_folders[] = "warplens.system_folders";

bool is_users_file(const Module& module, const DIFile* source) {
  const NamedMDNode* folders = module.getNamedMetadata(system_folders);
  if (!source || !folders)
    return true;
  const std::string file =
      (std::filesystem::path(source->getDirectory().str()) / source->getFilename().str()).lexically_normal();
  return none_of(folders->operands(), [&](const MDNode* folder) {
    return StringRef(file).starts_with(cast<MDString>(folder->getOperand(0))->getString());
  });
}

bool is_users(const Module& module, const DILocation& location) {
  return location.getLine() && is_users_file(module, location.getFile());
}

/// The place where the user's own code leads to an instruction.
struct Origin {
  const DILocation* users = nullptr;          ///< null: unknown
  const DISubprogram* called_there = nullptr; ///< the function of a system header that it calls; null: none
};

/// Returns the location itself, or the nearest one that it was inlined into in the user's code.
Origin origin_of(const Module& module, const DILocation* location) {
  const DILocation* inside = nullptr;
  for (; location && !is_users(module, *location); location = location->getInlinedAt())
    inside = location;
  return {location, inside ? inside->getScope()->getSubprogram() : nullptr};
}

/// Returns the nearest call in the user's own code, over any number of callers.
Origin users_call(const Function& function) {
  std::deque<const Function*> waiting{&function};
  std::set<const Function*> seen{&function};
  for (; !waiting.empty(); waiting.pop_front())
    for (const User* user : waiting.front()->users()) {
      const auto* call = dyn_cast<CallBase>(user);
      if (!call)
        continue;
      const Origin origin = origin_of(*function.getParent(), call->getDebugLoc().get());
      if (origin.users)
        return {origin.users, origin.called_there ? origin.called_there : waiting.front()->getSubprogram()};
      if (seen.insert(call->getFunction()).second)
        waiting.push_back(call->getFunction());
    }
  return {};
}

Origin origin_of(const Instruction& instruction) {
  const Origin origin = origin_of(*instruction.getModule(), instruction.getDebugLoc().get());
  return origin.users ? origin : users_call(*instruction.getFunction());
}

std::string text_of(StringRef file, const DILocation& location) {
  return fmt::format("{}:{}", file.str(), location.getLine());
}

} // namespace

void set_system_folders(Module& module, const std::vector<std::filesystem::path>& folders) {
  auto& context = module.getContext();
  NamedMDNode* all = module.getOrInsertNamedMetadata(system_folders);
  for (const auto& folder : folders)
    all->addOperand(MDNode::get(context, MDString::get(context, (folder / "").string())));
}

bool is_users(const Module& module, const DISubprogram& function) {
  return is_users_file(module, function.getFile());
}

const DILocation* users_location(const Module& module, const DILocation* location) {
  return origin_of(module, location).users;
}

std::string place_of(const Instruction& instruction) {
  const DILocation* location = instruction.getDebugLoc().get();
  if (!location || !location->getLine())
    return demangle(instruction.getFunction()->getName());
  const DILocation* users = origin_of(instruction).users;
  const StringRef file = location->getFilename();
  if (!users || users == location)
    return text_of(file, *location);
  return fmt::format("{} (in {})", text_of(users->getFilename(), *users),
                     text_of(sys::path::filename(file), *location));
}

std::optional<std::string> system_function_of(const Instruction& instruction) {
  const DISubprogram* function = origin_of(instruction).called_there;
  if (!function)
    return std::nullopt;
  return fmt::format("{}() of {}", function->getName().str(),
                     sys::path::filename(function->getFilename()).str());
}

void store_places(Module& module) {
  std::vector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction);
          call && may_stop_lane(*call) && call->getCalledFunction()->getName() != lock_step_function)
        calls.push_back(call);
  std::map<std::string, Constant*> texts;
  for (CallInst* call : calls) {
    IRBuilder<> builder(call);
    const std::string place = place_of(*call);
    Constant*& text = texts[place];
    if (!text)
      text = builder.CreateGlobalString(place, "place");
    builder.CreateStore(text, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), current_lane(builder),
                                                                 offsetof(cpu::LaneContext, place)));
  }
}

} // namespace warplens::lowering
