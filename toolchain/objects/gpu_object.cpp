#include "toolchain/objects/gpu_object.h"

#include "support/files.h"
#include "support/hash.h"
#include "toolchain/nvcc/nvcc_steps.h"
#include "toolchain/ptx/merge_variants.h"
#include "toolchain/resources.h"
#include "toolchain/steps/compiler.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace warplens::toolchain {

bool concerns_dependencies(OptionKind kind) {
  switch (kind) {
  case OptionKind::dependencies:
  case OptionKind::user_dependencies:
  case OptionKind::dependency_file:
  case OptionKind::dependency_target:
  case OptionKind::dependency_phony: return true;
  default: return false;
  }
}

bool describes_result(const NvccArgument& argument) {
  switch (argument.kind) {
  case OptionKind::input:
  case OptionKind::language:
  case OptionKind::output:
  case OptionKind::output_directory:
  case OptionKind::timing:
  case OptionKind::compile:
  case OptionKind::compile_relocatable:
  case OptionKind::compile_whole:
  case OptionKind::link:
  case OptionKind::library_archive:
  case OptionKind::run:
  case OptionKind::device_link:
  case OptionKind::no_object: return true;
  default: return concerns_dependencies(argument.kind);
  }
}

std::string phase_of_object(const NvccArguments& nvcc) {
  return nvcc.phase == OptionKind::compile_whole ? "-dw" : nvcc.relocatable ? "-dc" : "-c";
}

namespace {

namespace fs = std::filesystem;

/// Returns a command of the real nvcc with the user's own flags and known names of intermediate files. They
/// do not depend on nvcc's process, as its own names do, which get into the object.
std::vector<std::string> object_command(const GpuSource& source, const fs::path& file,
                                        const fs::path& keep_in, const fs::path& object) {
  std::vector<std::string> command{(source.toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(source.nvcc, [&](const NvccArgument& argument) {
         // nvcc --threads would write its commands for a shell, each into a file; we run them in threads of
         // our own.
         return describes_result(argument) || argument.kind == OptionKind::parallelism ||
                argument.kind == OptionKind::standard ||
                (!keep_in.empty() &&
                 (argument.kind == OptionKind::keep || argument.kind == OptionKind::keep_directory));
       }))
    command.push_back(word);
  if (!source.nvcc.standard.empty())
    command.push_back("-std=" + dialect_with_probes(source.nvcc));
  if (!keep_in.empty())
    command.insert(command.end(), {"--keep", "--keep-dir", keep_in.string()});
  command.insert(command.end(),
                 {"-x", "cu", phase_of_object(source.nvcc), file.string(), "-o", object.string()});
  return command;
}

/// Returns the command for the user's own source. The host half gets the attachment to the runtime with it,
/// and the stub the module's channel, which nvcc registers as it does the user's variables.
std::vector<std::string> own_command(const GpuSource& source, const fs::path& object) {
  auto command =
      object_command(source, source.original, source.nvcc.keep ? fs::path() : source.directory, object);
  command.insert(command.end(),
                 {"-isystem", resources().include.string(), "-include", "warplens/module_channel.h"});
  return command;
}

/// Returns the command for the device half of the copy with probes.
std::vector<std::string> probed_command(const GpuSource& source, const fs::path& folder) {
  auto command = object_command(source, source.probed, folder, folder / "object.o");
  command.insert(command.end(), {"-isystem", resources().include.string()});
  // The copy names files beside the original by their full path; this option is for names that macros make.
  // nvcc splits at commas and has no quotation for one.
  std::error_code ignored; // a removed current folder leaves the name as it is
  const auto beside = fs::absolute(source.original, ignored).parent_path().string();
  if (beside.find_first_of(", \"'") == std::string::npos)
    command.insert(command.end(), {"-Xcompiler", "-iquote," + beside});
  return command;
}

/// Writes the id that nvcc puts into the names of a file's own variables and functions. It follows from the
/// source's place and text and the command, so that it is the same for both variants, and no other source of
/// a program has it: not even one that was generated under the same name.
Expected<void> write_module_id(const GpuSource& source, const fs::path& file) {
  auto name = source.original.filename().string();
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)))
      letter = '_';
  std::error_code ignored;
  const auto place = fs::absolute(source.original, ignored).lexically_normal().string();
  const auto hash =
      stable_hash(read_file(source.original).value_or("") + '\n' + place + '\n' + source.nvcc.output + '\n' +
                  quote(words_without(source.nvcc, describes_result)));
  return write_file(file,
                    fmt::format("_{:08x}_{}_{}_{:08x}", hash >> 32, name.size(), name, hash & 0xffffffff));
}

