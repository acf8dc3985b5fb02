// `warplens power`: the power and the energy of kernels, and a board's energies from measured powers.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/stages/print.h"
#include "driver/stages/read_result.h"
#include "model/gpu/gpu.h"
#include "power/kernel_power.h"
#include "power/training.h"
#include "report/power_report.h"
#include "support/files.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>

namespace warplens::driver {
namespace {

struct PowerOptions {
  std::vector<std::string> results;
  std::string gpu; ///< whose energies; empty: the results'
  std::string train, prior, source = "measured", format = "text";
  OutputOptions output;
};

Expected<std::vector<KernelResult>> read_kernels(const std::vector<std::string>& files) {
  std::vector<KernelResult> kernels;
  for (const std::string& file : files) {
    TRY_LET(result, read_result(file));
    std::ranges::move(result->kernels, std::back_inserter(kernels));
  }
  return kernels;
}

Expected<CsvTable> read_table(const std::string& file) {
  TRY_LET(text, read_file(file));
  return CsvTable::parse(*text, file);
}

/// The knowledge of energies before a fit, and its source.
struct KnownBefore {
  std::vector<power::Prior> priors;
  std::string source;
};

KnownBefore known_of(const model::Gpu& gpu, const KernelResult& kernel) {
  const bool is_other = gpu.id != kernel.gpu;
  const double mhz = kernel.sm_clock_mhz == 0 ? gpu.clock_mhz : kernel.sm_clock_mhz;
  return {
      priors_of(is_other ? *gpu.energies : energies_at(*gpu.energies, mhz).value_or(*gpu.energies), is_other),
      fmt::format("[power] of {}{}", gpu.id, is_other ? ", each known to its own size" : "")};
}

/// Returns what --prior names, a table or a GPU; without it, what the file of the results' GPU says.
Expected<KnownBefore> known_before(const std::string& prior, const KernelResult& kernel) {
  if (prior.empty()) {
    const auto gpu = model::load_gpu(kernel.gpu, toolchain::resources().gpus);
    return gpu && gpu->energies ? known_of(*gpu, kernel) : KnownBefore{};
  }
  if (std::filesystem::exists(prior) && !prior.ends_with(".toml")) {
    TRY_LET(table, read_table(prior));
    TRY_LET(priors, power::read_priors(*table));
    return KnownBefore{std::move(*priors), prior};
  }
  TRY_LET(gpu, model::load_gpu(prior, toolchain::resources().gpus));
  if (!gpu->energies)
    return fail("--prior {}: its file has no [power]", prior);
  return known_of(*gpu, kernel);
}

/// Prints [power] of a GPU file that the measured powers give.
Expected<void> train_and_print(const PowerOptions& options) {
  TRY_LET(kernels, read_kernels(options.results));
  for (const KernelResult& kernel : *kernels)
    if (kernel.gpu != kernels->front().gpu || kernel.sm_clock_mhz != kernels->front().sm_clock_mhz)
      return fail("energies are those of one board at one clock: {} is of {} at {:g} MHz, {} of {} at {:g}",
                  kernels->front().name, kernels->front().gpu, kernels->front().sm_clock_mhz, kernel.name,
                  kernel.gpu, kernel.sm_clock_mhz);
  TRY_LET(table, read_table(options.train));
  TRY_LET(measured, power::read_measured(*table, *kernels));
  TRY_LET(known, known_before(options.prior, kernels->front()));
  TRY_LET(training, power::train(*measured, known->priors));
  return print_text(training_comments(*measured, *training, known->source) +
                        power_section(*training, kernels->front().sm_clock_mhz, options.source),
                    options.output.file);
}

Expected<void> predict_and_print(const PowerOptions& options) {
  TRY_LET(kernels, read_kernels(options.results));
  std::map<std::string, model::Gpu> gpus;
  std::vector<judge::PoweredKernel> powered;
  for (const KernelResult& kernel : *kernels) {
    const std::string name = options.gpu.empty() ? kernel.gpu : options.gpu;
    if (!gpus.contains(name)) {
      TRY_LET(gpu, model::load_gpu(name, toolchain::resources().gpus));
      gpus.emplace(name, std::move(*gpu));
    }
    const model::Gpu& gpu = gpus.at(name);
    if (gpu.id != kernel.gpu && kernel.occupancy.sms != 0 && gpu.sms != kernel.occupancy.sms)
      return fail("{} was modelled on {}, which has {} SMs: the energies of {}, with {}, are another board's",
                  kernel.name, kernel.gpu, kernel.occupancy.sms, gpu.id, gpu.sms);
    if (!gpu.energies)
      return fail("{} ({}): no board's power was measured, so that its file has no [power] with the energies "
                  "of events; "
                  "`warplens power --train` fits them to measured powers",
                  gpu.name, name);
    TRY_LET(power, kernel_power(kernel, *gpu.energies,
                                kernel.sm_clock_mhz == 0 ? gpu.clock_mhz : kernel.sm_clock_mhz));
    powered.push_back({&kernel, std::move(*power), gpu.energies->error});
  }
  return print_study(
      report::power_document(powered), [&] { return report::print_power_json(powered); }, options.format,
      options.output);
}

} // namespace

void declare_power(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("power", "the power of kernels by parts, and their energy by line");
  auto options = std::make_shared<PowerOptions>();
  command->add_option("result", options->results, "results, as --format json writes them")
      ->required()
      ->type_name("RESULT...");
  auto* gpu =
      command
          ->add_option("--gpu", options->gpu, "whose energies to take (default: those of the result's GPU)")
          ->type_name("NAME");
  auto* train = command
                    ->add_option("--train", options->train,
                                 "fit energies to measured powers, and print [power] of a GPU file: a table "
                                 "with the columns kernel\n"
                                 "(a regular expression) and watts, and perhaps use (fit or held back), "
                                 "microseconds, and events")
                    ->type_name("CSV")
                    ->excludes(gpu);
  command
      ->add_option(
          "--prior", options->prior,
          "what is known of energies before: a table with the columns term, value, deviation, or a GPU "
          "whose [power]\nto take (default: that of the results' GPU)")
      ->type_name("CSV|GPU")
      ->needs(train);
  command->add_option("--source", options->source, "the name of the source in [power]")
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(train);
  add_document_options(*command, options->format, options->output, {{"json", "warplens-power/1"}});
  command->callback([options, &chosen] {
    if (!options->train.empty() && options->format != "text")
      throw CLI::ValidationError("--format", "--train prints a part of a GPU file, which is text");
    chosen = [options] {
      return options->train.empty() ? predict_and_print(*options) : train_and_print(*options);
    };
  });
}

} // namespace warplens::driver
