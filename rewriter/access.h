// A memory operation as positions in text, which outlive its AST. The operations of parses for several
// architectures and of a template's instances are merged in this form.
#pragma once

#include "analysis/debug_position.h"
#include "analysis/dependences.h"

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warplens::rewriter {

/// A point between two characters of a file, or, if a macro invocation is replaced by its expansion, between
/// two of the expansion's tokens: then `offset` is the start of the invocation, and `token` is 2(i + 1) in
/// front of token i and one more behind it.
struct Position {
  unsigned offset = 0;
  unsigned token = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Span {
  Position begin, end;
  friend auto operator<=>(const Span&, const Span&) = default;
};

/// An invocation of a macro in a file, and its expansion.
struct Invocation {
  unsigned begin = 0, end = 0; ///< offsets of the invocation in its file
  std::vector<std::string> tokens;
  bool stringizes = false; ///< an argument's text becomes part of the program
  friend bool operator==(const Invocation&, const Invocation&) = default;
};

/// An #include of one of the user's files: the place of the name, with its quotes or brackets.
struct Include {
  unsigned length = 0;
  std::string target;  ///< real path
  bool varies = false; ///< a macro names another file each time: the directive stays as it is
};

/// A file of the user's, keyed by its real path.
struct UserFile {
  std::string name;                           ///< Clang's spelling, which is the user's
  std::map<unsigned, Include> includes;       ///< keyed by offset; only those that a parse followed
  std::map<unsigned, Invocation> invocations; ///< keyed by offset; only those that hold accesses
  std::map<unsigned, std::string>
      disagreeing; ///< keyed by offset: invocations that expand differently, and why that matters
};
using UserFiles = std::map<std::string, UserFile>;

/// The start of a kernel's body, behind its opening brace.
struct KernelEntry {
  std::string file; ///< real path
  std::optional<Position> direct, expanded;
};

/// The body of a function that Clang makes no device code of, in its file's own text.
struct LocatedBodyWithoutCode {
  std::string file;                ///< real path
  Position begin, end;             ///< between the braces
  unsigned line = 0, end_line = 0; ///< of the braces
  std::string reason;
};

/// A loop that the compiler unrolls fully, in its file's own text.
struct UnrolledLoop {
  Span whole;                ///< the loop with its attributes and pragmas
  Span body;                 ///< the body; of a body in braces, the text between them
  bool needs_braces = false; ///< the body has none
  unsigned iterations = 0;   ///< the largest number in any instance
  friend bool operator==(const UnrolledLoop&, const UnrolledLoop&) = default;
};

/// The iterations of unrolled loops that the compiler leaves an access in.
struct LeftIterations {
  std::vector<UnrolledLoop> loops;                          ///< the loops around the access, outermost first
  std::set<std::vector<std::optional<unsigned>>> left = {}; ///< one number for each loop; absent: any
  friend bool operator==(const LeftIterations&, const LeftIterations&) = default;
};

/// The value of a condition with which a marked body is executed; `any`: the body of a do loop; `entered`:
/// there is no condition, and the mark stands behind the body's opening brace.
enum class When { taken, not_taken, any, entered };

/// One side of an asynchronous copy: `CopyText` as text.
struct CopySide {
  std::string probe; ///< empty: inline PTX
  std::string parameters;
  unsigned bytes = 0;
  std::optional<Span> condition; ///< in the file's own text
  bool negated = false;
};

/// An access, a barrier, or the condition of a marked body.
struct Access {
  std::string file;           ///< real path
  std::optional<Span> direct; ///< the range in the file's own text, if the access can be wrapped there
  std::optional<Span>
      expanded; ///< the range with the macro invocations that it touches replaced by their expansions
  std::vector<unsigned> invocations; ///< the offsets of those invocations
  bool through_pointer = false;
  std::optional<When> when; ///< of the condition of a marked body
  Handle handle = Handle::none;
  std::optional<Span> call; ///< for a handle or a copy by a function: the call, in the file's own text
  std::optional<CopySide> copy;
  bool overloads_address_of = false;
  bool lvalue_in_some_instances = false; ///< the expression is no lvalue in other instances
  Site site;                             ///< everything but id and depends_on
  analysis::Needed needed;               ///< indices into the parse's accesses
  std::string unseen;                    ///< the reason if it can have no probe; empty: it can
  analysis::Position in_debug_information;
  bool is_local = false; ///< it is in local memory

  bool is_left = true;                     ///< the compiler leaves the access or a part of it
  AccessKind kind_left = AccessKind::load; ///< an update may be left as a load or a store alone
  std::optional<Span> out_of; ///< the loop that the compiler hoists it out of, in the file's own text
  LeftIterations iterations;  ///< no loops: it is left in all iterations
  std::string repeated;       ///< the reason if it is left less often than it is counted; empty: it is not
  unsigned joined_bytes = 0;  ///< analysis::AccessLeft::joined_bytes
  std::optional<analysis::Position> joined_into; ///< analysis::AccessLeft::joined_into
};

} // namespace warplens::rewriter
