#include "toolchain/objects/compile_source.h"

#include "support/process.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/objects/cpu_object.h"
#include "toolchain/objects/gpu_object.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/steps/instrument.h"
#include "toolchain/steps/objection.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <optional>

namespace warplens::toolchain {
namespace {

Expected<void> copy_object(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error)
    return fail("{}: cannot be written: {}", to.string(), error.message());
  return {};
}

} // namespace

const std::vector<std::string> nvcc_variables{"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};

Expected<void> write_dependencies(const SourceToCompile& source, const NvccArguments& nvcc,
                                  const Toolkit& toolkit) {
  if (nvcc.dependencies == OptionKind::other)
    return {};
  const std::filesystem::path target = nvcc.output.empty() ? source.object.string() : nvcc.output;
  Command command;
  command.arguments = {(toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(nvcc, describes_result))
    command.arguments.push_back(word);
  auto file = target;
  file.replace_extension(".d");
  command.arguments.insert(command.arguments.end(),
                           {"-x", "cu", nvcc.dependencies == OptionKind::dependencies ? "-M" : "-MM",
                            source.source, "-MF",
                            nvcc.dependency_file.empty() ? file.string() : nvcc.dependency_file, "-MT",
                            nvcc.dependency_target.empty() ? target.string() : nvcc.dependency_target});
  if (nvcc.dependency_phony)
    command.arguments.push_back("-MP");
  command.without = nvcc_variables;
  return run_compiler(std::move(command)).map([](const auto&) {});
}

Expected<void> write_timing(const SourceToCompile& source, const NvccArguments& nvcc,
                            const Toolkit& toolkit) {
  if (std::ranges::find(nvcc.all, OptionKind::timing, &NvccArgument::kind) == nvcc.all.end())
    return {};
  Command command;
  command.arguments = {(toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(nvcc, [](const NvccArgument& argument) {
         return argument.kind != OptionKind::timing && describes_result(argument);
       }))
    command.arguments.push_back(word);
  command.arguments.insert(command.arguments.end(), {"-x", "cu", phase_of_object(nvcc), source.source, "-o",
                                                     (source.directory / "timed.o").string()});
  command.without = nvcc_variables;
  return run_compiler(std::move(command)).map([](const auto&) {});
}

Expected<Attempted> compile_with_probes(const SourceToCompile& source, const NvccArguments& nvcc,
                                        const Toolkit& toolkit) {
  Attempted attempted{Attempt::impossible, {source.source}};
  const auto impossible = [&](const Error& error) {
    attempted.note = {source.source};
    attempted.note.fell_back = error.message;
    return attempted;
  };
  const auto object = source.directory / "object.o";
  std::optional<GpuCompilation> for_gpu; // its destructor cancels it if the function returns before finish()
  if (!source.for_cpu)
    for_gpu.emplace(GpuSource{toolkit, nvcc, source.source, copy_with_probes(source.source, source.directory),
                              source.directory},
                    object);
  MachineCodes machine_code;
  if (source.for_cpu)
    machine_code =
        start_machine_code_for_any_gpu(nvcc, toolkit, source.source, source.directory, source.later);
  const auto instrumented = instrument(source.source, clang_arguments(nvcc, toolkit), source.directory);
  if (!instrumented) {
    attempted.refused_by_clang = is_about_source(instrumented.error().message);
    return impossible(instrumented.error());
  }
  attempted.note.sites = instrumented->accesses;
  attempted.note.removed = instrumented->removed;
  attempted.note.unseen = instrumented->unseen;
  if (instrumented->sites == 0 && !instrumented->refused.empty() && !source.for_cpu) {
    attempted.refused_by_clang = true;
    return impossible(Error{instrumented->refused});
  }
  if (instrumented->sites == 0 && instrumented->refused.empty()) {
    attempted.outcome = Attempt::nothing_to_instrument;
    return attempted;
  }

  auto dependencies =
      std::async(std::launch::async, [&] { return write_dependencies(source, nvcc, toolkit); });
  const auto compiled =
      source.for_cpu ? compile_for_cpu({instrumented->file, source.source, source.directory, source.checks,
                                        machine_code, nvcc.device_debug, instrumented->refused},
                                       nvcc, clang_arguments(nvcc, toolkit), object)
                           .map([] { return GpuObject{}; })
                     : for_gpu->finish(instrumented->site_table);
  const auto written = dependencies.get();
  if (!compiled)
    return impossible(compiled.error());
  if (!written)
    return impossible(written.error());
  if (const auto timed = write_timing(source, nvcc, toolkit); !timed)
    return impossible(timed.error());
  attempted.note.single_variant_reason = compiled->single_variant_reason;
  TRY(add_note(attempted.note, object, source.directory));
  TRY(copy_object(object, source.object));
  std::fwrite(compiled->output.data(), 1, compiled->output.size(), stderr);
  attempted.outcome = Attempt::instrumented;
  return attempted;
}

} // namespace warplens::toolchain
