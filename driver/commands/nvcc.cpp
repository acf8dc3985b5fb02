// `warplens nvcc`, the drop-in nvcc: instrument → compile → (link). The real nvcc does everything else, with
// the very same arguments.

#include "driver/commands/commands.h"
#include "driver/commands/drop_in_options.h"
#include "driver/compilation_report.h"
#include "driver/progress.h"
#include "driver/stages/capabilities.h"
#include "driver/stages/print.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/objects/back_end_of_objects.h"
#include "toolchain/objects/compile_source.h"
#include "toolchain/objects/cpu_object.h"
#include "toolchain/objects/gpu_object.h"
#include "toolchain/objects/missing_functions.h"
#include "toolchain/resources.h"
#include "toolchain/steps/compile_log.h"
#include "toolchain/steps/objection.h"
#include "toolchain/toolkit_overlay.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

namespace warplens::driver {
namespace {

using namespace toolchain;

using Words = std::vector<std::string>;

struct Request {
  Toolkit toolkit;
  DropInOptions options; ///< the words are nvcc's, as given
};

/// Reads the command line. Under a compiler launcher its first word is nvcc's path.
Expected<Request> read_request(DropInOptions options) {
  auto& words = options.words;
  const bool named = !words.empty() && std::filesystem::path(words.front()).filename() == "nvcc";
  TRY_LET(toolkit, named ? toolkit_of(words.front()) : find_toolkit());
  if (named)
    words.erase(words.begin());
  return Request{std::move(*toolkit), std::move(options)};
}

Words command_of(const Request& request) {
  Words command{(request.toolkit.root / "bin/nvcc").string()};
  command.insert(command.end(), request.options.words.begin(), request.options.words.end());
  return command;
}

/// Replaces this process by the real nvcc.
int become_nvcc(const Request& request) {
  complain(replace_with(command_of(request)).message);
  return 1;
}

/// Runs nvcc and returns its exit code; nvcc's output goes to ours.
int run_nvcc(Words command, bool with_variables) {
  const auto finished =
      run({.arguments = std::move(command), .without = with_variables ? Words{} : nvcc_variables});
  if (finished)
    return finished->exit_code;
  complain(finished.error().message);
  return 1;
}

/// Parses NVCC_PREPEND_FLAGS, the words and NVCC_APPEND_FLAGS, as nvcc itself does.
Expected<NvccArguments> parse(const Request& request) {
  Words all;
  const auto add_variable = [&](const std::string& name) -> Expected<void> {
    const char* value = std::getenv(name.c_str());
    TRY_LET(words, split_words(value ? value : ""));
    all.insert(all.end(), words->begin(), words->end());
    return {};
  };
  TRY(add_variable("NVCC_PREPEND_FLAGS"));
  all.insert(all.end(), request.options.words.begin(), request.options.words.end());
  TRY(add_variable("NVCC_APPEND_FLAGS"));
  return parse_nvcc_arguments(all);
}

/// One command line of which at least one source is CUDA.
class Compilation {
public:
  Compilation(const Request& request, const NvccArguments& nvcc, std::filesystem::path directory)
      : request_(request), nvcc_(nvcc), directory_(std::move(directory)),
        capabilities_(request.options.for_cpu ? known_capabilities() : std::vector<int>{}) {}

  /// Returns the exit code; nothing if there is nothing for us to do.
  Expected<std::optional<int>> run() {
    std::vector<SourceToCompile> plain;
    bool touched = false;
    for (std::size_t i = 0; i < nvcc_.cuda_inputs.size(); ++i) {
      const auto source = source_at(i);
      TRY_LET(attempted, compile_with_probes(source, nvcc_, request_.toolkit));
      const bool nothing = attempted->outcome == Attempt::nothing_to_instrument;
      if (nothing && attempted->note.unseen.empty()) {
        plain.push_back(source);
        continue;
      }
      touched = true;
      const int code = nothing ? compile_with_note(source, attempted->note)
                       : attempted->outcome == Attempt::impossible ? fall_back(source, *attempted)
                                                                   : 0;
      if (code != 0)
        return code;
    }
    if (!touched && !request_.options.for_cpu)
      return std::nullopt;
    for (const auto& source : plain)
      if (const int code = compile_plainly(source); code != 0)
        return code;
    if (only_compiles())
      return compile_rest();
    return request_.options.for_cpu ? link_for_cpu() : run_nvcc(link_command(), false);
  }

private:
  bool only_compiles() const {
    return nvcc_.phase == OptionKind::compile || nvcc_.phase == OptionKind::compile_relocatable ||
           nvcc_.phase == OptionKind::compile_whole;
  }

