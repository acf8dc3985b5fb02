#include "driver/stages/gpu_object.h"

#include "driver/ptx/two_forms.h"
#include "driver/resources.h"
#include "driver/stages/compiler.h"
#include "driver/stages/nvcc_steps.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace warplens::driver {

bool concerns_dependencies(Meaning meaning) {
  switch (meaning) {
  case Meaning::dependencies:
  case Meaning::user_dependencies:
  case Meaning::dependency_file:
  case Meaning::dependency_target:
  case Meaning::dependency_phony: return true;
  default: return false;
  }
}

bool describes_result(const NvccArgument& argument) {
  switch (argument.meaning) {
  case Meaning::input:
  case Meaning::language:
  case Meaning::output:
  case Meaning::output_directory:
  case Meaning::compile:
  case Meaning::compile_relocatable:
  case Meaning::compile_whole:
  case Meaning::link:
  case Meaning::library_archive:
  case Meaning::run:
  case Meaning::device_link:
  case Meaning::no_object: return true;
  default: return concerns_dependencies(argument.meaning);
  }
}

std::string phase_of_object(const NvccArguments& nvcc) {
  return nvcc.phase == Meaning::compile_whole ? "-dw" : nvcc.relocatable ? "-dc" : "-c";
}

namespace {

namespace fs = std::filesystem;

/// The real nvcc with the user's own flags, and the names of intermediate files known to us. They do not
/// depend on nvcc's process, as its own do, which get into the object.
std::vector<std::string> object_command(const GpuSource& source, const fs::path& file,
                                        const fs::path& keep_in, const fs::path& object) {
  std::vector<std::string> command{(source.toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(source.nvcc, [&](const NvccArgument& argument) {
         // With threads of its own nvcc writes its commands for a shell, each into a file; we have ours.
         return describes_result(argument) || argument.meaning == Meaning::parallelism ||
                (!keep_in.empty() &&
                 (argument.meaning == Meaning::keep || argument.meaning == Meaning::keep_directory));
       }))
    command.push_back(word);
  if (!keep_in.empty())
    command.insert(command.end(), {"--keep", "--keep-dir", keep_in.string()});
  command.insert(command.end(),
                 {"-x", "cu", phase_of_object(source.nvcc), file.string(), "-o", object.string()});
  return command;
}

/// For the user's own source. The host half gets the attachment to the runtime with it, and the stub the
/// module's channel, which nvcc registers as it does the user's variables.
std::vector<std::string> own_command(const GpuSource& source, const fs::path& object) {
  auto command =
      object_command(source, source.original, source.nvcc.keep ? fs::path() : source.directory, object);
  command.insert(command.end(),
                 {"-isystem", resources().include.string(), "-include", "warplens/module_channel.h"});
  return command;
}

/// For the device half of the copy with probes.
std::vector<std::string> probed_command(const GpuSource& source, const fs::path& folder) {
  auto command = object_command(source, source.probed, folder, folder / "object.o");
  command.insert(command.end(), {"-isystem", resources().include.string()});
  // The copy names what lies beside the original by its full path; this is for names that macros make. nvcc
  // splits at commas and knows no way to quote one.
  std::error_code ignored; // a current folder that is gone leaves the name as it is
  const auto beside = fs::absolute(source.original, ignored).parent_path().string();
  if (beside.find_first_of(", \"'") == std::string::npos)
    command.insert(command.end(), {"-Xcompiler", "-iquote," + beside});
  return command;
}

/// What nvcc puts into the names of a file's own variables and functions: here it follows from the source's
/// place and the command, so that it is the same for both forms, and no other source of a program has it.
Expected<void> write_module_id(const GpuSource& source, const fs::path& file) {
  auto name = source.original.filename().string();
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)))
      letter = '_';
  std::error_code ignored;
  const auto place = fs::absolute(source.original, ignored).lexically_normal().string();
  const auto hash = stable_hash(place + '\n' + source.nvcc.output + '\n' +
                                quote(words_without(source.nvcc, describes_result)));
  return write_file(file,
                    fmt::format("_{:08x}_{}_{}_{:08x}", hash >> 32, name.size(), name, hash & 0xffffffff));
}

/// The steps of a command, ready to be run.
Expected<NvccSteps> prepare(const GpuSource& source, const std::vector<std::string>& command) {
  auto steps = plan_steps(command, source.directory);
  if (steps)
    if (auto written = write_module_id(source, steps->module_id); !written)
      return tl::unexpected(written.error());
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
  std::string said;
  for (const auto& device : steps.devices) {
    const auto done = run_steps(steps, device.to_ptx, cancellation);
    if (!done)
      return done;
    said += *done;
  }
  return said;
}

/// One architecture's PTX of the two forms.
struct TwoForms {
  std::string plain, probed;
};

