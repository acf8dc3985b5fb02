// Resources: which counters tell of which part of the GPU, as data files.
#pragma once

#include "support/expected.h"
#include "support/pattern.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::significance {

/// A resource of a GPU, such as DRAM.
struct Resource {
  std::string name, description;
  bool more_is_good = false; ///< of useful work, such as FMA; of most resources, less is good
};

/// The resource of counters that no rule names.
inline constexpr const char* other_resource = "OTHER";

/// Sorts counters into resources by ordered rules: the first whose pattern is the whole name decides. Each
/// counter belongs to one resource.
class ResourceGroups {
public:
  /// Reads rules from TOML files in turn; those of earlier files come first. An error names file and line.
  static Expected<ResourceGroups> read(const std::vector<std::filesystem::path>& files);

  /// The rules' answer for a counter.
  struct Verdict {
    std::string resource;                ///< other_resource if no rule names it
    std::optional<std::string> excluded; ///< why it is left out: "a ratio"
  };
  Verdict verdict_on(std::string_view counter) const;

  /// Returns the resource's description; one without any if the files do not describe it.
  Resource resource(const std::string& name) const;

private:
  struct Rule {
    Pattern pattern;
    std::string resource; ///< empty: excluded
    std::string reason;
  };
  std::vector<Rule> rules_;
  std::vector<Resource> resources_;
};

/// Returns the files of a folder of resource groups, by name.
Expected<std::vector<std::filesystem::path>> list_group_files(const std::filesystem::path& folder);

} // namespace warplens::significance