  SourceToCompile source_at(std::size_t index) const {
    const auto& name = nvcc_.cuda_inputs[index];
    auto own = directory_ / std::to_string(index);
    std::error_code problem; // writing there will report a missing folder
    std::filesystem::create_directories(own, problem);
    std::filesystem::path object = nvcc_.output;
    if (!only_compiles() || nvcc_.output.empty())
      object = (only_compiles() ? std::filesystem::path(nvcc_.output_directory) : own) /
               std::filesystem::path(name).stem().concat(".o");
    return {
        name,         std::move(object), std::move(own), request_.options.for_cpu, request_.options.checks,
        capabilities_};
  }

  /// Compiles with plain nvcc what cannot be instrumented, so that no build breaks. If nvcc fails, too, it
  /// prints why.
  int fall_back(const SourceToCompile& source, const Attempted& attempted) {
    CompilationNote note = attempted.note;
    if (request_.options.strict) {
      complain(fmt::format("error: {} cannot be compiled with probes: {}", source.source, note.fell_back));
      return 1;
    }
    if (attempted.refused_by_clang && !source.for_cpu)
      note.fell_back =
          only_clang_objects(note.fell_back); // the message is printed only if nvcc takes the source
    const int code = compile_with_note(source, note);
    if (code == 0)
      complain(fmt::format("warning: {} is compiled without probes: {}", source.source, note.fell_back));
    return code;
  }

  int compile_with_note(const SourceToCompile& source, const CompilationNote& note) {
    if (const int code = compile_plainly(source); code != 0)
      return code;
    if (const auto noted = add_note(note, source.object, source.directory); !noted)
      complain(fmt::format("warning: the object of {} has no note about it: {}", source.source,
                           noted.error().message));
    return 0;
  }

  int compile_plainly(const SourceToCompile& source) const {
    if (request_.options.for_cpu)
      return compile_plainly_for_cpu(source);
    if (only_compiles() && nvcc_.cuda_inputs.size() == 1)
      return run_nvcc(command_of(request_), true);
    auto command = words_without(nvcc_, describes_result);
    command.insert(command.begin(), command_of(request_).front());
    command.insert(command.end(),
                   {"-x", "cu", phase_of_object(nvcc_), source.source, "-o", source.object.string()});
    if (const int code = run_nvcc(std::move(command), false); code != 0)
      return code;
    auto written = write_dependencies(source, nvcc_, request_.toolkit);
    if (written)
      written = write_timing(source, nvcc_, request_.toolkit);
    if (!written)
      complain(written.error().message);
    return written ? 0 : 1;
  }

  int compile_plainly_for_cpu(const SourceToCompile& source) const {
    auto done = compile_for_cpu({source.source, source.source, source.directory, source.checks,
                                 start_machine_code_for_any_gpu(nvcc_, request_.toolkit, source.source,
                                                                source.directory, source.later),
                                 nvcc_.device_debug},
                                nvcc_, clang_arguments(nvcc_, request_.toolkit), source.object);
    if (done)
      done = write_dependencies(source, nvcc_, request_.toolkit);
    if (done)
      done = write_timing(source, nvcc_, request_.toolkit);
    if (!done)
      complain(
          with_nvccs_opinion(done.error(), source.source, nvcc_, request_.toolkit, source.directory).message);
    return done ? 0 : 1;
  }

  /// Links device code, and then the rest by nvcc's own link, which finds our runtime in cudart's place.
  Expected<std::optional<int>> link_for_cpu() const {
    const auto device = directory_ / "device.o";
    auto files = nvcc_.linking;
    for (std::size_t i = 0; i < nvcc_.cuda_inputs.size(); ++i)
      files.push_back(source_at(i).object.string());
    TRY(link_device_code(files, device, request_.options.checks));
    auto command = link_command();
    command.insert(command.begin() + 1, {"-nodlink", "-L" + resources().libraries.string()});
    if (nvcc_.phase != OptionKind::library_archive) {
      command.push_back(device.string());
      for (const auto& library : libraries_of_host_half(nvcc_))
        command.push_back(library);
    }
    return link_and_explain(std::move(command));
  }

  /// Links, and explains undefined symbols by the CUDA library that has them.
  int link_and_explain(Words command) const {
    Command link{
        .arguments = std::move(command), .without = nvcc_variables, .stderr_file = directory_ / "link"};
    const auto finished = warplens::run(link);
    const std::string log = read_file(link.stderr_file).value_or("");
    std::fwrite(log.data(), 1, log.size(), stderr);
    if (!finished)
      complain(finished.error().message);
    else if (const auto missing = finished->exit_code != 0 ? explain_missing(log) : std::string();
             missing.starts_with("it calls "))
      complain("error: " + missing);
    return finished ? finished->exit_code : 1;
  }

