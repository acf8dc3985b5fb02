// Which variables of a thread lie in local memory on a GPU and are accessed without a probe. The rewriter,
// which has looked at the code as optimised for a GPU, names the lines of such accesses (rewriter/print.cpp):
// here loops are not unrolled yet, and what a GPU has in registers looks the same.
#include "lowering/local_memory.h"

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

constexpr char note_prefix[] = "warplens.local_memory "; // as rewriter/print.cpp writes it
constexpr char noted_lines[] = "warplens.local_memory";
constexpr char unseen_variable[] = "warplens.unseen_local_memory";

std::set<std::pair<std::string, unsigned>> lines_of(const Module& module) {
  std::set<std::pair<std::string, unsigned>> lines;
  if (const NamedMDNode* notes = module.getNamedMetadata(noted_lines))
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

} // namespace

bool keep_local_memory_note(Module& module, StringRef annotation) {
  if (!annotation.consume_front(note_prefix))
    return false;
  auto& context = module.getContext();
  module.getOrInsertNamedMetadata(noted_lines)
      ->addOperand(MDNode::get(context, MDString::get(context, annotation)));
  return true;
}

void mark_local_memory(Module& module) {
  const auto lines = lines_of(module);
  if (lines.empty())
    return;
  MDNode* mark = MDNode::get(module.getContext(), {});
  for (Function& function : module)
    for (const Instruction& instruction : instructions(function)) {
      const DILocation* location = instruction.getDebugLoc().get();
      if (!location || !lines.contains(line_of(*location)))
        continue;
      for (const Value* address : addresses_of(instruction)) {
        SmallVector<const Value*, 4> objects;
        getUnderlyingObjects(address, objects, nullptr, 0);
        for (const Value* object : objects)
          if (const auto* variable = dyn_cast<AllocaInst>(object))
            const_cast<AllocaInst*>(variable)->setMetadata(unseen_variable, mark);
      }
    }
}

bool has_unseen_accesses(const AllocaInst& variable) {
  return variable.hasMetadata(unseen_variable);
}

} // namespace warplens::lowering
