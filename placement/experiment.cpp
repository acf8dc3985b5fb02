#include "placement/experiment.h"

#include "judge/kernel_findings.h"
#include "placement/change/rewrite.h"
#include "placement/not_measured.h"
#include "result/no_time.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <charconv>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace warplens::placement {
namespace {

/// Each needs a snapshot of its own, and its trials share the cores that are left.
constexpr int max_modelled_at_once = 4;

/// Returns the GPU with the pipes of a Kepler, so that the model follows the code of the nearest GPU that has
/// some: for counts of instructions, not for times.
model::Gpu with_any_pipes(model::Gpu gpu) {
  gpu.pipes = model::ExecutionPipes{.fp32 = 192,
                                    .fp64 = 64,
                                    .fp16 = 192,
                                    .integer = 160,
                                    .multiply_add = 32,
                                    .special_function = 32,
                                    .fp64_cycles = 10,
                                    .special_function_cycles = 18,
                                    .tensor_cycles = 8};
  return gpu;
}

/// Returns the architecture of the code that the GPU executes; its own where none is known, or where the
/// clock does not follow it.
int architecture_of(const trace::Launch& launch, const model::Gpu& gpu) {
  if (!gpu.pipes)
    return gpu.capability();
  const auto* const code =
      trace::machine_code_for(launch.machine_code, gpu.capability(), gpu.registers.max_per_thread);
  return code == nullptr ? gpu.capability() : int(code->architecture);
}

/// Returns a kernel's demangled name without its parameters' types, whose list is its last brackets.
std::string_view without_parameters(std::string_view kernel) {
  std::size_t depth = 0;
  for (std::size_t i = kernel.size(); kernel.ends_with(')') && i-- > 0;) {
    if (kernel[i] == ')')
      ++depth;
    else if (kernel[i] == '(' && --depth == 0)
      return kernel.substr(0, i);
  }
  return kernel;
}

std::string words_of(std::string_view separator) {
  std::string words;
  for (const std::string_view word : names_of<PlacementSpace>)
    words += (words.empty() ? "" : std::string(separator)) + std::string(word);
  return words;
}

Expected<Move> parse_move(const std::string& text, const Arrays& arrays) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return fail("'{}' is no move: ARRAY:PLACE is, with a place of {}", text, words_of(", "));
  TRY_LET(array, arrays.named(text.substr(0, colon)));
  std::string place = text.substr(colon + 1), how;
  if (const std::size_t equals = place.find('='); equals != std::string::npos) {
    how = place.substr(equals + 1);
    place.resize(equals);
  }
  const auto to = value_named<PlacementSpace>(place);
  if (!to)
    return fail("'{}' is no place for an array: there are {}", place, words_of(", "));
  Move move{.array = *array, .to = *to};
  if (how.empty())
    return move;
  if (const auto part = value_named<SharedPart>(how); part && *to == PlacementSpace::shared) {
    move.part = *part;
    return move;
  }
  if (*to == PlacementSpace::texture_2d) {
    const auto [end, error] = std::from_chars(how.data(), how.data() + how.size(), move.texels_per_row);
    if (error == std::errc() && end == how.data() + how.size() && move.texels_per_row != 0)
      return move;
  }
  return fail(
      "'{}' does not say how: shared takes touched, whole, padded or tile, texture2d the texels of a row",
      text);
}

/// Returns the figure times the scale, without its histogram.
Statistic scaled(const Statistic& of, double scale) {
  Statistic result{.mean = of.mean * scale,
                   .std_deviation = of.std_deviation * scale,
                   .ci95 = {of.ci95[0] * scale, of.ci95[1] * scale},
                   .spread95 = {of.spread95[0] * scale, of.spread95[1] * scale}};
  if (of.machine_deviation)
    result.machine_deviation = *of.machine_deviation * scale;
  return result;
}

} // namespace

