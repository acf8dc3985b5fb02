// `warplens trace`: looks into a trace file.

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "support/files.h"
#include "trace/accel_sim.h"
#include "trace/inspect.h"

#include <iostream>
#include <memory>
#include <sstream>

namespace warplens::driver {
namespace {

Expected<void> print_info(const std::string& file) {
  TRY_LET(reader, trace::Reader::open(file));
  std::ostringstream text;
  trace::print_info(*reader, text);
  return print_text(text.str(), "");
}

Expected<void> print_counts(const std::string& file) {
  TRY_LET(reader, trace::Reader::open(file));
  std::ostringstream text;
  TRY(trace::print_counts(*reader, text));
  return print_text(text.str(), "");
}

Expected<void> dump(const std::string& file) {
  TRY_LET(reader, trace::Reader::open(file));
  return trace::dump(*reader, std::cout);
}

Expected<void> check(const std::string& file) {
  TRY_LET(reader, trace::Reader::open(file));
  TRY_LET(findings, trace::check(*reader));
  std::string text;
  for (const auto& line : findings->first)
    text += line + "\n";
  if (findings->count == 0)
    text = fmt::format("{}: nothing wrong{}\n", file, reader->truncated() ? ", but it was cut short" : "");
  TRY(print_text(text, ""));
  if (findings->count != 0)
    return fail("{}: {} thing{} wrong", file, findings->count, findings->count == 1 ? "" : "s");
  return {};
}

Expected<void> export_accel_sim(const std::string& file, const std::filesystem::path& folder) {
  TRY_LET(reader, trace::Reader::open(file));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail("{}: cannot be created: {}", folder.string(), error.message());
  return trace::export_accel_sim(*reader, [&](const std::string& name, const std::string& text) {
    return write_file(folder / name, text);
  });
}

} // namespace

void declare_trace(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command = line.app.add_subcommand("trace", "look into a trace file");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* description,
                       Expected<void> (*action)(const std::string&)) {
    auto* verb = command->add_subcommand(name, description);
    auto file = std::make_shared<std::string>();
    verb->add_option("trace", *file, "a trace, as --trace keeps it")->required()->type_name("TRACE");
    verb->callback([file, action, &chosen] { chosen = [file, action] { return action(*file); }; });
  };
  add("info", "what it holds: program, launches, sizes", print_info);
  add("counts", "how often each site was executed, by warps and by lanes: one line each, tabs between",
      print_counts);
  add("dump", "everything, one line per record", dump);
  add("check", "read all of it and check what readers rely on", check);
  auto* accel_sim = command->add_subcommand(
      "accel-sim",
      "write it as Accel-Sim's trace-driven simulator reads it: kernelslist.g and a file per launch");
  auto file = std::make_shared<std::string>(), folder = std::make_shared<std::string>();
  accel_sim->add_option("trace", *file, "a trace, as --trace keeps it")->required()->type_name("TRACE");
  accel_sim->add_option("folder", *folder, "where the files go")->required()->type_name("FOLDER");
  accel_sim->callback(
      [file, folder, &chosen] { chosen = [file, folder] { return export_accel_sim(*file, *folder); }; });
}

} // namespace warplens::driver
