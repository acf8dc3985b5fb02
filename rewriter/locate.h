// Stage 3: from the AST's memory operations to positions in the text.
#pragma once

#include "analysis/analyse.h"
#include "analysis/survivors.h"
#include "rewriter/access.h"
#include "rewriter/find.h"

#include <span>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace warplens::rewriter {

class TextRecord;

/// What one parse found, as text.
struct Located {
  std::vector<Access> accesses;
  std::vector<KernelEntry> kernels;
};

/// Adds the files and the macro invocations that matter to `files`. `facts` are those of `found.operations`,
/// in the same order; `survivors` may be null: then nothing is taken to be removed.
Located locate(clang::ASTContext& context, const TextRecord& record, const Found& found,
               std::span<const analysis::Facts> facts, const analysis::Survivors* survivors,
               UserFiles& files);

} // namespace warplens::rewriter
