// A small CUDA source, parsed, with its memory operations found by a plain rule and looked up by their text.
#pragma once

#include "analysis/accesses_left.h"
#include "analysis/analyse.h"
#include "support/temporary.h"

#include <string>
#include <vector>

namespace warplens::test {

/// Returns the command line of a test: CUDA without the toolkit's headers; the keywords are defined as
/// attributes at the head of the source.
std::vector<std::string> bare_arguments();
/// Returns the command line with NVIDIA's headers, as Warplens itself parses. `scratch` gets the empty header
/// that Clang needs.
std::vector<std::string> toolkit_arguments(const std::filesystem::path& scratch);

class Parsed {
public:
  /// Parses a source and fails the test if it does not parse. `prelude` puts the keywords' definitions in
  /// front of it.
  explicit Parsed(const std::string& source);
  Parsed(const std::string& source, std::vector<std::string> arguments, bool prelude);
  ~Parsed();

  /// Returns the operation at the n-th occurrence (from 0) of an expression; `text` as written.
  std::size_t index(const std::string& text, std::size_t occurrence = 0) const;
  const analysis::Facts& facts(const std::string& text, std::size_t occurrence = 0) const;
  Space space(const std::string& text, std::size_t occurrence = 0) const;
  std::uint32_t sequence(const std::string& text, std::size_t occurrence = 0) const;
  /// Returns the sequence where it is known which loops the compiler unrolls.
  std::uint32_t sequence_in_code(const std::string& text, std::size_t occurrence = 0);
  /// Returns the texts of the operations that its address and its conditions need.
  std::vector<std::string> depends_on(const std::string& text, std::size_t occurrence = 0) const;
  /// Returns the texts of the operations that the value it stores needs.
  std::vector<std::string> stores(const std::string& text, std::size_t occurrence = 0) const;
  analysis::AccessLeft access_left(const std::string& text, std::size_t occurrence = 0);
  /// Returns whether it is left as an access to local memory.
  bool in_local_memory(const std::string& text, std::size_t occurrence = 0);
  /// Returns `removed`, `stays` or `hoisted`.
  std::string fate(const std::string& text, std::size_t occurrence = 0);

  const std::vector<MemoryOperation>& operations() const { return operations_; }

private:
  struct Frontend;
  const analysis::AccessesLeft& accesses_left();
  std::string written(std::size_t operation) const;
  std::vector<std::string> written_all(const std::vector<std::size_t>& operations) const;

  TemporaryDirectory folder_;
  std::vector<std::string> arguments_;
  std::unique_ptr<Frontend> frontend_;
  std::vector<MemoryOperation> operations_;
  std::vector<analysis::Facts> facts_;
  std::unique_ptr<analysis::AccessesLeft> accesses_left_;
};

} // namespace warplens::test
