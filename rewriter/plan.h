// Stage 4: which accesses get a probe, and what that changes in the text.
#pragma once

#include "rewriter/instrument.h"
#include "rewriter/locate.h"

#include <set>
#include <span>

namespace warplens::rewriter {

/// A probe around a stretch of text.
struct Probe {
  Span span;
  trace::AccessKind kind = trace::AccessKind::load;
  std::uint64_t site = 0;
  bool through_pointer = false;
  bool overloads_address_of = false;
  bool lvalue_in_some_instances = false; ///< and no lvalue in others, which the probe leaves alone
  Handle handle = Handle::none;
  unsigned bytes = 0; ///< of one access that is wider than its object; 0: the object's own
  std::string when;   ///< as C++, whether it records: a flag of a loop's, or a condition; empty: always
};

/// What a loop gets that probes inside depend on, as C++.
struct LoopEdits {
  std::vector<std::string> flags; ///< of probes that record once per entry of the loop, as they are declared
  std::string counter;            ///< the number of its iteration; empty: nobody asks for it
  Span body;                      ///< where that is counted, as in UnrolledLoop
  bool needs_braces = false;
};

/// What changes in one file.
struct FileEdits {
  std::vector<Probe> probes;
  std::vector<Position> kernel_entries;
  std::map<Span, LoopEdits> loops;
  std::map<unsigned, Invocation> expansions; ///< invocations to be replaced by their expansions
};

struct Plan {
  std::map<std::string, FileEdits> edits;  ///< by real path
  std::map<std::string, std::string> text; ///< of the user's files that were looked into, by real path
  std::vector<trace::Site> sites;
  std::vector<Unseen> removed, unseen, repeated;
  std::set<analysis::Position> unseen_local; ///< where accesses to local memory are left without a probe
};

/// Merges what the parses found.
Expected<Plan> plan(std::span<const Located> parses, const UserFiles& files);

} // namespace warplens::rewriter