/// Plans the steps of a command and prepares their files.
Expected<NvccSteps> prepare(const GpuSource& source, const std::vector<std::string>& command) {
  auto steps = plan_steps(command, source.directory);
  if (steps)
    TRY(write_module_id(source, steps->module_id));
  return steps;
}

Expected<NvccSteps> prepare_probed(const GpuSource& source) {
  const auto folder = source.directory / "probed";
  std::error_code error;
  if (!fs::create_directories(folder, error))
    return fail("{}: {}", folder.string(), error.message());
  return prepare(source, probed_command(source, folder));
}

Expected<std::string> make_ptx(const NvccSteps& steps, Cancellation& cancellation) {
  std::string output;
  for (const auto& device : steps.devices) {
    const auto done = run_steps(steps, device.to_ptx, cancellation);
    if (!done)
      return done;
    output += *done;
  }
  return output;
}

/// The PTX of both variants for one architecture.
struct KernelVariants {
  std::string plain, probed;
};

Expected<std::vector<KernelVariants>> read_variants(const NvccSteps& plain, const NvccSteps& probed) {
  if (plain.devices.size() != probed.devices.size())
    return fail("the two variants are for different architectures");
  std::vector<KernelVariants> variants;
  for (std::size_t i = 0; i < plain.devices.size(); ++i) {
    TRY_LET(plain_ptx, read_file(plain.devices[i].ptx));
    TRY_LET(probed_ptx, read_file(probed.devices[i].ptx));
    variants.push_back({std::move(*plain_ptx), std::move(*probed_ptx)});
  }
  return variants;
}

/// Returns for each architecture the PTX that holds both variants. The error says why they cannot be merged.
Expected<std::vector<std::string>> merge(const GpuSource& source,
                                         const std::vector<KernelVariants>& variants) {
  if (source.nvcc.device_debug)
    return fail("-G asks for code to be debugged");
  std::vector<std::string> merged;
  for (const KernelVariants& variant : variants) {
    TRY_LET(both, merge_variants(variant.plain, variant.probed));
    merged.push_back(std::move(*both));
  }
  return merged;
}

/// Returns the variant with probes alone, if it fits the host half, which is made for the user's own.
Expected<std::vector<std::string>> only_probed(const std::vector<KernelVariants>& variants) {
  std::vector<std::string> probed;
  for (const KernelVariants& variant : variants) {
    TRY(check_same_kernels(variant.plain, variant.probed));
    probed.push_back(variant.probed);
  }
  return probed;
}

/// Makes ptxas compile functions side by side, since two variants are twice the work. The machine code is the
/// same. An explicit number of threads from the user stays.
std::vector<Step> side_by_side(std::vector<Step> steps) {
  for (Step& step : steps)
    if (std::ranges::none_of(step,
                             [](const std::string& word) { return word.find("split-compile") != word.npos; }))
      step.insert(step.begin() + 1, "-split-compile=2");
  return steps;
}

} // namespace

GpuCompilation::GpuCompilation(const GpuSource& source, const fs::path& object)
    : source_(source), object_(object) {
  const auto start = [](auto work) { return std::async(std::launch::async, std::move(work)); };
  steps_ = start([this] { return prepare(source_, own_command(source_, object_)); }).share();
  probed_steps_ = start([this] { return prepare_probed(source_); });
  const auto run = [this](const auto& part) -> Expected<std::string> {
    const auto& steps = steps_.get();
    return steps ? part(*steps) : tl::unexpected(steps.error());
  };
  plain_ = start([this, run] {
             return run([this](const NvccSteps& steps) { return make_ptx(steps, cancellation_); });
           }).share();
  cpp_ = start([this, run] {
           return run([this](const NvccSteps& steps) { return run_steps(steps, steps.host, cancellation_); });
         }).share();
}

