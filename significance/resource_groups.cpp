#include "significance/resource_groups.h"

#include "support/files.h"

#include <algorithm>
#include <set>
#include <toml++/toml.h>

namespace warplens::significance {
namespace {

/// Longer names are of no profiler, and the regex library recurses for each character.
constexpr std::size_t max_name = 1024;

/// Returns "FILE:LINE".
std::string at(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

Expected<std::string> text_in(const toml::table& table, const char* key, const std::string& file) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return std::string();
  const auto text = node->value<std::string>();
  if (!text || !node->is_string())
    return fail("{}: '{}' is not a string", at(file, *node), key);
  return *text;
}

Expected<void> check_keys(const toml::table& table, const std::set<std::string_view>& known,
                          const std::string& file) {
  for (const auto& [key, node] : table)
    if (!known.contains(key.str()))
      return fail("{}: unknown key '{}'", at(file, node), key.str());
  return {};
}

Expected<Resource> read_resource(std::string_view name, const toml::node& node, const std::string& file) {
  const toml::table* table = node.as_table();
  if (table == nullptr)
    return fail("{}: resource '{}' is not a table", at(file, node), name);
  TRY(check_keys(*table, {"description", "more_is"}, file));
  TRY_LET(description, text_in(*table, "description", file));
  TRY_LET(direction, text_in(*table, "more_is", file));
  if (*direction != "" && *direction != "good" && *direction != "bad")
    return fail("{}: more_is is '{}', and not \"good\" or \"bad\"", at(file, node), *direction);
  return Resource{std::string(name), *description, *direction == "good"};
}

} // namespace

Expected<ResourceGroups> ResourceGroups::read(const std::vector<std::filesystem::path>& files) {
  ResourceGroups groups;
  for (const std::filesystem::path& path : files) {
    const std::string file = path.string();
    TRY_LET(text, read_file(path));
    toml::table root;
    try {
      root = toml::parse(*text, file);
    } catch (const toml::parse_error& error) {
      return fail("{}:{}: {}", file, error.source().begin.line, error.description());
    }
    TRY(check_keys(root, {"resource", "rule"}, file));
    if (const toml::node* resources = root.get("resource")) {
      if (!resources->is_table())
        return fail("{}: 'resource' is not a table of resources", at(file, *resources));
      for (const auto& [name, node] : *resources->as_table()) {
        TRY_LET(resource, read_resource(name.str(), node, file));
        if (std::ranges::find(groups.resources_, resource->name, &Resource::name) == groups.resources_.end())
          groups.resources_.push_back(*resource);
      }
    }
    const toml::node* rules = root.get("rule");
    if (rules == nullptr)
      continue;
    if (!rules->is_array())
      return fail("{}: 'rule' is not a list: [[rule]]", at(file, *rules));
    for (const toml::node& node : *rules->as_array()) {
      const toml::table* table = node.as_table();
      if (table == nullptr)
        return fail("{}: a rule is a table: [[rule]]", at(file, node));
      TRY(check_keys(*table, {"pattern", "resource", "exclude", "source"}, file));
      TRY_LET(pattern, text_in(*table, "pattern", file));
      TRY_LET(resource, text_in(*table, "resource", file));
      TRY_LET(reason, text_in(*table, "exclude", file));
      if (pattern->empty() || resource->empty() == reason->empty())
        return fail("{}: a rule has a pattern, and either a resource or exclude, the reason", at(file, node));
      auto compiled = Pattern::compile("^(?:" + *pattern + ")$");
      if (!compiled)
        return fail("{}: pattern '{}': {}", at(file, node), *pattern, compiled.error().message);
      groups.rules_.push_back({std::move(*compiled), *resource, *reason});
    }
  }
  return groups;
}

ResourceGroups::Verdict ResourceGroups::verdict_on(std::string_view counter) const {
  if (counter.size() > max_name)
    return {other_resource, "its name is longer than 1024 characters"};
  for (const Rule& rule : rules_)
    if (rule.pattern.is_found_in(counter))
      return rule.resource.empty() ? Verdict{other_resource, rule.reason}
                                   : Verdict{rule.resource, std::nullopt};
  return {other_resource, std::nullopt};
}

Resource ResourceGroups::resource(const std::string& name) const {
  const auto found = std::ranges::find(resources_, name, &Resource::name);
  return found == resources_.end() ? Resource{name, "", false} : *found;
}

Expected<std::vector<std::filesystem::path>> list_group_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml")
      files.push_back(entry.path());
  if (error)
    return fail("{}: no resource groups: {}", folder.string(), error.message());
  std::ranges::sort(files);
  return files;
}

} // namespace warplens::significance