  bool is_cuda(const NvccArgument& argument) const {
    return argument.kind == OptionKind::input &&
           std::ranges::find(nvcc_.cuda_inputs, argument.value) != nvcc_.cuda_inputs.end();
  }

  /// Compiles the sources that are not CUDA, as in `nvcc -c a.cu b.cpp`.
  int compile_rest() const {
    const bool any = std::ranges::any_of(nvcc_.all, [&](const NvccArgument& argument) {
      return argument.kind == OptionKind::input && !is_cuda(argument) &&
             std::ranges::find(nvcc_.linking, argument.value) == nvcc_.linking.end();
    });
    if (!any)
      return 0;
    auto command = words_without(nvcc_, [&](const NvccArgument& argument) { return is_cuda(argument); });
    command.insert(command.begin(), command_of(request_).front());
    return run_nvcc(std::move(command), false);
  }

  /// Returns the command with objects in the sources' places.
  Words link_command() const {
    Words command{command_of(request_).front()};
    std::size_t next = 0;
    for (const auto& argument : nvcc_.all)
      if (is_cuda(argument))
        command.push_back(source_at(next++).object.string());
      else if (argument.kind != OptionKind::language && !concerns_dependencies(argument.kind))
        command.insert(command.end(), argument.words.begin(), argument.words.end());
    return command;
  }

