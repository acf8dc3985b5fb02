// Tests the verdicts of a gate on kernels made by hand.
#include "judge/gate.h"
#include "test/catch.h"

using namespace warplens;
using judge::GateVerdict;

namespace {

RecordedKernel kernel_of(const std::string& work, std::vector<double> trials) {
  RecordedKernel kernel;
  kernel.program = "a.cu";
  kernel.gpu = "a100";
  kernel.kernel = "f()";
  kernel.identity = {"code", work, "model"};
  double mean = 0;
  for (const double trial : trials)
    mean += trial / double(trials.size());
  kernel.time_us = {mean, 0.95 * mean, 1.05 * mean};
  kernel.trials_us = std::move(trials);
  return kernel;
}

const judge::GateOptions options{.today = "2026-11-29"};

judge::Gate gate_of(const RecordedKernel& before, const RecordedKernel& after,
                    const judge::GateOptions& wanted = options) {
  static std::vector<std::pair<Baseline, std::vector<RecordedKernel>>> kept;
  kept.reserve(64);
  auto& [baseline, now] = kept.emplace_back(Baseline{{before}, {}}, std::vector{after});
  return judge::hold_against(baseline, now, wanted);
}

} // namespace

TEST_CASE("paired trials decide, however wide each interval is") {
  const RecordedKernel before = kernel_of("1", {90, 100, 110, 95});
  const auto verdict = [&](std::vector<double> trials) {
    return gate_of(before, kernel_of("2", std::move(trials))).entries[0].verdict;
  };
  CHECK(verdict({90.9, 101, 111.1, 95.95}) == GateVerdict::worse); // 1 % each, within ±5 %
  CHECK(verdict({89.1, 99, 108.9, 94.05}) == GateVerdict::better);
  CHECK(verdict({90, 100, 110, 95}) == GateVerdict::same);
  CHECK(verdict({90.2, 99.8, 110.2, 94.8}) == GateVerdict::same);
  CHECK(verdict({130, 80, 110, 95}) == GateVerdict::cannot_say);
  const judge::Gate unsure = gate_of(before, kernel_of("2", {130, 80, 110, 95}));
  CHECK(unsure.outcome == judge::GateOutcome::cannot_say);
  CHECK(unsure.entries[0].speed->reason.find(" % on this kernel for a change of ") != std::string::npos);
}

TEST_CASE("what is equal is not compared, and a tolerance is the user's") {
  const RecordedKernel before = kernel_of("1", {90, 100});
  CHECK(gate_of(before, kernel_of("1", {990, 100})).entries[0].verdict == GateVerdict::equal);
  judge::GateOptions tolerant = options;
  tolerant.tolerance = 0.02;
  CHECK(gate_of(before, kernel_of("2", {90.9, 101}), tolerant).entries[0].verdict == GateVerdict::same);
}

TEST_CASE("a spill is named even where the time does not move, and fails where it is to ratchet") {
  RecordedKernel before = kernel_of("1", {90, 100}), after = kernel_of("2", {90, 100});
  before.exact = {{"spill_bytes", 0}, {"warps_per_sm", 64}};
  after.exact = {{"spill_bytes", 16}, {"warps_per_sm", 64}};
  const judge::Gate named = gate_of(before, after);
  CHECK(named.outcome == judge::GateOutcome::holds);
  REQUIRE(named.entries[0].exact.size() == 1);
  CHECK(named.entries[0].exact[0].is_worse);
  judge::GateOptions ratchet = options;
  ratchet.ratchets = {"spill_bytes"};
  CHECK(gate_of(before, after, ratchet).outcome == judge::GateOutcome::worse);
  CHECK(gate_of(after, before, ratchet).outcome == judge::GateOutcome::holds);
}

TEST_CASE("new and vanished kernels are to be recorded, and other programs' are left alone") {
  RecordedKernel other = kernel_of("1", {1, 2}), elsewhere = other;
  other.kernel = "g()";
  elsewhere.program = "b.cu";
  const Baseline baseline{{elsewhere, other}, {}};
  const std::vector<RecordedKernel> now{kernel_of("1", {1, 2})};
  const judge::Gate gate = judge::hold_against(baseline, now, options);
  REQUIRE(gate.entries.size() == 2);
  CHECK(gate.entries[0].verdict == GateVerdict::is_new);
  CHECK(gate.entries[1].verdict == GateVerdict::removed);
  CHECK(gate.outcome == judge::GateOutcome::outdated);
  const Baseline recorded = judge::recorded(baseline, now, [](const RecordedKernel&) { return true; });
  CHECK(recorded.kernels == std::vector{elsewhere, now[0]});
  CHECK(judge::hold_against(recorded, now, options).outcome == judge::GateOutcome::holds);
}

TEST_CASE("a waiver covers a kernel until its day, and fails by name behind it") {
  const Baseline baseline{{kernel_of("1", {90, 100})}, {{"f()", "", "2026-11-29", "why"}}};
  const std::vector<RecordedKernel> worse{kernel_of("2", {99, 110})}, equal{kernel_of("1", {90, 100})};
  CHECK(judge::hold_against(baseline, worse, options).outcome == judge::GateOutcome::holds);
  CHECK(judge::hold_against(baseline, equal, options).idle.size() == 1);
  judge::GateOptions later = options;
  later.today = "2026-11-30";
  CHECK(judge::hold_against(baseline, equal, later).outcome == judge::GateOutcome::worse);
  CHECK(judge::hold_against(baseline, equal, later).expired.size() == 1);
}
