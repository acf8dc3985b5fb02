#include "driver/stages/gpu_object.h"

#include "driver/ptx/two_forms.h"
#include "driver/resources.h"
#include "driver/stages/compiler.h"
#include "driver/stages/nvcc_steps.h"
#include "support/hash.h"
#include "support/process.h"

#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>

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

std::vector<std::string> probed_command(const GpuSource& source, const fs::path& copy,
                                        const fs::path& object) {
  auto command = object_command(source, copy, source.nvcc.keep ? fs::path() : source.directory, object);
  // Launches go through the documented cudaLaunchKernel, which is then redirected to our hook.
  command.insert(command.end(),
                 {"-isystem", resources().include.string(), "-Xcompiler", "-D__NV_LEGACY_LAUNCH"});
  // The copy names what lies beside the original by its full path; this is for names that macros make. nvcc
  // splits at commas and knows no way to quote one.
  std::error_code ignored; // a current folder that is gone leaves the name as it is
  const auto folder = fs::absolute(source.original, ignored).parent_path().string();
  if (folder.find_first_of(", \"'") == std::string::npos)
    command.insert(command.end(), {"-Xcompiler", "-iquote," + folder});
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
  std::ofstream stream(file, std::ios::binary);
  stream << fmt::format("_{:08x}_{}_{}_{:08x}", hash >> 32, name.size(), name, hash & 0xffffffff);
  if (!stream.flush())
    return fail("{}: cannot be written", file.string());
  return {};
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Puts the form without probes into each architecture's PTX. The error says why they stay apart; then no PTX
/// is changed.
Expected<void> join(const NvccSteps& steps, const std::vector<fs::path>& plain) {
  if (plain.size() != steps.devices.size())
    return fail("the two forms are for different architectures");
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    auto both = ptx::join_forms(read_file(plain[i]), read_file(steps.devices[i].ptx));
    if (!both)
      return tl::unexpected(both.error());
    joined.push_back(std::move(*both));
  }
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (!(std::ofstream(steps.devices[i].ptx, std::ios::binary) << joined[i]).flush())
      return fail("{}: cannot be written", steps.devices[i].ptx.string());
  return {};
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

struct DeviceCode {
  std::string said;
  Expected<void> joined;
};

Expected<DeviceCode> compile_device(const NvccSteps& steps, const Expected<std::vector<fs::path>>& plain) {
  DeviceCode code;
  const auto add = [&](const std::vector<Step>& more) -> Expected<void> {
    return run_steps(steps, more).map([&](const std::string& said) { code.said += said; });
  };
  for (const auto& device : steps.devices)
    if (auto done = add(device.to_ptx); !done)
      return tl::unexpected(done.error());
  code.joined = plain ? join(steps, *plain) : tl::unexpected(plain.error());
  for (const auto& device : steps.devices)
    if (auto done = add(code.joined ? side_by_side(device.rest) : device.rest); !done)
      return tl::unexpected(done.error());
  return code;
}

/// All at once: a name that one entry makes is not looked up again for another.
Expected<void> redirect(const fs::path& object, bool has_two_forms) {
  std::vector<std::string> command{"objcopy", "--redefine-syms=" + resources().redirected_symbols.string()};
  if (has_two_forms)
    command.push_back("--redefine-syms=" + resources().two_forms_symbols.string());
  command.push_back(object.string());
  return run_compiler(command).map([](const auto&) {});
}

} // namespace

Expected<std::vector<fs::path>> compile_plain_form(const GpuSource& source) {
  if (source.nvcc.device_debug)
    return fail("-G asks for code to be debugged");
  const auto folder = source.directory / "plain";
  std::error_code error;
  if (!fs::create_directories(folder, error))
    return fail("{}: {}", folder.string(), error.message());
  const auto steps = plan_steps(object_command(source, source.original, folder, folder / "object.o"), folder);
  if (!steps)
    return tl::unexpected(steps.error());
  if (auto written = write_module_id(source, steps->module_id); !written)
    return tl::unexpected(written.error());
  std::vector<fs::path> forms;
  for (const auto& device : steps->devices) {
    if (const auto done = run_steps(*steps, device.to_ptx); !done)
      return tl::unexpected(done.error());
    forms.push_back(device.ptx);
  }
  return forms;
}

Expected<GpuObject> compile_gpu_object(const GpuSource& source, const fs::path& copy,
                                       const Expected<std::vector<fs::path>>& plain, const fs::path& object) {
  const auto steps = plan_steps(probed_command(source, copy, object), source.directory);
  if (!steps)
    return tl::unexpected(steps.error());
  if (auto written = write_module_id(source, steps->module_id); !written)
    return tl::unexpected(written.error());
  auto device = std::async(std::launch::async, [&] { return compile_device(*steps, plain); });
  const auto host = run_steps(*steps, steps->host);
  const auto code = device.get();
  if (!host)
    return tl::unexpected(host.error());
  if (!code)
    return tl::unexpected(code.error());
  const auto rest = run_steps(*steps, steps->rest);
  if (!rest)
    return tl::unexpected(rest.error());

  if (auto redirected = redirect(object, code->joined.has_value()); !redirected)
    return tl::unexpected(redirected.error());
  return GpuObject{(source.nvcc.verbose ? steps->told : steps->warnings) + *host + code->said + *rest,
                   code->joined ? "" : code->joined.error().message};
}

} // namespace warplens::driver
