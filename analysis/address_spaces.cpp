#include "analysis/address_spaces.h"

#include "analysis/space_flow.h"

#include <clang/AST/Attr.h>
#include <llvm/ADT/SetVector.h>

namespace warplens::analysis {

using clang::FunctionDecl;

namespace {

/// The functions to analyse: those with operations and all that they call, directly or not.
class Program {
public:
  Program(clang::ASTContext& context, std::span<const MemoryOperation> operations)
      : context_(context), operations_(operations), by_function_(by_function(operations)) {
    for (const auto& [function, own] : by_function_)
      functions_.insert(function);
    // Calls from kernels without operations of their own matter too.
    add_kernels(context.getTranslationUnitDecl());
  }

  /// Phase 1: describes each function in terms of its inputs, until the summaries no longer change.
  void summarise() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < functions_.size(); ++i) { // the list grows as calls are met
        const FunctionDecl* function = functions_[i];
        const auto own = by_function_.find(function);
        SpaceFlow flow = analyse_spaces(
            *function, graph(function), own == by_function_.end() ? nullptr : &own->second, operations_,
            [this](const FunctionDecl* callee) { return flows_[callee].summary; });
        for (const SpaceEdge& call : flow.calls)
          changed |= functions_.insert(call.callee);
        changed |= !(flows_[function].summary == flow.summary);
        flows_[function] = std::move(flow);
      }
    }
  }

  /// Phase 2: determines each function's actual inputs, from the kernels down.
  void resolve() {
    for (const FunctionDecl* function : functions_)
      if (function->hasAttr<clang::CUDAGlobalAttr>())
        seed_kernel(function);
    propagate();
    // A function that no kernel of this translation unit reaches is called from others, or not at all.
    for (const FunctionDecl* function : functions_)
      if (!reached_.contains(function) || is_called_from_elsewhere(function))
        seed_unknown(function);
    propagate();
  }

  std::vector<Space> spaces() {
    std::vector<Space> result(operations_.size(), Space::generic);
    for (const auto& [function, flow] : flows_)
      for (const auto& [index, set] : flow.operations)
        result[index] = substitute(set, inputs_[function]).only();
    return result;
  }

private:
  void add_kernels(const clang::DeclContext* scope) {
    for (const clang::Decl* declaration : scope->decls())
      if (const auto* function = llvm::dyn_cast<FunctionDecl>(declaration)) {
        if (function->hasAttr<clang::CUDAGlobalAttr>() && function->doesThisDeclarationHaveABody())
          functions_.insert(function);
      } else if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
        for (const FunctionDecl* instance : pattern->specializations())
          if (instance->hasAttr<clang::CUDAGlobalAttr>())
            if (const FunctionDecl* definition = definition_of(instance))
              functions_.insert(definition);
      } else if (const auto* inner = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
        add_kernels(inner);
      } else if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration)) {
        add_kernels(linkage);
      }
  }

  const clang::CFG* graph(const FunctionDecl* function) {
    auto& graph = graphs_[function];
    if (!graph)
      graph = build_graph(*function, context_);
    return graph.get();
  }

  void seed_kernel(const FunctionDecl* kernel) {
    for (unsigned i = 0; i < kernel->getNumParams(); ++i)
      inputs_[kernel][i + 1] = kernel->getParamDecl(i)->getType()->isPointerType()
                                   ? PointerFact{SpaceSet::of(Space::global), SpaceSet::anything()}
                                   : PointerFact{SpaceSet::of(Space::constant), SpaceSet::of(Space::global)};
    reached_.insert(kernel);
  }

  void seed_unknown(const FunctionDecl* function) {
    for (Input input = 0; input < std::min(first_captured_input(*function), max_inputs); ++input)
      inputs_[function][input].join(PointerFact::anything());
    reached_.insert(function);
  }

  bool is_called_from_elsewhere(const FunctionDecl* function) const {
    if (function->hasAttr<clang::CUDAGlobalAttr>())
      return false;
    if (context_.getLangOpts().GPURelocatableDeviceCode && function->isExternallyVisible() &&
        !function->isInlineSpecified() && !function->isTemplateInstantiation())
      return true;
    for (const auto& [other, flow] : flows_)
      if (llvm::is_contained(flow.address_taken, function))
        return true;
    return false;
  }

  void propagate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const FunctionDecl* caller : functions_) {
        if (!reached_.contains(caller))
          continue;
        changed |= take_captures(caller);
        for (const SpaceEdge& call : flows_[caller].calls) {
          changed |= reached_.insert(call.callee).second;
          for (const auto& [input, fact] : call.arguments)
            changed |= inputs_[call.callee][input].join(substitute(fact, inputs_[caller]));
        }
      }
    }
  }

  /// Takes the captures of a lambda where it was made. A lambda that came with a kernel's arguments was made
  /// on the host: its pointers are to global memory, like all pointers that kernels are given.
  bool take_captures(const FunctionDecl* lambda) {
    const std::vector<const clang::VarDecl*> variables = captured_variables(*lambda);
    if (variables.empty())
      return false;
    const auto* closure = llvm::cast<clang::CXXMethodDecl>(lambda)->getParent();
    bool made_here = false, changed = false;
    for (const FunctionDecl* maker : functions_)
      for (const CaptureEdge& edge : flows_[maker].captures) {
        if (edge.closure != closure)
          continue;
        made_here = true;
        if (!reached_.contains(maker))
          continue;
        for (std::size_t i = 0; i < variables.size(); ++i)
          changed |= take_capture(lambda, i, substitute(edge.captured.lookup(variables[i]), inputs_[maker]));
      }
    for (std::size_t i = 0; i < variables.size() && !made_here; ++i)
      changed |= take_capture(lambda, i, {SpaceSet::of(Space::global), SpaceSet::anything()});
    return changed;
  }

  bool take_capture(const FunctionDecl* lambda, std::size_t number, const PointerFact& fact) {
    const Input input = first_captured_input(*lambda) + number;
    return input < max_inputs && inputs_[lambda][input].join(fact);
  }

  clang::ASTContext& context_;
  std::span<const MemoryOperation> operations_;
  OperationsByFunction by_function_;
  llvm::SetVector<const FunctionDecl*> functions_;
  llvm::DenseSet<const FunctionDecl*> reached_;
  std::map<const FunctionDecl*, std::unique_ptr<clang::CFG>> graphs_;
  std::map<const FunctionDecl*, SpaceFlow> flows_;
  std::map<const FunctionDecl*, Arguments> inputs_;
};

} // namespace

std::vector<Space> address_spaces(clang::ASTContext& context, std::span<const MemoryOperation> operations) {
  Program program(context, operations);
  program.summarise();
  program.resolve();
  return program.spaces();
}

} // namespace warplens::analysis