Experiment::Experiment(const trace::AccessSource& trace, std::uint32_t launch, const Arrays& arrays,
                       const model::Gpu& gpu, std::span<const Addressing> addressing, model::Options options,
                       EstimateOptions estimates)
    : trace_(trace), launch_(launch), arrays_(arrays), gpu_(gpu),
      addressing_(addressing_of(addressing, architecture_of(trace.launches()[launch], gpu))),
      options_(std::move(options)), estimates_(std::move(estimates)) {
  options_.confidence = {0, 0};
  options_.timeline_bins = 0;
  options_.first_blocks_only = true; // changes are of blocks behind each other
  options_.infers_ways = true;       // no machine code was executed for a changed trace
  options_.wants_launch = [id = trace.launches()[launch].id](const trace::Launch& one) {
    return one.id == id;
  };
}

Expected<KernelResult> Experiment::evaluate(const trace::AccessSource& source, std::uint32_t trials,
                                            std::optional<std::uint64_t> blocks) const {
  model::Options options = options_;
  options.trials = trials;
  options.snapshot_blocks = blocks;
  TRY_LET(result, model::evaluate(source, {gpu_}, options));
  if (result->kernels.size() != 1)
    return fail("launch {} of the trace was not modelled", launch_);
  return std::move(result->kernels.front());
}

Expected<void> Experiment::model_sample() {
  TRY_LET(result, evaluate(trace_, options_.trials, options_.snapshot_blocks));
  if (!result->time)
    return fail("placements are compared by time, which is not known, because {}", why_no_time(*result));
  // Others are modelled with the same blocks, whatever they would need.
  options_.snapshot_blocks = result->snapshot.blocks;
  sample_.shared_bytes = std::uint64_t{launch().static_shared_bytes} + launch().dynamic_shared_bytes;
  TRY(prepare_paper(*result));
  TRY(estimate(sample_, trace_, *result));
  if (estimates_.measured_us && sample_.microseconds) {
    scale_ = *estimates_.measured_us / sample_.microseconds->mean;
    sample_.microseconds = scaled(*sample_.microseconds, scale_);
  }
  sample_.result = std::move(*result);
  return {};
}

Expected<void> Experiment::prepare_paper(const KernelResult& result) {
  if (estimates_.estimator != Estimator::paper && estimates_.estimator != Estimator::paper_literal)
    return {};
  std::optional<KernelResult> counted;
  if (!gpu_.pipes) {
    model::Options options = options_;
    options.trials = 2;
    TRY_LET(evaluated, model::evaluate(trace_, {with_any_pipes(gpu_)}, options));
    if (evaluated->kernels.size() == 1)
      counted = std::move(evaluated->kernels.front());
  }
  const PaperOptions options{.reading = estimates_.estimator == Estimator::paper_literal ? Reading::literal
                                                                                         : Reading::corrected,
                             .parts = estimates_.parts,
                             .overlap = estimates_.overlap ? &*estimates_.overlap : nullptr};
  TRY_LET(paper, PaperModel::of(trace_, launch(), arrays_, result, counted ? *counted : result, gpu_,
                                addressing_, options));
  paper_.emplace(std::move(*paper));
  return {};
}

Expected<void> Experiment::estimate(Candidate& candidate, const trace::AccessSource& source,
                                    const KernelResult& result) const {
  if (estimates_.estimator == Estimator::model) {
    candidate.microseconds = scaled(result.time->microseconds, scale_);
    return {};
  }
  if (estimates_.estimator == Estimator::porple) {
    TRY_LET(counts,
            count(source, source.launches()[launch_], result.snapshot.blocks, gpu_, Reading::corrected));
    candidate.latency_cycles = porple_estimate(*counts, result, gpu_);
    return {};
  }
  TRY_LET(estimated, paper_->estimate(source, source.launches()[launch_], result, candidate.moves));
  candidate.paper = *estimated;
  candidate.microseconds = scaled({.mean = candidate.paper->microseconds}, scale_);
  return {};
}

