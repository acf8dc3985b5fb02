// warplens-compile: the stages that need Clang and LLVM, as a program of their own that warplens starts.
//
//   warplens-compile rewrite --output DIR --summary FILE [OPTIONS] SOURCE -- CLANG-ARGUMENTS...
//     OPTIONS: [--sites FILE] [--dependencies FILE] [--cache DIR]
//   warplens-compile patch --include DIR SOURCE -- CLANG-ARGUMENTS...
//   warplens-compile clang --half device|host [--visible-entities] [--cache DIR] SOURCE -- CLANG-ARGUMENTS...
//   warplens-compile lower --module NAME [--source FILE] [OPTIONS] BITCODE OBJECT
//   warplens-compile link [OPTIONS] OBJECT FILES...
//     OPTIONS: [--memcheck …] [--times] [--cache DIR] [--system-folder DIR]...

#include "analysis/clang_invocation.h"
#include "lowering/lower.h"
#include "rewriter/instrument.h"
#include "rewriter/print.h"
#include "support/files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <llvm/Support/PrettyStackTrace.h>
#include <new>
#include <nlohmann/json.hpp>

namespace {

using namespace warplens;
namespace fs = std::filesystem;

nlohmann::json list(const std::vector<rewriter::Unseen>& accesses) {
  auto json = nlohmann::json::array();
  for (const auto& access : accesses)
    json.push_back({{"file", access.file},
                    {"line", access.line},
                    {"column", access.column},
                    {"expression", access.expression},
                    {"reason", access.reason}});
  return json;
}

/// Returns a file's name as make takes it.
std::string for_make(const std::string& file) {
  std::string name;
  for (const char character : file) {
    if (character == ' ' || character == '#' || character == '\\')
      name += '\\';
    else if (character == '$')
      name += '$';
    name += character;
  }
  return name;
}

/// Returns the rule for make: what was written, and the files that were read for it.
std::string make_rule(const std::vector<std::string>& targets, const std::set<std::string>& prerequisites) {
  std::string text;
  for (const std::string& target : targets)
    (text += for_make(target)) += ' ';
  text += ':';
  for (const std::string& file : prerequisites)
    (text += " \\\n  ") += for_make(file);
  return text + '\n';
}

/// The files that `rewrite` leaves beside the copies; empty: not wanted.
struct RewriteOutputs {
  std::string summary, sites, dependencies;
};

Expected<void> rewrite(const rewriter::Request& request, const RewriteOutputs& outputs) {
  TRY_LET(instrumented, rewriter::instrument(request));
  std::vector<std::string> written{outputs.summary};
  for (const auto& file : instrumented->files) {
    std::error_code told_by_writing;
    fs::create_directories(file.copy.parent_path(), told_by_writing);
    TRY(write_file(file.copy, file.text));
    written.push_back(file.copy.string());
  }
  if (!outputs.sites.empty()) {
    TRY(write_file(outputs.sites, rewriter::site_table(instrumented->sites)));
    written.push_back(outputs.sites);
  }
  if (!outputs.dependencies.empty())
    TRY(write_file(outputs.dependencies, make_rule(written, instrumented->read)));
  const auto accesses = std::ranges::count_if(instrumented->sites, is_access, &Site::kind);
  const nlohmann::json json{{"sites", instrumented->sites.size()},
                            {"accesses", accesses},
                            {"refused", instrumented->refused},
                            {"removed", instrumented->removed.size()},
                            {"removed_accesses", list(instrumented->removed)},
                            {"repeated_accesses", list(instrumented->repeated)},
                            {"unseen_accesses", list(instrumented->unseen)}};
  return write_file(outputs.summary,
                    json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Expected<void> print_instrumentation_patch(const rewriter::Request& request, const fs::path& include) {
  TRY_LET(instrumented, rewriter::instrument(request));
  if (!instrumented->refused.empty() && instrumented->sites.empty())
    return fail("{}", instrumented->refused);
  const auto diff = rewriter::print_instrumentation_patch(*instrumented, include);
  if (std::fwrite(diff.data(), 1, diff.size(), stdout) != diff.size() || std::fflush(stdout) != 0)
    return fail("stdout: error: {}", std::strerror(errno));
  return {};
}

int run_command_line(std::vector<std::string> arguments) {
  rewriter::Request request;
  if (const auto separator = std::ranges::find(arguments, "--"); separator != arguments.end()) {
    request.clang_arguments.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
  }

  CLI::App app("the stages of warplens that need Clang and LLVM; warplens starts it", "warplens-compile");
  app.require_subcommand(1);
  std::string source, include;
  RewriteOutputs rewritten;
  lowering::Output lowered;
  std::vector<std::string> files;
  std::string bitcode, object, output, half;
  auto* rewrite_command = app.add_subcommand("rewrite", "write the instrumented copies of a source");
  rewrite_command->add_option("--output", output, "folder of the copies")->required();
  rewrite_command->add_option("--summary", rewritten.summary, "JSON: what was done")->required();
  rewrite_command->add_option("--sites", rewritten.sites, "the table of sites by itself, in C++");
  rewrite_command->add_option("--dependencies", rewritten.dependencies,
                              "the files that were read, as a rule of make");
  rewrite_command->add_option("source", source)->required();
  auto* patch_command = app.add_subcommand("patch", "print the instrumentation as a diff");
  patch_command->add_option("--include", include, "folder that holds warplens/probe.h")->required();
  patch_command->add_option("source", source)->required();
  auto* clang_command = app.add_subcommand(
      "clang", "compile one half of a source as Clang does, with the compatibility headers");
  clang_command->add_option("--half", half, "device or host")
      ->required()
      ->check(CLI::IsMember({"device", "host"}));
  bool visible_entities = false;
  clang_command->add_flag(
      "--visible-entities", visible_entities,
      "other libraries see kernels and variables (-device-entity-has-hidden-visibility=false)");
  clang_command->add_option("source", source)->required();
  auto* lower_command = app.add_subcommand("lower", "NVPTX bitcode to an x86-64 object");
  lower_command->add_option("--module", lowered.module, "what the host half calls it");
  lower_command->add_option("--source", lowered.source, "the user's file, for messages");
  lower_command->add_option("bitcode", bitcode)->required();
  lower_command->add_option("object", object)->required();
  auto* link_command = app.add_subcommand("link", "the device link of -rdc: all device code as one object");
  link_command->add_option("object", object)->required();
  link_command->add_option("files", files, "objects and archives");
  std::vector<std::string> system_folders;
  std::string cache;
  for (auto* command : {rewrite_command, clang_command})
    command->add_option("--cache", cache, "folder that keeps precompiled headers for the next time");
  for (auto* command : {lower_command, link_command}) {
    command->add_flag("--times", lowered.times, "print what each step took");
    command->add_flag("--keep-refused", lowered.keeps_refused,
                      "keep kernels that cannot be lowered: their machine code is executed");
    command->add_option("--cache", cache, "folder that keeps kernels' objects for the next time");
    for (const cpu::CheckName& check : cpu::check_names)
      command->add_flag_callback(
          std::string("--") + check.name, [&] { lowered.checks.add(check.check); },
          "what the code checks while it runs");
    command->add_option("--system-folder", system_folders, "folder of headers that are not the user's")
        ->allow_extra_args(false);
  }
  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  request.source = source;
  request.output_directory = output;
  request.cache = cache;
  lowered.object = object;
  lowered.cache = cache;
  lowered.system_folders.assign(system_folders.begin(), system_folders.end());
  const auto task = rewrite_command->parsed() || patch_command->parsed() ? "instrumenting " + source
                    : clang_command->parsed() ? "compiling the " + half + " half of " + source
                    : link_command->parsed()
                        ? "linking the device code of " + object
                        : "lowering " + (lowered.source.empty() ? bitcode : lowered.source);
  const llvm::PrettyStackTraceString shown_task(task.c_str());
  const auto done = rewrite_command->parsed() ? rewrite(request, rewritten)
                    : patch_command->parsed() ? print_instrumentation_patch(request, include)
                    : clang_command->parsed()
                        ? analysis::compile(request.clang_arguments, source,
                                            half == "host" ? analysis::Half::host : analysis::Half::device,
                                            !visible_entities, cache)
                    : link_command->parsed() ? lowering::link(files, lowered)
                                             : lowering::lower(bitcode, lowered);
  if (!done) {
    std::fputs((done.error().message + "\n").c_str(), stderr);
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  // After a signal, LLVM prints the names of the current tasks on stderr (toolchain/steps/compiler reads
  // them).
  llvm::setBugReportMsg("");
  llvm::EnablePrettyStackTrace();
  try {
    return run_command_line({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory: compile fewer files at the same time\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}
