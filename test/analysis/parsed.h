// A small CUDA source, parsed, with its memory operations found by a plain rule, and a way to ask for them by
// what they look like.
#pragma once

#include "analysis/analyse.h"
#include "analysis/survivors.h"
#include "support/temporary.h"

#include <string>
#include <vector>

namespace warplens::test {

/// The command line of a test: CUDA without the toolkit's headers; the keywords are defined as attributes at
/// the head of the source.
std::vector<std::string> bare_arguments();
/// The command line with NVIDIA's headers, as Warplens itself parses. `scratch` gets the empty header that
/// Clang wants.
std::vector<std::string> toolkit_arguments(const std::filesystem::path& scratch);

class Parsed {
public:
  /// Fails the test where the source does not parse. `prelude`: put the keywords' definitions in front of it.
  explicit Parsed(const std::string& source);
  Parsed(const std::string& source, std::vector<std::string> arguments, bool prelude);
  ~Parsed();

  /// The operation that the n-th occurrence (from 0) of an expression is; `text` as written.
  std::size_t index(const std::string& text, std::size_t occurrence = 0) const;
  const analysis::Facts& facts(const std::string& text, std::size_t occurrence = 0) const;
  trace::Space space(const std::string& text, std::size_t occurrence = 0) const;
  std::uint32_t sequence(const std::string& text, std::size_t occurrence = 0) const;
  /// As written, of the operations that its address depends on.
  std::vector<std::string> depends_on(const std::string& text, std::size_t occurrence = 0) const;
  analysis::Survival survival(const std::string& text, std::size_t occurrence = 0);
  /// Is it left as an access to local memory?
  bool in_local_memory(const std::string& text, std::size_t occurrence = 0);
  /// `gone`, `stays` or `hoisted`.
  std::string fate(const std::string& text, std::size_t occurrence = 0);

  const std::vector<MemoryOperation>& operations() const { return operations_; }

private:
  struct Frontend;
  const analysis::Survivors& survivors();
  std::string written(std::size_t operation) const;

  TemporaryDirectory folder_;
  std::vector<std::string> arguments_;
  std::unique_ptr<Frontend> frontend_;
  std::vector<MemoryOperation> operations_;
  std::vector<analysis::Facts> facts_;
  std::unique_ptr<analysis::Survivors> survivors_;
};

} // namespace warplens::test
