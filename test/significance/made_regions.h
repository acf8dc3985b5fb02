// Regions made by formula, and the groups of their counters.
#pragma once

#include "significance/explain.h"
#include "significance/resource_groups.h"
#include "support/files.h"
#include "support/temporary.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warplens::significance::test {

/// The linear congruential generator of the synthetic data: x ← (1103515245 x + 12345) mod 2^31.
class Congruential {
public:
  double next() {
    state_ = (1103515245 * state_ + 12345) % (std::uint64_t{1} << 31);
    return static_cast<double>(state_ >> 8) / 8388608.0;
  }
  double between(double low, double high) { return low + (high - low) * next(); }

private:
  std::uint64_t state_ = 20240817;
};

/// Returns a region with runs i = 0, 1, … and a target `time`.
inline Region made_region(std::vector<double> target) {
  Region region;
  region.name = region.kernel = "kernel";
  for (std::size_t i = 0; i < target.size(); ++i)
    region.runs.push_back({{"i", std::to_string(i)}});
  region.targets["time"] = std::move(target);
  return region;
}

inline void add_counter(Region& region, const std::string& name,
                        const std::function<double(std::size_t)>& value) {
  Counter counter{name, "", std::nullopt, {}};
  for (std::size_t i = 0; i < region.runs.size(); ++i)
    counter.values.push_back(value(i));
  region.counters.push_back(std::move(counter));
}

/// Returns groups by a TOML text.
inline Expected<ResourceGroups> groups_of(const std::string& text) {
  TRY_LET(directory, TemporaryDirectory::create());
  TRY(write_file(directory->path() / "groups.toml", text));
  return ResourceGroups::read({directory->path() / "groups.toml"});
}

/// Returns groups in which each counter is a resource of its own name.
inline ResourceGroups one_group_each(const Region& region) {
  std::string text;
  for (const Counter& counter : region.counters)
    text += "[[rule]]\npattern = '" + counter.name + "'\nresource = '" + counter.name + "'\n";
  return groups_of(text).value();
}

inline const ResourceFigures* resource_named(const RegionSignificance& found, const std::string& name) {
  for (const ResourceFigures& one : found.resources)
    if (one.name == name)
      return &one;
  return nullptr;
}

inline double rsm_of(const RegionSignificance& found, const std::string& name) {
  const ResourceFigures* one = resource_named(found, name);
  return one == nullptr ? -1 : one->rsm;
}

} // namespace warplens::significance::test
