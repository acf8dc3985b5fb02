#include "analysis/clang_invocation.h"

#include "analysis/host_registration.h"
#include "analysis/precompiled_headers.h"
#include "analysis/respelled_files.h"
#include "support/process.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Driver/Tool.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/FrontendTool/Utils.h>
#include <clang/Sema/Sema.h>
#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>
#include <utility>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace warplens::analysis {

namespace {

/// Returns whether nvcc accepts the code, maybe with a warning; the AST is the same as without the error.
bool is_harmless(unsigned id) {
  switch (id) {
  case clang::diag::err_pragma_loop_precedes_nonloop:
  case clang::diag::err_requires_positive_value:     // #pragma unroll -1
  case clang::diag::err_switch_into_protected_scope: // device code, past an initialisation
  case clang::diag::err_ref_bad_target: return true; // a kernel that launches a kernel
  default: return false;
  }
}

/// Makes a __shared__ variable of one that is declared `extern` and is not an array of unknown size: nvcc
/// lays it over the dynamic shared memory. Clang drops the attribute with the error that it makes. Returns
/// whether the diagnostic is this error.
bool share_all_the_same(const clang::Diagnostic& diagnostic) {
  if (diagnostic.getID() != clang::diag::err_cuda_extern_shared ||
      diagnostic.getArgKind(0) != clang::DiagnosticsEngine::ak_nameddecl)
    return false;
  auto* variable = reinterpret_cast<clang::NamedDecl*>(diagnostic.getRawArg(0));
  variable->addAttr(clang::CUDASharedAttr::CreateImplicit(variable->getASTContext()));
  return true;
}

/// Returns whether a kernel launches a kernel, unlike device code that calls another host function.
bool is_nested_launch(const clang::Diagnostic& diagnostic) {
  constexpr int of_kernels = 1; // the index of __global__ in the message's %select{__device__|__global__|…}0
  return diagnostic.getID() == clang::diag::err_ref_bad_target &&
         diagnostic.getArgKind(0) == clang::DiagnosticsEngine::ak_sint &&
         diagnostic.getArgSInt(0) == of_kernels;
}

/// Returns whether the note says why Clang finds no candidate for the launch of a kernel template by a
/// kernel.
bool rules_out_nested_launch(const clang::Diagnostic& note) {
  constexpr int of_kernels = 1;
  return note.getID() == clang::diag::note_ovl_candidate_bad_target &&
         note.getArgKind(3) == clang::DiagnosticsEngine::ak_sint && note.getArgSInt(3) == of_kernels;
}

ClangError error_at(const clang::Diagnostic& diagnostic, std::string reason) {
  clang::PresumedLoc place;
  if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid())
    place = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
  std::string message = place.isValid() ? fmt::format("{}:{}:{}: {}", place.getFilename(), place.getLine(),
                                                      place.getColumn(), reason)
                                        : reason;
  return {diagnostic.getLocation(), std::move(reason), std::move(message)};
}

} // namespace

void ErrorList::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  if (level == clang::DiagnosticsEngine::Note && !errors_.empty() && rules_out_nested_launch(diagnostic)) {
    constexpr std::string_view reason = "a kernel template that a kernel launches (dynamic parallelism) is "
                                        "not supported (launch it from the host)";
    ClangError& error = errors_.back();
    error.message.replace(error.message.size() - error.reason.size(), error.reason.size(), reason);
    error.reason = reason;
  }
  if (level == clang::DiagnosticsEngine::Note && is_about_shared_object_)
    note_constructor(diagnostic, lacking_targets_);
  if (level < clang::DiagnosticsEngine::Error)
    return;
  is_about_shared_object_ = is_about_shared_object(diagnostic);
  constexpr std::string_view nested =
      "a kernel that launches a kernel (dynamic parallelism) is not supported on the CPU back end (launch it "
      "from the host, or choose a GPU: --backend gpu)";
  const bool is_nested = is_nested_launch(diagnostic), refused = !nested_launches_ && is_nested;
  if (is_nested && nested_launches_)
    nested_.push_back(error_at(diagnostic, std::string(nested)));
  const bool harmless = share_all_the_same(diagnostic) || (is_ignored_ && is_ignored_()) ||
                        (is_harmless(diagnostic.getID()) && !refused);
  if (errors_.empty() && harmless) {
    // Clang generates no code after an error.
    const_cast<clang::DiagnosticsEngine*>(diagnostic.getDiags())->Reset(/*soft=*/true);
    return;
  }
  note_definition(diagnostic, lacking_targets_);
  DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  incomplete_ |= level == clang::DiagnosticsEngine::Fatal ||
                 clang::DiagnosticIDs::getCategoryNumberForDiag(diagnostic.getID()) ==
                     clang::DiagnosticIDs::getCategoryNumberForDiag(clang::diag::err_pp_hash_error);
  llvm::SmallString<256> reason;
  if (refused)
    reason = nested;
  else
    diagnostic.FormatDiagnostic(reason);
  errors_.push_back(error_at(diagnostic, std::string(reason)));
}