Expected<std::vector<TwoForms>> read_forms(const NvccSteps& plain, const NvccSteps& probed) {
  if (plain.devices.size() != probed.devices.size())
    return fail("the two forms are for different architectures");
  std::vector<TwoForms> forms;
  for (std::size_t i = 0; i < plain.devices.size(); ++i) {
    auto own = read_file(plain.devices[i].ptx), other = read_file(probed.devices[i].ptx);
    if (!own)
      return tl::unexpected(own.error());
    if (!other)
      return tl::unexpected(other.error());
    forms.push_back({std::move(*own), std::move(*other)});
  }
  return forms;
}

/// The PTX of each architecture that holds both forms. The error says why they stay apart.
Expected<std::vector<std::string>> join(const GpuSource& source, const std::vector<TwoForms>& forms) {
  if (source.nvcc.device_debug)
    return fail("-G asks for code to be debugged");
  std::vector<std::string> joined;
  for (const TwoForms& form : forms) {
    auto both = ptx::join_forms(form.plain, form.probed);
    if (!both)
      return tl::unexpected(both.error());
    joined.push_back(std::move(*both));
  }
  return joined;
}

/// The form with probes alone, where it fits the host half, which is made for the user's own.
Expected<std::vector<std::string>> only_probed(const std::vector<TwoForms>& forms) {
  std::vector<std::string> probed;
  for (const TwoForms& form : forms) {
    if (auto same = ptx::check_same_kernels(form.plain, form.probed); !same)
      return tl::unexpected(same.error());
    probed.push_back(form.probed);
  }
  return probed;
}

/// Twice the kernels are twice the work for ptxas, which is able to compile functions side by side. The
/// machine code is the same. The user may have said by how many threads.
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
  if (const auto& plain = plain_.get(); !plain) // it makes the stub, too
    return tl::unexpected(plain.error());
  auto included = placeholder(steps, source_.directory, cancellation_);
  if (!included)
    return tl::unexpected(included.error());
  const auto sites = site_table.empty() ? std::string() : read_file(site_table);
  if (!sites)
    return tl::unexpected(sites.error());
  if (auto written = write_file(steps.stub_include, "#pragma GCC system_header\n" + *sites + included->text);
      !written)
    return tl::unexpected(written.error());
  auto compile = steps.compile;
  // Launches go through the documented cudaLaunchKernel, which is then redirected to our hook.
  compile.insert(compile.begin() + 1, "-D__NV_LEGACY_LAUNCH");
  const auto said = run_steps(steps, {std::move(compile)}, cancellation_);
  if (!said)
    return tl::unexpected(said.error());
  return HostHalf{*cpp, *said, std::move(included->section)};
}

Expected<GpuCompilation::DeviceCode> GpuCompilation::compile_device(const NvccSteps& steps) {
  const auto probed = probed_steps_.get();
  if (!probed)
    return tl::unexpected(probed.error());
  if (const auto made = make_ptx(*probed, cancellation_); !made)
    return tl::unexpected(made.error());
  const auto& plain = plain_.get();
  if (!plain)
    return tl::unexpected(plain.error());

  const auto forms = read_forms(steps, *probed);
  if (!forms)
    return tl::unexpected(forms.error());
  auto ptx = join(source_, *forms);
  DeviceCode code{*plain, ptx.map([](const auto&) {})};
  if (!ptx)
    ptx = only_probed(*forms);
  if (!ptx)
    return tl::unexpected(ptx.error());
  for (std::size_t i = 0; i < steps.devices.size(); ++i) {
    const DeviceSteps& device = steps.devices[i];
    if (auto written = write_file(device.ptx, (*ptx)[i]); !written)
      return tl::unexpected(written.error());
    if (std::error_code error;
        !device.lto.empty() &&
        !fs::copy_file(probed->devices[i].lto, device.lto, fs::copy_options::overwrite_existing, error))
      return fail("{}: {}", device.lto.string(), error.message());
    auto said = run_steps(steps, code.joined ? side_by_side(device.rest) : device.rest, cancellation_);
    if (!said)
      return tl::unexpected(said.error());
    code.said += *said;
  }
  const auto said = run_steps(steps, {steps.embed}, cancellation_);
  if (!said)
    return tl::unexpected(said.error());
  code.said += *said;
  return code;
}

/// The device code takes its place, and calls are redirected: all at once, since a name that one entry makes
/// is not looked up again for another.
Expected<void> GpuCompilation::finish_object(const HostHalf& host, const NvccSteps& steps,
                                             bool has_two_forms) const {
  std::vector<std::string> command{"objcopy", "--update-section",
                                   host.section + "=" + steps.fatbinary.string(),
                                   "--redefine-syms=" + resources().redirected_symbols.string()};
  if (has_two_forms)
    command.push_back("--redefine-syms=" + resources().two_forms_symbols.string());
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
  std::optional<Error> failure; // the first; it ends everything else, and that then fails, too
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
  if (auto finished = finish_object(*host, *steps, code->joined.has_value()); !finished)
    return tl::unexpected(finished.error());
  return GpuObject{(source_.nvcc.verbose ? steps->told : steps->warnings) + host->cpp_said + code->said +
                       host->compiler_said,
                   code->joined ? "" : code->joined.error().message};
}

} // namespace warplens::driver
