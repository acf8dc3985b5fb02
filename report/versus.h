// Two versions of a program beside each other: what `warplens ab` prints.
#pragma once

#include "document/document.h"
#include "judge/speed_verdict.h"

#include <string>

namespace warplens::report {

/// Two versions, "A" and "B", and how their results differ.
struct Versus {
  std::string a, b; ///< where each is from
  const judge::Difference* difference;
  const judge::SpeedComparison* speed;
  bool sources_differ = false; ///< in their text
};

/// Returns the ratio of the times after and before, or the inverse, with half of its 95 % interval: "1.31 ±
/// 0.04".
std::string ratio_text(const judge::RelativeChange& change, bool inverse);

/// Returns "B is 1.31 ± 0.04 times as fast as A on a100", "B takes 1.31 ± 0.04 times as long as A on a100",
/// "B takes as long as A on a100, within ±1 %", or why none of these can be said.
std::string sentence_of(const judge::TotalSpeed& total, double tolerance);

/// Returns the verdict on each kernel, the accesses that changed, and a sentence for each GPU, which is last
/// on a terminal and first on a page.
document::Document versus_document(const Versus& versus);

} // namespace warplens::report