namespace {

/// Returns where Clang's driver takes its executable to be, since it finds Clang's own headers from there: in
/// a portable folder they are beside this program, else those of the LLVM that it was built with are used.
std::string clang_executable() {
  const auto portable = (executable_directory() / "../../lib/warplens/clang").lexically_normal();
  std::error_code error;
  return std::filesystem::is_directory(portable, error) ? (portable / "bin/clang++").string()
                                                        : WARPLENS_CLANG_EXECUTABLE;
}

/// Returns the frontend's options (`-cc1 …`) that the driver would compile this half with.
Expected<std::vector<std::string>> frontend_options(const std::vector<std::string>& arguments,
                                                    const std::string& source, Half half,
                                                    const std::vector<std::string>& extra,
                                                    ErrorList& errors) {
  const std::string executable = clang_executable();
  std::vector<std::string> words{executable};
  const bool names_program = !arguments.empty() && !arguments.front().starts_with("-");
  bool has_architecture = false;
  std::copy_if(arguments.begin() + names_program, arguments.end(), std::back_inserter(words),
               [&](const std::string& word) {
                 return !word.starts_with("--cuda-gpu-arch=") || !std::exchange(has_architecture, true);
               });
  words.insert(words.end(), extra.begin(), extra.end());
  words.insert(words.end(), {half == Half::device ? "--cuda-device-only" : "--cuda-host-only",
                             "-Wno-unused-command-line-argument", source});
  std::vector<const char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(word.c_str());

  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, new clang::DiagnosticOptions, &errors,
                                       /*ShouldOwnClient=*/false);
  clang::driver::Driver driver(executable, llvm::sys::getDefaultTargetTriple(), diagnostics);
  driver.setCheckInputsExist(true);
  std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(pointers));
  if (!errors.errors().empty())
    return fail("{}", errors.first());
  if (compilation)
    for (const clang::driver::Command& job : compilation->getJobs())
      if (llvm::StringRef(job.getCreator().getName()) == "clang") {
        const auto& options = job.getArguments();
        return std::vector<std::string>(options.begin() + 1, options.end()); // the first is -cc1
      }
  return fail("{}: Clang finds nothing to compile here; the command line needs -x cuda", source);
}

} // namespace

Expected<Compilation> prepare_compilation(const std::vector<std::string>& arguments,
                                          const std::string& source, Half half,
                                          const std::vector<std::string>& extra) {
  Compilation result{std::make_unique<ErrorList>(), std::make_unique<clang::CompilerInstance>()};
  TRY_LET(options, frontend_options(arguments, source, half, extra, *result.errors));
  std::vector<const char*> pointers;
  for (const std::string& option : *options)
    pointers.push_back(option.c_str());

  result.compiler->createDiagnostics(result.errors.get(), /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, result.compiler->getDiagnostics(),
                                                 clang_executable().c_str()))
    return fail("{}", result.errors->first());
  invocation->getFrontendOpts().DisableFree = false; // this process lives on after the compilation
  invocation->getCodeGenOpts().DisableFree = false;
  invocation->getDiagnosticOpts().ShowCarets = false; // no "1 warning generated"
  // The diagnostics are older than the options, which say what is no error (-Wno-c++11-narrowing).
  clang::ProcessWarningOptions(result.compiler->getDiagnostics(), invocation->getDiagnosticOpts(),
                               /*ReportDiags=*/false);
  result.compiler->setInvocation(std::move(invocation));
  result.compiler->createFileManager(clang::createVFSFromCompilerInvocation(
      result.compiler->getInvocation(), result.compiler->getDiagnostics(), respelled_files()));
  return result;
}

