// A memory operation as positions in text: what is left of it once its AST is gone. Parses for several
// architectures and the instances of a template meet here and are merged.
#pragma once

#include "analysis/debug_position.h"
#include "analysis/memory_operation.h"

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::rewriter {

/// A point between two characters of a file, or, where a macro invocation is replaced by its expansion,
/// between two of the expansion's tokens: then `offset` is where the invocation starts, and `token` is 2(i +
/// 1) in front of token i and one more behind it.
struct Position {
  unsigned offset = 0;
  unsigned token = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Span {
  Position begin, end;
  friend auto operator<=>(const Span&, const Span&) = default;
};

/// An invocation of a macro in a file, and what it expands to.
struct Invocation {
  unsigned begin = 0, end = 0; ///< offsets of the invocation in its file
  std::vector<std::string> tokens;
  bool stringizes = false; ///< an argument's text becomes part of the program
  friend bool operator==(const Invocation&, const Invocation&) = default;
};

/// An #include of a file of the user's: where the name stands, with its quotes or brackets.
struct Include {
  unsigned length = 0;
  std::string target; ///< real path
};

/// A file of the user's, by its real path.
struct UserFile {
  std::string name;                            ///< as Clang spells it: as the user named it
  std::map<unsigned, Include> includes;        ///< by offset; those that a parse followed
  std::map<unsigned, Invocation> invocations;  ///< by offset; those that hold accesses
  std::map<unsigned, std::string> disagreeing; ///< invocations that expand differently, and why that matters
};
using UserFiles = std::map<std::string, UserFile>;

/// Where a kernel's body starts: behind its opening brace.
struct KernelEntry {
  std::string file; ///< real path
  std::optional<Position> direct, expanded;
};

/// A loop that the compiler unrolls fully, in its file's own text.
struct UnrolledLoop {
  Span whole;                ///< with its attributes and pragmas
  Span body;                 ///< of a body in braces, what is between them
  bool needs_braces = false; ///< the body has none
  unsigned iterations = 0;   ///< the most that an instance has
  friend bool operator==(const UnrolledLoop&, const UnrolledLoop&) = default;
};

/// The iterations of unrolled loops that the compiler leaves an access in.
struct LeftIterations {
  std::vector<UnrolledLoop> loops;                          ///< around the access, outermost first
  std::set<std::vector<std::optional<unsigned>>> left = {}; ///< one number for each loop; absent: any
  friend bool operator==(const LeftIterations&, const LeftIterations&) = default;
};

struct Access {
  std::string file;             ///< real path
  std::optional<Span> direct;   ///< in the file's own text, where the access can be wrapped there
  std::optional<Span> expanded; ///< with the macro invocations that it touches replaced by their expansions
  std::vector<unsigned> invocations; ///< offsets of those
  bool through_pointer = false;
  Handle handle = Handle::none;
  std::optional<Span> call; ///< through a handle: of what, in the file's own text
  bool overloads_address_of = false;
  bool lvalue_in_some_instances = false; ///< and no lvalue in others
  trace::Site site;                      ///< without id and depends_on
  std::vector<std::size_t> depends_on;   ///< indices into the parse's accesses
  std::string unseen;                    ///< why it can have no probe; empty: it can
  analysis::Position in_debug_information;
  bool is_local = false; ///< it is in local memory

  bool survives = true;                             ///< the compiler leaves something of it
  trace::AccessKind left = trace::AccessKind::load; ///< what: of an update, maybe the load or the store alone
  std::optional<Span> out_of; ///< the loop that the compiler hoists it out of, in the file's own text
  LeftIterations iterations;  ///< without loops: all
  std::string repeated;       ///< it is left less often than it is counted: why
  unsigned joined_bytes = 0;  ///< analysis::Survival::joined_bytes
  std::optional<analysis::Position> joined_into; ///< analysis::Survival::joined_into
};

} // namespace warplens::rewriter
