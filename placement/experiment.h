// One launch on one GPU with its arrays placed in different ways, each modelled by trials that draw the same
// random numbers.
#pragma once

#include "model/model.h"
#include "placement/change/suggested.h"
#include "placement/changed_trace.h"
#include "placement/estimate.h"
#include "placement/time_change.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::placement {

/// The estimator of a placement's time: the model's clock; Huang and Li's equations, corrected or literal; or
/// PORPLE's sum of latencies, which only ranks.
enum class Estimator : std::uint8_t { model, paper, paper_literal, porple };

/// How placements are estimated.
struct EstimateOptions {
  Estimator estimator = Estimator::model;
  EstimateParts parts;                 ///< of the paper's
  std::optional<OverlapModel> overlap; ///< of the paper's; none: Sim et al.'s
  std::optional<double> measured_us;   ///< of the trace's placement: all times are scaled to it
};

/// A placement: the arrays that move, and what the model says of it.
struct Candidate {
  std::vector<Move> moves; ///< empty: as the trace has it
  std::vector<ChangedTrace::Refusal> refusals;
  std::optional<KernelResult> result; ///< none if it was refused
  /// The launch's time by the estimator, scaled to the measured one where there is one; the paper's has no
  /// interval. None: refused, or the estimator is PORPLE's, whose figure is no time.
  std::optional<Statistic> microseconds;
  std::optional<PaperEstimate> paper;   ///< where the estimator is the paper's
  std::optional<double> latency_cycles; ///< where it is PORPLE's: of a warp
  /// If the change was made in the source, and that was compiled, run and modelled: what the trace with
  /// the arrays moved had said before. All other figures are then of the compiled program.
  std::optional<TimeChange> estimated;
  std::string not_compiled; ///< why not, where that was tried
  TimeChange change;        ///< of the launch's time, or of these cycles, against the placement of the trace
  std::vector<std::string> not_measured; ///< memories that it depends on: placement/not_measured.h
  std::uint64_t shared_bytes = 0;        ///< of a block
  std::optional<trace::PersistingWindow> persisting;

  bool is_legal() const { return refusals.empty(); }
};

class Experiment {
public:
  /// References must outlive it. `launch` is an index into the trace's launches. The options' trials are the
  /// most for a placement; their confidence is not used, as pairs need equally many trials.
  Experiment(const trace::AccessSource& trace, std::uint32_t launch, const Arrays& arrays,
             const model::Gpu& gpu, std::span<const Addressing> addressing, model::Options options,
             EstimateOptions estimates = {});

  /// Models the placement of the trace; the others are compared with it. Called first.
  Expected<void> model_sample();
  /// Models a placement by this number of trials, or says what forbids it. The moves are of distinct arrays.
  Expected<Candidate> model(std::vector<Move> moves, std::uint32_t trials) const;
  /// Models each of the placements so, some of them at the same time: the candidates are those that model()
  /// returns one by one. The error is of the first placement that has one.
  Expected<std::vector<Candidate>> model_each(std::vector<std::vector<Move>> placements,
                                              std::uint32_t trials) const;

  /// Returns the candidate as the same launch of another trace has it: that of the program with the change in
  /// its source, beside the program as it is, both by the machine code that was executed.
  Expected<Candidate> compiled(const Candidate& candidate, const trace::AccessSource& changed) const;
  /// Returns the change of the time of the same launch in another trace, of a changed program: as above.
  Expected<TimeChange> change_in(const trace::AccessSource& changed) const;

  const Candidate& sample() const { return sample_; }
  Estimator estimator() const { return estimates_.estimator; }
  bool is_scaled() const { return estimates_.measured_us.has_value(); } ///< the times are
  const trace::AccessSource& trace() const { return trace_; }
  const Arrays& arrays() const { return arrays_; }
  const model::Gpu& gpu() const { return gpu_; }
  const trace::Launch& launch() const { return trace_.launches()[launch_]; }
  std::uint32_t trials() const { return options_.trials; }
  /// Returns the kernel as changes see it, after model_sample().
  TracedKernel kernel() const { return {trace_, launch(), arrays_, gpu_, *sample_.result}; }

private:
  /// Returns an error if a changed program does not launch the kernel in its place.
  Expected<void> check_launch(const trace::AccessSource& changed) const;
  /// Models the launch of a program's own trace by all trials, by the machine code that was executed.
  Expected<KernelResult> evaluate_program(const trace::AccessSource& program) const;
  struct ComparedPrograms {
    KernelResult before, after;
    TimeChange change;
  };
  Expected<ComparedPrograms> compare_programs(const trace::AccessSource& changed) const;
  Expected<Candidate> model_launch(Candidate candidate, std::uint32_t trials) const;
  Expected<void> model_into(Candidate& candidate, const trace::AccessSource& source,
                            std::uint32_t trials) const;
  Expected<void> compare(Candidate& candidate, const trace::AccessSource& source, KernelResult result) const;
  /// Sets the estimator's figure of the placement.
  Expected<void> estimate(Candidate& candidate, const trace::AccessSource& source,
                          const KernelResult& result) const;
  Expected<KernelResult> evaluate(const trace::AccessSource& source, std::uint32_t trials,
                                  std::optional<std::uint64_t> blocks) const;
  /// Prepares the paper's model, which counts what it holds equal in the trace's placement.
  Expected<void> prepare_paper(const KernelResult& result);

  const trace::AccessSource& trace_;
  std::uint32_t launch_;
  const Arrays& arrays_;
  const model::Gpu& gpu_;
  const Addressing& addressing_;
  model::Options options_;
  EstimateOptions estimates_;
  double scale_ = 1;                ///< of all times, to the measured one
  std::optional<PaperModel> paper_; ///< where the estimator is the paper's
  Candidate sample_;
};

/// Returns the figure that placements are compared by: the mean time in us, or PORPLE's cycles. The candidate
/// is legal.
double figure_of(const Candidate& candidate);

/// Returns the note that the launch's times are not known, as its threads may wait for others; empty: they do
/// not.
std::string note_on_waits(const Experiment& experiment);

/// Returns the moves of one array to each place but the one where it is.
std::vector<Move> moves_of(const Array& array, std::uint32_t index);

/// Returns "weights->constant", or "weights->shared=whole".
std::string text_of(const Move& move, const Arrays& arrays);
/// Returns the names of all moves, or "as is".
std::string text_of(const std::vector<Move>& moves, const Arrays& arrays);

/// Parses "weights:constant,x:shared=whole,y:texture2d=1024". The error names what was expected.
Expected<std::vector<Move>> parse_moves(const std::string& text, const Arrays& arrays);

} // namespace warplens::placement

template <>
inline constexpr std::array<std::string_view, 4> warplens::names_of<warplens::placement::Estimator>{
    "model", "paper", "paper-literal", "porple"};
