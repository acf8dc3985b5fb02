#include "toolchain/nvcc/nvcc_steps.h"

#include "support/files.h"
#include "support/pattern.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/steps/user_text.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace warplens::toolchain {
namespace {

/// Returns the tool that a command runs: `"$CICC_PATH/cicc"` → cicc.
std::string tool_of(const std::vector<std::string>& words) {
  return words.empty() ? "" : std::filesystem::path(words.front()).filename().string();
}

std::string value_of(const std::vector<std::string>& words, std::string_view option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

/// Returns whether the line is `NAME=VALUE`, which goes to the environment of the commands.
bool is_setting(std::string_view line) {
  const auto equals = line.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         std::ranges::all_of(line.substr(0, equals), [](char letter) {
           return std::isupper(static_cast<unsigned char>(letter)) || letter == '_';
         });
}

std::string setting_of(const NvccSteps& plan, std::string_view name) {
  const auto found = std::ranges::find(plan.environment, name, &std::pair<std::string, std::string>::first);
  return found == plan.environment.end() ? "" : found->second;
}

/// Returns a program's path. nvcc writes a program as `$CICC_PATH/cicc`, or by a name to be found in the PATH
/// it sets.
std::string locate(const NvccSteps& plan, const std::string& program) {
  const auto slash = program.find('/');
  if (slash != std::string::npos)
    return program.starts_with('$') ? setting_of(plan, program.substr(1, slash - 1)) + program.substr(slash)
                                    : program;
  std::istringstream folders(setting_of(plan, "PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / program;
    if (std::error_code error; std::filesystem::is_regular_file(file, error))
      return file.string();
  }
  return program;
}

/// Adds a cicc command. The stub gets the name of another file to include: nvcc's own is written together
/// with the device code, perhaps while the host compiler reads it.
Expected<void> add_cicc(NvccSteps& steps, Step step) {
  const auto name = std::ranges::find(step, "--include_file_name");
  const auto stub = value_of(step, "--stub_file_name");
  if (name == step.end() || name + 1 == step.end() || stub.empty())
    return fail("nvcc --dryrun names no stub");
  *(name + 1) = std::filesystem::path(*(name + 1)).stem().stem().string() + ".warplens.c";
  steps.stub_include = std::filesystem::path(stub).parent_path() / *(name + 1);
  DeviceSteps& device = steps.devices.back();
  device.ptx = value_of(step, "-o");
  device.lto = value_of(step, "-olto");
  device.to_ptx.push_back(std::move(step));
  return {};
}

Expected<void> add(NvccSteps& steps, const std::string& line) {
  TRY_LET(words, split_words(line));
  const auto tool = tool_of(*words);
  const bool preprocesses = std::ranges::find(*words, "-E") != words->end();
  const bool for_device = std::ranges::any_of(
      *words, [](const std::string& word) { return word.starts_with("-D__CUDA_ARCH__="); });
  if (tool == "cudafe++") {
    steps.module_id = value_of(*words, "--module_id_file_name");
    if (std::erase(*words, "--gen_module_id_file") == 0 || steps.module_id.empty())
      return fail("nvcc --dryrun names no module id");
    steps.host.push_back(*words);
  } else if (preprocesses && !for_device) {
    steps.host.push_back(*words);
  } else if (preprocesses) {
    steps.devices.push_back({.to_ptx = {*words}, .rest = {}, .ptx = {}, .lto = {}});
  } else if (tool == "cicc" && !steps.devices.empty() && steps.devices.back().ptx.empty()) {
    return add_cicc(steps, *words);
  } else if (tool == "ptxas" && !steps.devices.empty() && steps.embed.empty()) {
    steps.devices.back().rest.push_back(*words);
  } else if (tool == "fatbinary" && steps.embed.empty()) {
    constexpr std::string_view option = "--create=";
    for (const std::string& word : *words)
      if (word.starts_with(option))
        steps.fatbinary = word.substr(option.size());
    steps.embed = *words;
  } else if (steps.compile.empty() && !steps.embed.empty()) {
    steps.compile = *words;
  } else {
    return fail("nvcc --dryrun lists a step that is not known: {}", line);
  }
  return {};
}

} // namespace

Expected<NvccSteps> plan_steps(const std::vector<std::string>& command,
                               const std::filesystem::path& directory) {
  auto query = command;
  query.push_back("--dryrun");
  TRY_LET(log, run_compiler(Command{.arguments = std::move(query),
                                    .environment = {{"TMPDIR", directory.string()}},
                                    .without = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}}));
  NvccSteps steps;
  steps.log = *log;
  steps.environment.emplace_back("TMPDIR", directory.string());
  std::istringstream lines(*log);
  constexpr std::string_view mark = "#$ ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(mark)) {
      steps.warnings += line + '\n';
      continue;
    }
    line.erase(0, mark.size());
    if (is_setting(line)) {
      const auto equals = line.find('=');
      steps.environment.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    } else if (auto added = add(steps, line); !added) {
      return tl::unexpected(added.error());
    }
  }
  if (steps.host.empty() || steps.devices.empty() || steps.stub_include.empty() || steps.fatbinary.empty() ||
      steps.compile.empty())
    return fail("nvcc --dryrun lists no compilation");
  return steps;
}

Expected<std::string> run_steps(const NvccSteps& plan, const std::vector<Step>& steps,
                                Cancellation& cancellation) {
  std::string output;
  for (Step step : steps) {
    step.front() = locate(plan, step.front());
    auto done = run_compiler(Command{
        .arguments = std::move(step), .environment = plan.environment, .cancellation = &cancellation});
    if (!done)
      return done;
    output += without_probes(*done);
  }
  return output;
}

/// Makes the placeholder with nvcc's own program, from a module without code.
Expected<Placeholder> placeholder(const NvccSteps& plan, const std::filesystem::path& directory,
                                  Cancellation& cancellation) {
  const auto module = directory / "empty.ptx", text = directory / "empty.fatbin.c";
  TRY(write_file(module, ".version 7.0\n.target sm_80\n.address_size 64\n"));
  Step step;
  for (const std::string& word : plan.embed)
    if (!word.starts_with("--image") && !word.starts_with("--create=") &&
        !word.starts_with("--embedded-fatbin="))
      step.push_back(word);
  step.insert(step.end(),
              {"--image3=kind=ptx,sm=80,file=" + module.string(),
               "--create=" + (directory / "empty.fatbin").string(), "--embedded-fatbin=" + text.string()});
  TRY(run_steps(plan, {step}, cancellation));
  Placeholder result{read_file(text).value_or(""), ""};
  static const Pattern section("#define __CUDAFATBINDATASECTION +\"([^\"]+)\"");
  if (const auto match = section.first_match(result.text))
    result.section = (*match)[1];
  else
    return fail("fatbinary names no section");
  return result;
}

} // namespace warplens::toolchain
