#include "driver/help/groups.h"

#include <algorithm>
#include <array>
#include <utility>

namespace warplens::driver::help {
namespace {

constexpr std::array order{own_group, runs_group, modelled_group, printed_group, checks_group, rare_group};

/// Returns the options of the group that have names of their own.
std::vector<const CLI::Option*> options_in(const CLI::App& command, const std::string& group) {
  return command.get_options(
      [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
}

class Layout : public CLI::Formatter {
public:
  explicit Layout(std::string usage) : usage_(std::move(usage)) { column_width(34); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage_.empty() ? Formatter::make_usage(app, std::move(name)) : "Usage: " + usage_ + "\n";
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) // a command in the program's --help-all, which has all options
      return Formatter::make_help(app, std::move(name), mode);
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
           options_of(*app, mode == CLI::AppFormatMode::All) + make_subcommands(app, mode) + "\n" +
           make_footer(app);
  }

private:
  std::string options_of(const CLI::App& app, bool has_rare_ones) const {
    std::string text;
    for (const std::string& group : groups_of(app)) {
      std::vector<const CLI::Option*> options = options_in(app, group);
      if (group == rare_group && !has_rare_ones)
        text += "\n--help-all has " + std::to_string(options.size()) + " more, which are rarely used.\n";
      else
        text += make_group(group, false, std::move(options));
    }
    return text;
  }

  std::string usage_;
};

} // namespace

std::vector<std::string> groups_of(const CLI::App& command) {
  std::vector<std::string> groups;
  for (const char* group : order)
    if (!options_in(command, group).empty())
      groups.emplace_back(group);
  return groups;
}

std::shared_ptr<CLI::Formatter> help_layout(const std::string& usage) {
  return std::make_shared<Layout>(usage);
}

void add_help_all(CLI::App& app) {
  app.set_help_all_flag("--help-all", "Print the help of all commands, with all their options");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!options_in(*command, rare_group).empty())
      command->set_help_all_flag("--help-all", "Print this help with the options that are rarely used");
}

} // namespace warplens::driver::help