Expected<Candidate> Experiment::model(std::vector<Move> moves, std::uint32_t trials) const {
  Candidate candidate;
  candidate.moves = std::move(moves);
  if (candidate.moves.size() == 1 && is_of_launch(candidate.moves.front().rewrite))
    return model_launch(std::move(candidate), trials);
  const ChangedTrace changed(trace_, arrays_, gpu_, addressing_, {launch_, candidate.moves});
  candidate.refusals = changed.refusals();
  candidate.not_measured = not_measured(candidate.moves, arrays_, gpu_);
  candidate.shared_bytes = std::uint64_t{changed.changed_launch().static_shared_bytes} +
                           changed.changed_launch().dynamic_shared_bytes;
  candidate.persisting = changed.alteration()->persisting;
  if (!candidate.is_legal())
    return candidate;
  TRY(model_into(candidate, changed, trials));
  return candidate;
}

Expected<std::vector<Candidate>> Experiment::model_each(std::vector<std::vector<Move>> placements,
                                                        std::uint32_t trials) const {
  std::vector<std::optional<Expected<Candidate>>> modelled(placements.size());
  const int cores = tbb::info::default_concurrency();
  const int threads = options_.threads == 0 ? cores : int(std::min(options_.threads, unsigned(cores)));
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::size_t(threads));
  tbb::task_arena arena(std::min(threads, max_modelled_at_once));
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, placements.size(), [&](std::size_t number) {
      modelled[number] = model(std::move(placements[number]), trials);
    });
  });
  std::vector<Candidate> candidates;
  for (auto& candidate : modelled) {
    if (!*candidate)
      return tl::unexpected(candidate->error());
    candidates.push_back(std::move(**candidate));
  }
  return candidates;
}

Expected<void> Experiment::check_launch(const trace::AccessSource& changed) const {
  // An edit may change the type of a parameter.
  if (launch_ >= changed.launches().size() ||
      without_parameters(changed.launches()[launch_].kernel) != without_parameters(launch().kernel))
    return fail("the edited program does not launch {} in its place", launch().kernel);
  return {};
}

Expected<KernelResult> Experiment::evaluate_program(const trace::AccessSource& program) const {
  model::Options options = options_;
  options.infers_ways = false;
  TRY_LET(result, model::evaluate(program, {gpu_}, options));
  if (result->kernels.size() != 1)
    return fail("launch {} of the trace was not modelled", launch_);
  if (!result->kernels.front().time)
    return fail("the program's time is not known, because {}", why_no_time(result->kernels.front()));
  return std::move(result->kernels.front());
}

Expected<Experiment::ComparedPrograms>
Experiment::compare_programs(const trace::AccessSource& changed) const {
  TRY(check_launch(changed));
  TRY_LET(before, evaluate_program(trace_));
  TRY_LET(after, evaluate_program(changed));
  const auto change = change_of(before->trial_values.microseconds, after->trial_values.microseconds);
  if (!change)
    return fail("the edited program has no times to compare");
  return ComparedPrograms{std::move(*before), std::move(*after), *change};
}

Expected<Candidate> Experiment::compiled(const Candidate& candidate,
                                         const trace::AccessSource& changed) const {
  TRY_LET(compared, compare_programs(changed));
  Candidate edited_program = candidate;
  edited_program.estimated = candidate.change;
  edited_program.change = compared->change;
  // The sample's time is of a trace without executed code, as those of the moved ones are: times stand to it
  // as the change says.
  const double sample_scale =
      sample_.result->time->microseconds.mean / compared->before.time->microseconds.mean;
  edited_program.microseconds = scaled(compared->after.time->microseconds, scale_ * sample_scale);
  edited_program.result = std::move(compared->after);
  return edited_program;
}

Expected<TimeChange> Experiment::change_in(const trace::AccessSource& changed) const {
  TRY_LET(compared, compare_programs(changed));
  return compared->change;
}

