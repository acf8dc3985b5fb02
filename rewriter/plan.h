// Stage 4: chooses the accesses that get a probe and plans the changes of the text.
#pragma once

#include "rewriter/instrument.h"
#include "rewriter/locate.h"

#include <set>
#include <span>

namespace warplens::rewriter {

/// A probe around a stretch of text, before a barrier, or around the condition of a marked body.
struct Probe {
  Span span;
  AccessKind kind = AccessKind::load;
  std::uint64_t site = 0;
  bool through_pointer = false;
  std::optional<When> marks_when; ///< of a condition: the value with which its body is executed
  bool overloads_address_of = false;
  bool lvalue_in_some_instances = false; ///< it is no lvalue in other instances, which the probe leaves alone
  Handle handle = Handle::none;
  std::optional<CopySide> copy; ///< of an asynchronous copy
  unsigned bytes = 0;           ///< the size of one access that is wider than its object; 0: the object's own
  std::string
      when; ///< the C++ condition under which it records: a flag of a loop, or an expression; empty: always
};

/// The C++ code that a loop gets for the probes inside.
struct LoopEdits {
  std::vector<std::string>
      flags;           ///< declarations of the flags of probes that record once per entry of the loop
  std::string counter; ///< the number of its iteration; empty: no probe needs it
  Span body;           ///< the place where iterations are counted, as in UnrolledLoop
  bool needs_braces = false;
};

/// The changes of one file.
struct FileEdits {
  std::vector<Probe> probes;
  std::vector<Position> kernel_entries;
  std::map<Span, LoopEdits> loops;
  std::vector<LocatedBodyWithoutCode> without_code;
  std::map<unsigned, Invocation> expansions; ///< the invocations to be replaced by their expansions
};

struct Plan {
  std::map<std::string, FileEdits> edits; ///< keyed by real path
  std::map<std::string, std::string>
      text; ///< the texts of the user's files that were looked into, keyed by real path
  std::vector<Site> sites;
  std::vector<Unseen> removed, unseen, repeated;
  std::set<analysis::Position> copies; ///< the positions of asynchronous copies with probes
  std::set<analysis::Position>
      unseen_local; ///< the positions at which accesses to local memory are left without a probe
};

/// Merges the accesses of the parses and plans the probes.
Expected<Plan> plan(std::span<const Located> parses, const UserFiles& files);

} // namespace warplens::rewriter
