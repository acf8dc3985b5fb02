#include "lowering/noted_accesses.h"

#include <filesystem>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

// The rewriter's notes, named as in rewriter/print.cpp, and the marks that they lead to.
constexpr char local_memory[] = "warplens.local_memory", removed[] = "warplens.removed",
               copied[] = "warplens.copied";

using Lines = std::set<std::pair<std::string, unsigned>>;

Lines lines_of(const Module& module, StringRef kind) {
  Lines lines;
  if (const NamedMDNode* notes = module.getNamedMetadata(kind))
    for (const MDNode* note : notes->operands()) {
      SmallVector<StringRef, 8> words; // LINE,LINE,…,FILE
      const StringRef text = cast<MDString>(note->getOperand(0))->getString();
      text.split(words, ',', static_cast<int>(text.take_until([](char c) { return c == '/'; }).count(',')));
      for (const StringRef word : ArrayRef(words).drop_back())
        if (unsigned line = 0; !word.getAsInteger(10, line))
          lines.emplace(words.back().str(), line);
    }
  return lines;
}

std::pair<std::string, unsigned> line_of(const DILocation& location) {
  const auto file = std::filesystem::path(location.getDirectory().str()) / location.getFilename().str();
  return {file.lexically_normal().string(), location.getLine()};
}

SmallVector<const Value*, 2> addresses_of(const Instruction& instruction) {
  if (const Value* address = getLoadStorePointerOperand(&instruction))
    return {address};
  if (const auto* copy = dyn_cast<MemTransferInst>(&instruction))
    return {copy->getRawDest(), copy->getRawSource()};
  if (const auto* fill = dyn_cast<MemSetInst>(&instruction))
    return {fill->getRawDest()};
  return {};
}

/// Returns whether a line of these is the access's own, as of inline PTX, or leads to it in a header.
bool is_of_copy(const DILocation& location, const Lines& copies) {
  if (copies.contains(line_of(location)))
    return true;
  for (const DILocation* call = location.getInlinedAt(); call; call = call->getInlinedAt())
    if (copies.contains(line_of(*call)) && call->getFile() != location.getFile())
      return true;
  return false;
}

} // namespace

bool keep_note(Module& module, StringRef annotation) {
  const auto [name, lines] = annotation.split(' ');
  if (name != local_memory && name != removed && name != copied)
    return false;
  auto& context = module.getContext();
  module.getOrInsertNamedMetadata(name)->addOperand(MDNode::get(context, MDString::get(context, lines)));
  return true;
}

void mark_noted_accesses(Module& module) {
  const Lines local_lines = lines_of(module, local_memory), removed_lines = lines_of(module, removed),
              copies = lines_of(module, copied);
  if (local_lines.empty() && removed_lines.empty() && copies.empty())
    return;
  MDNode* mark = MDNode::get(module.getContext(), {});
  for (Function& function : module)
    for (Instruction& instruction : instructions(function)) {
      const auto addresses = addresses_of(instruction);
      const DILocation* location = instruction.getDebugLoc().get();
      if (addresses.empty() || !location)
        continue;
      const auto line = line_of(*location);
      if (removed_lines.contains(line))
        instruction.setMetadata(removed, mark);
      if (!copies.empty() && is_of_copy(*location, copies))
        instruction.setMetadata(copied, mark);
      if (!local_lines.contains(line))
        continue;
      for (const Value* address : addresses) {
        SmallVector<const Value*, 4> objects;
        getUnderlyingObjects(address, objects, nullptr, 0);
        for (const Value* object : objects)
          if (const auto* variable = dyn_cast<AllocaInst>(object))
            const_cast<AllocaInst*>(variable)->setMetadata(local_memory, mark);
      }
    }
}

bool has_unseen_accesses(const AllocaInst& variable) {
  return variable.hasMetadata(local_memory);
}

bool is_of_probed_copy(const Instruction& access) {
  return access.hasMetadata(copied);
}

bool is_removed_on_gpus(const Instruction& access) {
  return access.hasMetadata(removed);
}

} // namespace warplens::lowering
