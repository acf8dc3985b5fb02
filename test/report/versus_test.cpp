#include "document/print.h"
#include "report/versus.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

using namespace warplens;
using namespace warplens::judge;
using namespace warplens::report;

namespace {

TotalSpeed total_of(SpeedVerdict verdict, std::optional<RelativeChange> change, std::string reason = "") {
  return {"a100", {.verdict = verdict, .change = change, .reason = std::move(reason)}};
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("versus: a sentence says how much faster one version is") {
  using enum SpeedVerdict;
  CHECK(sentence_of(total_of(faster, RelativeChange{-0.5, -0.52, -0.48}), 0.01) ==
        "B is 2.00 ± 0.08 times as fast as A on a100");
  CHECK(sentence_of(total_of(faster, RelativeChange{-0.5, -0.5, -0.5}), 0.01) ==
        "B is 2.00 times as fast as A on a100");
  CHECK(sentence_of(total_of(slower, RelativeChange{0.31, 0.27, 0.35}), 0.01) ==
        "B takes 1.31 ± 0.04 times as long as A on a100");
  CHECK(sentence_of(total_of(same, RelativeChange{0, 0, 0}), 0.01) ==
        "B takes as long as A on a100, within ±1 %");
  CHECK(sentence_of(total_of(cannot_say, RelativeChange{0.03, -0.09, 0.15}), 0.01) ==
        "cannot say which of A and B is faster on a100: B takes +3.0 % (-9.0 to +15.0 %)");
  CHECK(sentence_of(total_of(cannot_say, {}, "the trials had no clock"), 0.01) ==
        "cannot say which of A and B is faster on a100: the trials had no clock");
}

TEST_CASE("versus: the sentences are last on a terminal and first on a page") {
  Result before = test::sample_time();
  before.kernels[0].launches = 1;
  before.kernels[0].time->microseconds = test::statistic(200, 0);
  before.kernels[0].name = "a|b(int)";
  Result after = before;
  after.kernels[0].time->microseconds = test::statistic(100, 0);
  const Difference difference = compare(before, after, {});
  const SpeedComparison speed = compare_speed(before, after, difference, 0.01);
  const Versus versus{"old.cu", "new.cu", &difference, &speed};
  const std::string text = print_text(versus_document(versus), {});
  CHECK(text.starts_with("A  old.cu\nB  new.cu\n\n"));
  CHECK(text.ends_with("\nB is 2.00 times as fast as A on " + after.kernels[0].gpu + "\n"));
  const std::string markdown = print_markdown(versus_document(versus));
  CHECK(markdown.starts_with("**B is 2.00 times as fast as A on "));
  CHECK(holds(markdown, "| 200 µs | 100 µs | 2.00 × as fast as A |"));
  CHECK(holds(markdown, "| `a\\|b(int)` | "));
}
