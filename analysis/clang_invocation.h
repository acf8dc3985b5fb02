// From a clang++ command line to one in-process compilation of one half of a CUDA source.
#pragma once

#include "support/expected.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <memory>
#include <string>
#include <vector>

namespace warplens::analysis {

enum class Half { device, host };

/// Keeps the first error of a compilation as `file:line:column: reason` and drops everything else.
class FirstError : public clang::DiagnosticConsumer {
public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override;
  /// Empty as long as there was none.
  const std::string& message() const { return message_; }

private:
  std::string message_;
};

/// A compiler, set up and ready for ExecuteAction(), and the consumer of its diagnostics, which it refers to.
struct Compilation {
  std::unique_ptr<FirstError> first_error;
  std::unique_ptr<clang::CompilerInstance> compiler;
};

/// `arguments` is a clang++ command line (with or without the program's name) that names neither source nor
/// half: -x cuda, --cuda-path, --cuda-gpu-arch, -isystem, -I, -D, -std, … Where it names several
/// architectures, the first counts. `extra` is added behind it (-O2, …). Files are read as respell() makes
/// them. The driver of the Clang that Warplens was built with turns
/// them into options of the frontend, as clang++ would; the frontend's action is the caller's choice.
Expected<Compilation> prepare_compilation(const std::vector<std::string>& arguments,
                                          const std::string& source, Half half,
                                          const std::vector<std::string>& extra = {});

/// Does what `arguments` say (-c, -emit-llvm, -o, …). The error is Clang's first.
Expected<void> compile(const std::vector<std::string>& arguments, const std::string& source, Half half);

} // namespace warplens::analysis
