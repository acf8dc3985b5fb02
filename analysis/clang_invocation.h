// Turns a clang++ command line into one in-process compilation of one half of a CUDA source.
#pragma once

#include "analysis/definition_targets.h"
#include "support/expected.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceLocation.h>
#include <clang/Frontend/CompilerInstance.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warplens::analysis {

enum class Half { device, host };

/// An error that Clang reported.
struct ClangError {
  clang::SourceLocation place;
  std::string reason;
  std::string message; ///< file:line:column: reason
};

/// Keeps the errors of a compilation and drops all other diagnostics, also the errors that nvcc does not make
/// and that leave the AST whole.
class ErrorList : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;
  const std::vector<ClangError>& errors() const { return errors_; }
  /// Returns whether an error concerned the text rather than its semantics, or ended the compilation early.
  bool incomplete() const { return incomplete_; }
  /// Makes a nested launch (of a kernel by a kernel) an error: the code is for a back end without them.
  void refuse_nested_launches() { nested_launches_ = false; }
  /// Returns the nested launches that were let pass.
  const std::vector<ClangError>& nested_launches() const { return nested_; }
  /// Makes errors harmless as long as the function returns true.
  void ignore_while(std::function<bool()> is_ignored) { is_ignored_ = std::move(is_ignored); }
  /// Returns the functions that were refused because they lack targets that others of their declarations
  /// have, or that nvcc does not ask for: with these, the source may be accepted.
  const DefinitionTargets& lacking_targets() const { return lacking_targets_; }
  /// Returns the first error's message, or an empty string if there was none.
  std::string first() const { return errors_.empty() ? std::string() : errors_.front().message; }

private:
  std::vector<ClangError> errors_, nested_;
  DefinitionTargets lacking_targets_;
  std::function<bool()> is_ignored_;
  bool incomplete_ = false;
  bool is_about_shared_object_ = false; ///< the last error
  bool nested_launches_ = true;
};

/// A compiler, set up and ready for ExecuteAction(), and the consumer of its diagnostics, which it refers to.
struct Compilation {
  std::unique_ptr<ErrorList> errors;
  std::unique_ptr<clang::CompilerInstance> compiler;
};

/// `arguments` is a clang++ command line (with or without the program's name) that names neither source nor
/// half: -x cuda, --cuda-path, --cuda-gpu-arch, -isystem, -I, -D, -std, … If it names several architectures,
/// the first counts. `extra` is added behind it (-O2, …). Files are read through respelled_files(). The
/// driver of the Clang that Warplens was built with turns the arguments into options of the frontend, as
/// clang++ would; the frontend's action is the caller's choice.
Expected<Compilation> prepare_compilation(const std::vector<std::string>& arguments,
                                          const std::string& source, Half half,
                                          const std::vector<std::string>& extra = {});

/// Calls `work`, which runs an action of the compilation, and returns whether Clang survived it: it crashes
/// in some headers behind precompiled ones (`delete this` in the device half). What the compilation had then
/// is never freed.
bool survives(Compilation& compilation, const std::function<void()>& work);

/// Runs the action that `arguments` name (-c, -emit-llvm, -o, …). The error is Clang's first. A host half
/// registers its kernels as nvcc's does; `hide_entities` as of register_as_nvcc_does(). `cache`, if not
/// empty, holds precompiled headers.
Expected<void> compile(const std::vector<std::string>& arguments, const std::string& source, Half half,
                       bool hide_entities, const std::filesystem::path& cache);

} // namespace warplens::analysis