Expected<Candidate> Experiment::model_launch(Candidate candidate, std::uint32_t trials) const {
  const Move& move = candidate.moves.front();
  candidate.shared_bytes = sample_.shared_bytes;
  LaunchChange change =
      traits_of(move.rewrite).change_launch(trace_, launch_, move, gpu_, sample_.result->snapshot.blocks);
  if (change.source == nullptr) {
    candidate.refusals.push_back({move, {std::move(change.reason)}});
    return candidate;
  }
  auto result = evaluate(*change.source, trials, change.snapshot_blocks);
  // The decoder says which threads cannot be merged.
  if (!result && change.source->alteration() != nullptr && change.source->alteration()->coarsening) {
    candidate.refusals.push_back({move, {{{}, 0, result.error().message}}});
    return candidate;
  }
  if (!result)
    return tl::unexpected(result.error());
  TRY(compare(candidate, *change.source, std::move(*result)));
  return candidate;
}

Expected<void> Experiment::model_into(Candidate& candidate, const trace::AccessSource& source,
                                      std::uint32_t trials) const {
  TRY_LET(result, evaluate(source, trials, options_.snapshot_blocks));
  return compare(candidate, source, std::move(*result));
}

Expected<void> Experiment::compare(Candidate& candidate, const trace::AccessSource& source,
                                   KernelResult result) const {
  const auto change = change_of(sample_.result->trial_values.microseconds, result.trial_values.microseconds);
  if (!change)
    return fail("{} has no times to compare", text_of(candidate.moves, arrays_));
  candidate.change = *change;
  TRY(estimate(candidate, source, result));
  if (estimates_.estimator != Estimator::model)
    candidate.change = {figure_of(candidate) / figure_of(sample_) - 1, 0};
  candidate.result = std::move(result);
  return {};
}

double figure_of(const Candidate& candidate) {
  return candidate.latency_cycles ? *candidate.latency_cycles : candidate.microseconds->mean;
}

std::string note_on_waits(const Experiment& experiment) {
  const SiteResult* const waits = judge::waiting_site(*experiment.sample().result);
  return waits == nullptr
             ? ""
             : fmt::format("these times are not known: threads may wait at {}:{} until others change a flag",
                           waits->site.file, waits->site.line);
}

std::vector<Move> moves_of(const Array& array, std::uint32_t index) {
  std::vector<Move> moves;
  const auto add = [&](PlacementSpace to) {
    if (to != place_of(array))
      moves.push_back({.array = index, .to = to});
  };
  for (std::size_t place = 0; place < names_of<PlacementSpace>.size(); ++place)
    if (PlacementSpace(place) == PlacementSpace::global || array.space == Space::global)
      add(PlacementSpace(place));
  return moves;
}

std::string text_of(const Move& move, const Arrays& arrays) {
  if (is_of_launch(move.rewrite))
    return move.number == 0 ? fmt::format("threads {}", name_of(move.rewrite))
                            : fmt::format("threads {} {}", name_of(move.rewrite), move.number);
  if (move.rewrite != Rewrite::none)
    return fmt::format("{} {}", arrays[move.array].name, name_of(move.rewrite));
  std::string name = fmt::format("{}->{}", arrays[move.array].name, name_of(move.to));
  if (move.to == PlacementSpace::shared && move.part != SharedPart::touched)
    name += fmt::format("={}", name_of(move.part));
  if (move.to == PlacementSpace::texture_2d && move.texels_per_row != 0)
    name += fmt::format("={}", move.texels_per_row);
  return name;
}

std::string text_of(const std::vector<Move>& moves, const Arrays& arrays) {
  std::string names;
  for (const Move& move : moves)
    names += (names.empty() ? "" : ", ") + text_of(move, arrays);
  return names.empty() ? "as is" : names;
}

Expected<std::vector<Move>> parse_moves(const std::string& text, const Arrays& arrays) {
  std::vector<Move> moves;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    TRY_LET(move, parse_move(text.substr(begin, end - begin), arrays));
    if (std::ranges::count(moves, move->array, &Move::array) != 0)
      return fail("--move names {} twice", arrays[move->array].name);
    moves.push_back(*move);
    begin = end + 1;
  }
  return moves;
}

} // namespace warplens::placement
