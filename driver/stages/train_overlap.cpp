#include "driver/stages/train_overlap.h"

#include "driver/stages/simulate.h"
#include "support/csv_table.h"
#include "support/files.h"
#include "trace/reader.h"

namespace warplens::driver {
namespace {

/// A row of the table.
struct Measured {
  std::filesystem::path trace;
  std::string kernel, gpu, moves;
  double nanoseconds = 0;
};

Expected<Measured> row_of(const CsvTable& table, std::size_t row, const std::filesystem::path& folder) {
  Measured measured{folder / table.cell(row, "trace"), table.cell(row, "kernel"), table.cell(row, "gpu"),
                    table.cell(row, "moves"), 0};
  TRY_LET(nanoseconds, table.number(row, "nanoseconds"));
  if (!*nanoseconds || !is_time_of_launch(**nanoseconds))
    return fail("{}: nanoseconds must be a time from 1 to 1e12 ns", table.place(row));
  measured.nanoseconds = **nanoseconds;
  return measured;
}

/// Returns the index of the first launch whose kernel's name contains the text.
Expected<std::uint32_t> launch_of(const trace::Reader& trace, const Measured& measured) {
  for (std::uint32_t i = 0; i < trace.launches().size(); ++i)
    if (trace.launches()[i].kernel.find(measured.kernel) != std::string::npos)
      return i;
  return fail("{} has no launch of a kernel '{}'", measured.trace.string(), measured.kernel);
}

/// Estimates the placement without a regression, and returns what one is to give.
Expected<placement::OverlapSample> sample_of(const Measured& measured,
                                             std::span<const placement::Addressing> addressing,
                                             const model::Options& options,
                                             placement::EstimateOptions estimates,
                                             const ModelOptions& gpu_options) {
  ModelOptions row_options = gpu_options;
  row_options.gpus = {measured.gpu};
  TRY_LET(gpus, load_gpus(row_options));
  TRY_LET(trace, trace::Reader::open(measured.trace));
  TRY_LET(launch, launch_of(*trace, measured));
  TRY_LET(arrays, placement::Arrays::find(*trace, trace->launches()[*launch]));
  estimates.overlap.reset();
  estimates.measured_us.reset();
  placement::Experiment experiment(*trace, *launch, *arrays, gpus->front(), addressing, options, estimates);
  TRY(experiment.model_sample());
  placement::Candidate candidate = experiment.sample();
  if (!measured.moves.empty()) {
    TRY_LET(moves, placement::parse_moves(measured.moves, *arrays));
    TRY_LET(moved, experiment.model(*moves, experiment.trials()));
    candidate = std::move(*moved);
  }
  if (!candidate.is_legal())
    return fail("{} is refused", measured.moves);
  const placement::TimeParts& cycles = candidate.paper->cycles;
  if (cycles.memory <= 0)
    return fail("the kernel accesses no memory");
  const double measured_cycles = measured.nanoseconds / gpus->front().ns_per_cycle();
  return placement::OverlapSample{measured.trace.string() + " " + trace->launches()[*launch].kernel,
                                  candidate.paper->events,
                                  (cycles.computation + cycles.memory - measured_cycles) / cycles.memory};
}

} // namespace

Expected<placement::OverlapModel> train_overlap(const std::filesystem::path& file,
                                                std::span<const placement::Addressing> addressing,
                                                const model::Options& options,
                                                const placement::EstimateOptions& estimates,
                                                const ModelOptions& gpus) {
  TRY_LET(text, read_file(file));
  TRY_LET(table, CsvTable::parse(*text, file.string()));
  for (const char* column : {"trace", "gpu", "moves", "nanoseconds"})
    if (!table->has(column))
      return fail("{} has no column '{}': --train takes trace, kernel, gpu, moves, nanoseconds",
                  file.string(), column);
  std::vector<placement::OverlapSample> samples;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    TRY_LET(measured, row_of(*table, row, file.parent_path()));
    auto sample = sample_of(*measured, addressing, options, estimates, gpus);
    if (!sample)
      return fail("{}: {}", table->place(row), sample.error().message);
    samples.push_back(std::move(*sample));
  }
  return placement::train_overlap(samples);
}

} // namespace warplens::driver
