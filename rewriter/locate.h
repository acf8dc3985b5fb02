// Stage 3: turns the AST's memory operations into positions in the text.
#pragma once

#include "analysis/accesses_left.h"
#include "analysis/analyse.h"
#include "rewriter/access.h"
#include "rewriter/find.h"
#include "rewriter/refused.h"

#include <span>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace warplens::rewriter {

class TextRecord;

/// The accesses and kernels of one parse, as text.
struct Located {
  std::vector<Access> accesses;
  std::vector<KernelEntry> kernels;
  std::vector<LocatedBodyWithoutCode> without_code;
};

/// Locates the operations and adds the files and macro invocations that matter to `files`. `facts` are those
/// of `found.operations`, in the same order. `without_code` are functions that Clang makes no code of. If
/// `accesses_left` is null, no access counts as removed.
Located locate(clang::ASTContext& context, const TextRecord& record, const Found& found,
               std::span<const analysis::Facts> facts, const analysis::AccessesLeft* accesses_left,
               std::span<const BodyWithoutCode> without_code, UserFiles& files);

} // namespace warplens::rewriter