  const Request& request_;
  const NvccArguments& nvcc_;
  std::filesystem::path directory_;
  std::vector<int> capabilities_; ///< those of GPUs that the kernels are perhaps modelled for later
};

/// Returns the name of our folder, which gets into the objects: the same command gives the same bytes.
std::string name_of(const Request& request) {
  std::error_code ignored;
  return fmt::format("{:016x}", stable_hash(quote(request.options.words) + '\n' +
                                            std::filesystem::current_path(ignored).string()));
}

/// Returns the line of `nvcc -v` that names the toolkit, with the one of the CPU back end in its place; CMake
/// looks there for libraries by their full path.
std::string name_overlay(const std::string& line, const Toolkit& toolkit) {
  constexpr std::string_view mark = "#$ TOP=";
  if (!line.starts_with(mark) || was_asked_for_toolkit())
    return line;
  const auto overlay = toolkit_overlay(toolkit);
  return overlay ? fmt::format("{}{}", mark, overlay->string()) : line;
}

/// Prints the output of `nvcc -v`, from which build systems learn the libraries of a program and their
/// folders, with our folder first.
int run_verbosely_for_cpu(const Request& request, const std::filesystem::path& directory) {
  Command command{.arguments = command_of(request), .stderr_file = directory / "stderr"};
  const auto finished = run(command);
  std::ifstream log(command.stderr_file);
  for (std::string line; std::getline(log, line);) {
    if (const auto first = line.find("\"-L"); first != std::string::npos)
      line.insert(first, fmt::format("\"-L{}\" ", resources().libraries.string()));
    fmt::print(stderr, "{}\n", name_overlay(line, request.toolkit));
  }
  if (!finished)
    complain(finished.error().message);
  return finished ? finished->exit_code : 1;
}

Expected<int> link_device_code_for_cpu(const NvccArguments& nvcc, cpu::Checks checks) {
  const auto linked = link_device_code(nvcc.linking, nvcc.output.empty() ? "a_dlink.o" : nvcc.output, checks);
  return linked ? Expected<int>(0) : tl::unexpected(linked.error());
}

bool asks_for_commands(const NvccArguments& nvcc) {
  return std::ranges::any_of(nvcc.all, [](const NvccArgument& argument) {
    const auto& word = argument.words.front();
    return word == "-v" || word == "--verbose" || word == "-dryrun" || word == "--dryrun" || word == "-#";
  });
}

/// Returns whether nvcc rejects the command as a whole. Each source is compiled on its own, but nvcc checks
/// combinations of several before it starts.
bool nvcc_rejects(const Request& request, const NvccArguments& nvcc) {
  if (std::ranges::count(nvcc.all, OptionKind::input, &NvccArgument::kind) < 2)
    return false;
  auto command = command_of(request);
  command.push_back("--dryrun");
  const auto finished = run({.arguments = std::move(command), .capture_output = true});
  return !finished || finished->exit_code != 0;
}

/// Returns the exit code, or nothing if the real nvcc is to replace this process.
Expected<std::optional<int>> compile(const Request& request) {
  const auto nvcc = parse(request);
  const bool is_query = !nvcc || nvcc->phase == OptionKind::no_object;
  const bool cpu_link =
      request.options.for_cpu && !is_query && nvcc->phase == OptionKind::link && !nvcc->linking.empty();
  const bool verbose = request.options.for_cpu && nvcc && asks_for_commands(*nvcc);
  if (request.options.for_cpu && !is_query && nvcc->phase == OptionKind::device_link)
    return link_device_code_for_cpu(*nvcc, request.options.checks);
  if (!request.options.for_cpu && !is_query &&
      (nvcc->phase == OptionKind::link || nvcc->phase == OptionKind::device_link)) {
    TRY(check_made_for_gpu(nvcc->linking));
  }
  if (!verbose && !cpu_link &&
      (is_query || nvcc->phase == OptionKind::device_link || nvcc->cuda_inputs.empty()))
    return std::nullopt; // nvcc runs or explains what is not understood here
  if (nvcc_rejects(request, *nvcc))
    return std::nullopt;
  if (const char* log = std::getenv(compile_log_variable); log && *log && !is_query)
    if (const auto logged = log_compilation(*nvcc, request.toolkit, log); !logged)
      complain(logged.error().message);
  TRY_LET(directory, TemporaryDirectory::create(name_of(request)));
  if (verbose)
    return run_verbosely_for_cpu(request, directory->path());
  return Compilation(request, *nvcc, directory->path()).run();
}

int print_report(const DropInOptions& options) {
  if (options.words.empty()) {
    complain("--report needs a file: an object, a library or a program");
    return 1;
  }
  std::vector<ReportedFile> files;
  for (const auto& file : options.words) {
    auto notes = read_notes(file);
    if (!notes) {
      complain(notes.error().message);
      return 1;
    }
    files.push_back({file, std::move(*notes)});
  }
  const auto printed = print_text(options.json ? report_as_json(files) : report_as_text(files), "");
  if (!printed)
    complain(printed.error().message);
  return printed ? 0 : 1;
}

} // namespace

void declare_nvcc(const CommandLine& line) {
  // Its arguments are nvcc's: main() hands them to nvcc_command() before anything is parsed.
  line.app.add_subcommand("nvcc",
                          "compile like nvcc, with probes: takes nvcc's arguments, or --report FILE...");
}

Expected<void> print_nvcc_help() {
  return print_text(
      "warplens nvcc compiles like nvcc, with probes: it takes nvcc's arguments, and does what nvcc does "
      "with them.\n\n"
      "  warplens nvcc [OPTIONS] NVCC-ARGUMENTS...\n"
      "  warplens nvcc --report [--format text|json] FILE...\n\n"
      "OPTIONS that nvcc does not have:\n"
      "  --backend gpu|cpu               cpu: objects and programs for the CPU back end, which need no GPU; "
      "compile and\n"
      "                                  link with it (WARPLENS_BACKEND)\n"
      "  --memcheck                      with --backend cpu: check every access before it is made "
      "(WARPLENS_MEMCHECK)\n"
      "  --racecheck, --initcheck, --synccheck\n"
      "                                  the same: report races for memory, reads of memory that was "
      "not written,\n"
      "                                  threads that synchronisations miss (WARPLENS_RACECHECK, …)\n"
      "  --lockstep                      the same: lanes of a warp do each access to memory together "
      "(WARPLENS_LOCKSTEP)\n"
      "  --strict                        a source that cannot have probes is an error, and not compiled "
      "without\n"
      "                                  (WARPLENS_STRICT)\n"
      "  --report FILE...                a summary for the sources of these objects, libraries or "
      "programs: accesses\n"
      "                                  probed and not seen, sources without probes and why; --format json "
      "for tools\n"
      "  --help                          this; `nvcc --help` prints nvcc's own\n\n"
      "The variables in brackets stand for the option in every command of a build.\n"
      "warplens-nvcc is the same under a name that build systems take, and there --help is nvcc's:\n"
      "  cmake -S . -B build -DCMAKE_CUDA_COMPILER=warplens-nvcc\n"
      "  make NVCC=warplens-nvcc\n",
      "");
}

int nvcc_command(std::vector<std::string> words) {
  auto options = take_drop_in_options(std::move(words));
  if (!options) {
    complain(options.error().message);
    return 1;
  }
  if (options->report)
    return print_report(*options);
  const auto request = read_request(std::move(*options));
  if (!request) {
    complain(request.error().message);
    return 1;
  }
  const auto code = compile(*request);
  if (!code) {
    complain(code.error().message);
    return 1;
  }
  return *code ? **code : become_nvcc(*request);
}

} // namespace warplens::driver
