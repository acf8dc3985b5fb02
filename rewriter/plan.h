// Stage 4: which accesses get a probe, and what that changes in the text.
#pragma once

#include "rewriter/instrument.h"
#include "rewriter/locate.h"

#include <span>

namespace warplens::rewriter {

/// A probe around a stretch of text.
struct Probe {
  Span span;
  trace::AccessKind kind = trace::AccessKind::load;
  std::uint64_t site = 0;
  bool through_pointer = false;
  bool overloads_address_of = false;
  Handle handle = Handle::none;
  unsigned first = 0; ///< number of the flag of a probe that records once per entry of a loop; 0: always
};

/// What changes in one file.
struct FileEdits {
  std::vector<Probe> probes;
  std::vector<Position> kernel_entries;
  std::map<Span, std::vector<unsigned>> loops; ///< with the flags that are theirs
  std::map<unsigned, Invocation> expansions;   ///< invocations to be replaced by their expansions
};

struct Plan {
  std::map<std::string, FileEdits> edits;  ///< by real path
  std::map<std::string, std::string> text; ///< of the user's files that were looked into, by real path
  std::vector<trace::Site> sites;
  std::vector<Unseen> removed, unseen, repeated;
};

/// Merges what the parses found.
Expected<Plan> plan(std::span<const Located> parses, const UserFiles& files);

} // namespace warplens::rewriter
