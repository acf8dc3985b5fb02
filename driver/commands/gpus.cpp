// `warplens gpus`: lists the GPUs that can be modelled.

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "judge/accuracy_text.h"
#include "model/gpu/gpu.h"
#include "model/gpu/known_times.h"
#include "model/gpu/parameters.h"
#include "toolchain/resources.h"

#include <memory>

namespace warplens::driver {
namespace {

Expected<void> list() {
  TRY_LET(names, model::list_gpus(toolchain::resources().gpus));
  std::string text = fmt::format("{:<12} {:<28} {:>4} {:>10}  {}\n", "name", "GPU", "SMs", "L2", "accuracy");
  for (const auto& name : *names) {
    TRY_LET(gpu, model::load_gpu(name, toolchain::resources().gpus));
    text +=
        fmt::format("{:<12} {:<28} {:>4} {:>6} KiB  {}\n", gpu->id, gpu->name, gpu->sms, gpu->l2_bytes / 1024,
                    model::why_times_are_unknown(*gpu).empty() ? judge::accuracy_in_mean(gpu->accuracy)
                                                               : "times are not known");
  }
  return print_text(text, "");
}

Expected<void> describe(const std::string& name) {
  TRY_LET(gpu, model::load_gpu(name, toolchain::resources().gpus));
  TRY_LET(figures, model::describe_gpu(name, toolchain::resources().gpus));
  const std::string why = model::why_times_are_unknown(*gpu);
  const std::string times =
      why.empty() ? "" : fmt::format("{}: times are not known, because {}\n", gpu->id, why);
  std::string by_kind;
  if (gpu->accuracy && why.empty())
    for (const std::string& line : judge::accuracy_by_kind(*gpu->accuracy))
      by_kind += fmt::format("    times {}\n", line);
  return print_text(fmt::format("{}: {}\n{}{}\n{}", gpu->id, judge::accuracy_text(gpu->accuracy, gpu->id),
                                by_kind, times, *figures),
                    "");
}

} // namespace

void declare_gpus(CLI::App& app, Action& chosen) {
  auto* command =
      app.add_subcommand("gpus", "list the GPUs that can be modelled, or print one in full with its sources");
  auto name = std::make_shared<std::string>();
  auto* named =
      command->add_option("name", *name, "a GPU's name, or a file that describes one")->type_name("NAME");
  auto keys = std::make_shared<bool>(false);
  command->add_flag("--keys", *keys, "print the keys of GPU files: unit, values and meaning, as Markdown")
      ->excludes(named);
  command->callback([name, keys, &chosen] {
    chosen = [name, keys] {
      return *keys           ? print_text(model::parameters_in_markdown(), "")
             : name->empty() ? list()
                             : describe(*name);
    };
  });
}

} // namespace warplens::driver