GpuCompilation::~GpuCompilation() {
  cancellation_.cancel();
}

Expected<GpuCompilation::HostHalf> GpuCompilation::compile_host(const NvccSteps& steps,
                                                                const fs::path& site_table) {
  const auto& cpp = cpp_.get();
  if (!cpp)
    return tl::unexpected(cpp.error());
  if (const auto& plain = plain_.get(); !plain) // cicc also makes the stub
    return tl::unexpected(plain.error());
  TRY_LET(included, placeholder(steps, source_.directory, cancellation_));
  TRY_LET(sites, site_table.empty() ? std::string() : read_file(site_table));
  TRY(write_file(steps.stub_include, "#pragma GCC system_header\n" + *sites + included->text));
  auto compile = steps.compile;
  // Launches go through the documented cudaLaunchKernel, which is then redirected to our hook.
  compile.insert(compile.begin() + 1, "-D__NV_LEGACY_LAUNCH");
  TRY_LET(output, run_steps(steps, {std::move(compile)}, cancellation_));
  return HostHalf{*cpp, *output, std::move(included->section)};
}

Expected<GpuCompilation::DeviceCode> GpuCompilation::compile_device(const NvccSteps& steps) {
  TRY_LET(probed, probed_steps_.get());
  TRY(make_ptx(*probed, cancellation_));
  const auto& plain = plain_.get();
  if (!plain)
    return tl::unexpected(plain.error());

  TRY_LET(variants, read_variants(steps, *probed));
  auto ptx = merge(source_, *variants);
  DeviceCode code{*plain, ptx.map([](const auto&) {})};
  if (!ptx)
    ptx = only_probed(*variants);
  if (!ptx)
    return tl::unexpected(ptx.error());
  for (std::size_t i = 0; i < steps.devices.size(); ++i) {
    const DeviceSteps& device = steps.devices[i];
    TRY(write_file(device.ptx, (*ptx)[i]));
    if (std::error_code error;
        !device.lto.empty() &&
        !fs::copy_file(probed->devices[i].lto, device.lto, fs::copy_options::overwrite_existing, error))
      return fail("{}: {}", device.lto.string(), error.message());
    TRY_LET(output, run_steps(steps, code.merged ? side_by_side(device.rest) : device.rest, cancellation_));
    code.output += *output;
  }
  TRY_LET(output, run_steps(steps, {steps.embed}, cancellation_));
  code.output += *output;
  return code;
}

/// Puts the device code into its place and redirects calls: all at once, since a name that one entry makes is
/// not looked up again for another.
Expected<void> GpuCompilation::finish_object(const HostHalf& host, const NvccSteps& steps,
                                             bool has_both_variants) const {
  std::vector<std::string> command{"objcopy", "--update-section",
                                   host.section + "=" + steps.fatbinary.string(),
                                   "--redefine-syms=" + resources().redirected_symbols.string()};
  if (has_both_variants)
    command.push_back("--redefine-syms=" + resources().variant_symbols.string());
  command.push_back(object_.string());
  if (const auto done = run_compiler(command); !done)
    return fail(
        "device code cannot be put into the host compiler's object (-flto leaves no place for it): {}",
        done.error().message);
  return {};
}

Expected<GpuObject> GpuCompilation::finish(const fs::path& site_table) {
  const auto& steps = steps_.get();
  if (!steps)
    return tl::unexpected(steps.error());
  std::mutex mutex;
  std::optional<Error> failure; // the first failure; it cancels everything else, which then fails, too
  const auto checked = [&](auto done) {
    const std::lock_guard lock(mutex);
    if (!done && !failure)
      failure = done.error();
    if (!done)
      cancellation_.cancel();
    return done;
  };
  auto host_half = std::async(std::launch::async, [&] { return checked(compile_host(*steps, site_table)); });
  const auto code = checked(compile_device(*steps));
  const auto host = host_half.get();
  if (!host || !code)
    return tl::unexpected(*failure);
  TRY(finish_object(*host, *steps, code->merged.has_value()));
  return GpuObject{(source_.nvcc.verbose ? steps->log : steps->warnings) + host->cpp_output + code->output +
                       host->compiler_output,
                   code->merged ? "" : code->merged.error().message};
}

} // namespace warplens::toolchain