namespace {

/// Returns whether Clang is within a function that only a GPU executes.
bool is_in_device_function(clang::CompilerInstance& compiler) {
  const clang::FunctionDecl* function =
      compiler.hasSema() ? compiler.getSema().getCurFunctionDecl(/*AllowLambda=*/true) : nullptr;
  return function && !function->hasAttr<clang::CUDAHostAttr>() &&
         (function->hasAttr<clang::CUDADeviceAttr>() || function->hasAttr<clang::CUDAGlobalAttr>());
}

/// An action of Clang's that gives definitions the targets that they lack.
template <class Action> class WithTargets : public Action {
public:
  explicit WithTargets(const DefinitionTargets& targets) : targets_(targets) {}

protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.setTokenWatcher(
        [&preprocessor, this](const clang::Token& token) { insert_targets(preprocessor, token, targets_); });
    return Action::BeginSourceFileAction(compiler);
  }

private:
  DefinitionTargets targets_;
};

/// Runs the action that the command line names; with targets, one that makes an object.
bool execute(clang::CompilerInstance& compiler, const DefinitionTargets& targets) {
  if (targets.empty())
    return clang::ExecuteCompilerInvocation(&compiler);
  if (compiler.getFrontendOpts().ProgramAction == clang::frontend::EmitBC) {
    WithTargets<clang::EmitBCAction> action(targets);
    return compiler.ExecuteAction(action);
  }
  WithTargets<clang::EmitObjAction> action(targets);
  return compiler.ExecuteAction(action);
}

} // namespace

bool survives(Compilation& compilation, const std::function<void()>& work) {
  llvm::CrashRecoveryContext::Enable();
  const bool survived = llvm::CrashRecoveryContext().RunSafely([&] { work(); });
  llvm::CrashRecoveryContext::Disable();
  if (!survived) {
    static_cast<void>(compilation.compiler.release());
    static_cast<void>(compilation.errors.release());
  }
  return survived;
}

Expected<void> compile(const std::vector<std::string>& arguments, const std::string& source, Half half,
                       bool hide_entities, const std::filesystem::path& cache) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  std::string message;
  DefinitionTargets targets;
  enum class Round { with_precompiled_headers, as_it_is, with_targets };
  for (const Round round : {Round::with_precompiled_headers, Round::as_it_is, Round::with_targets}) {
    TRY_LET(compilation, prepare_compilation(arguments, source, half));
    clang::CompilerInstance& compiler = *compilation->compiler;
    if (round == Round::with_precompiled_headers &&
        (compiler.getFrontendOpts().ProgramAction == clang::frontend::PrintPreprocessedInput ||
         !use_precompiled_headers(compiler, cache)))
      continue;
    if (half == Half::device) {
      compilation->errors->refuse_nested_launches();
    } else {
      register_as_nvcc_does(compiler.getCodeGenOpts(), compiler.getLangOpts().CUID, hide_entities);
      // No code is made of such a function, in which names may be those of the other half alone.
      compilation->errors->ignore_while([&compiler] { return is_in_device_function(compiler); });
    }
    if (round == Round::with_precompiled_headers) {
      bool is_compiled = false;
      if (survives(*compilation, [&] { is_compiled = execute(compiler, {}); }) && is_compiled)
        return {};
      continue;
    }
    if (execute(*compilation->compiler, targets))
      return {};
    message = compilation->errors->first();
    targets = compilation->errors->lacking_targets();
    if (targets.empty())
      break;
  }
  return message.empty() ? fail("{}: Clang could not compile it", source) : fail("{}", message);
}

} // namespace warplens::analysis
