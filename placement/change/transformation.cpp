#include "placement/change/transformation.h"

namespace warplens::placement {

Reason ChangeContext::because(std::uint32_t site_index, std::string text) const {
  if (site_index == no_site)
    return {{}, 0, std::move(text)};
  const Site& at = site(site_index);
  return {at.file, at.line, std::move(text)};
}

std::vector<Reason> ChangeContext::written(const Array& array, std::string_view place) const {
  std::vector<Reason> reasons;
  const auto refuse = [&](std::uint32_t at, std::string_view what) {
    const std::string& name = site(at).object;
    const std::string alias = name == array.name || name.empty() ? "" : fmt::format(", by the name {}", name);
    reasons.push_back(because(
        at, fmt::format("the kernel {} it{}, and {} must not change while it runs", what, alias, place)));
  };
  if (array.first_store != no_site)
    refuse(array.first_store, "stores to");
  if (array.first_atomic != no_site)
    refuse(array.first_atomic, "has atomics on");
  return reasons;
}

} // namespace warplens::placement
