// `warplens gpus`: lists the GPUs that can be modelled, or prints one in full.

#include "driver/commands/commands.h"
#include "driver/document_formats.h"
#include "driver/stages/print.h"
#include "judge/accuracy_text.h"
#include "model/gpu/gpu.h"
#include "model/gpu/known_times.h"
#include "model/gpu/parameters.h"
#include "model/gpu/stated_figures.h"
#include "toolchain/resources.h"

#include <algorithm>
#include <memory>

namespace warplens::driver {
namespace {

struct GpusOptions {
  std::string name; ///< the GPU to print in full; empty: all are listed
  std::string format = "text";
  bool keys = false;
  OutputOptions output;
};

Expected<document::Document> list() {
  using enum document::Kind;
  TRY_LET(names, model::list_gpus(toolchain::resources().gpus));
  document::Table table{{{"name"}, {"GPU"}, {"SMs", number}, {"L2", number, "B"}, {"accuracy"}}};
  for (const auto& name : *names) {
    TRY_LET(gpu, model::load_gpu(name, toolchain::resources().gpus));
    const bool has_times = model::why_times_are_unknown(*gpu).empty();
    table.rows.push_back(
        {{document::words(gpu->id), document::words(gpu->name),
          document::figure(gpu->sms, fmt::format("{}", gpu->sms)),
          document::figure(double(gpu->l2_bytes), fmt::format("{} KiB", gpu->l2_bytes / 1024)),
          document::words(has_times ? judge::accuracy_in_mean(gpu->accuracy) : "times are not known")}});
  }
  return document::Document{"GPUs that can be modelled", {{"", {std::move(table)}}}};
}

/// Returns the figures of the GPU's file for programs.
Expected<document::Table> table_of_figures(const std::string& name) {
  TRY_LET(figures, model::stated_figures(name, toolchain::resources().gpus));
  document::Table table{{{"parameter"}, {"value"}, {"unit"}, {"source"}, {"meaning"}}};
  table.audience = document::Audience::programs;
  for (const model::StatedFigure& figure : *figures) {
    const auto& known = model::parameters();
    const auto parameter = std::ranges::find(known, figure.path, &model::Parameter::path);
    const bool is_known = parameter != known.end();
    table.rows.push_back({{document::words(figure.path), document::words(figure.value),
                           document::words(is_known ? parameter->unit : ""), document::words(figure.source),
                           document::words(is_known ? parameter->meaning : "")}});
  }
  return table;
}

Expected<document::Document> describe(const std::string& name) {
  TRY_LET(gpu, model::load_gpu(name, toolchain::resources().gpus));
  TRY_LET(figures, model::describe_gpu(name, toolchain::resources().gpus));
  document::Section accuracy;
  const auto say = [&](std::string text) { accuracy.blocks.push_back(document::Paragraph{std::move(text)}); };
  say(fmt::format("{}: {}", gpu->id, judge::accuracy_text(gpu->accuracy, gpu->id)));
  const std::string why = model::why_times_are_unknown(*gpu);
  if (gpu->accuracy && why.empty())
    for (const std::string& line : judge::accuracy_by_kind(*gpu->accuracy))
      say("times " + line);
  if (!why.empty())
    say(fmt::format("{}: times are not known, because {}", gpu->id, why));
  TRY_LET(table, table_of_figures(name));
  document::Listing listing{"", *figures, document::Audience::people};
  return document::Document{gpu->name, {std::move(accuracy), {"", {std::move(listing), std::move(*table)}}}};
}

Expected<void> print_gpus(const GpusOptions& options) {
  if (options.keys)
    return print_text(model::parameters_in_markdown(), options.output.file);
  TRY_LET(document, options.name.empty() ? list() : describe(options.name));
  return print_document(*document, options.format, options.output);
}

} // namespace

void declare_gpus(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand(
      "gpus", "list the GPUs that can be modelled, or print one in full with its sources");
  auto options = std::make_shared<GpusOptions>();
  auto* named = command->add_option("name", options->name, "a GPU's name, or a file that describes one")
                    ->type_name("NAME");
  auto* keys = command
                   ->add_flag("--keys", options->keys,
                              "print the keys of GPU files: unit, values and meaning, as Markdown")
                   ->excludes(named);
  add_document_options(*command, options->format, options->output);
  keys->excludes(command->get_option("--format"));
  command->callback([options, &chosen] { chosen = [options] { return print_gpus(*options); }; });
}

} // namespace warplens::driver
