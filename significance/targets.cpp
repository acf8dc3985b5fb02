#include "significance/targets.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warplens::significance {
namespace {

using Values = std::vector<double>;

template <class Operation> Values each(Values values, Operation operation) {
  for (double& value : values) {
    value = operation(value);
    if (!std::isfinite(value))
      value = missing;
  }
  return values;
}

std::string names_of_targets(const Region& region) {
  std::string names;
  for (const auto& [name, values] : region.targets)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

const Values* find_target(const Region& region, const std::string& name) {
  const auto found = region.targets.find(name);
  return found == region.targets.end() ? nullptr : &found->second;
}

bool is_modelled(std::string_view name) {
  return name == modelled_time || name == modelled_utilisation || name == "latency" || name == "dram_bytes";
}

/// Returns the names of the targets that the name may mean, the best first.
std::vector<std::string> targets_for(const std::string& name) {
  if (name == "time")
    return {name, elapsed_cycles, modelled_time, table_target};
  if (name == "ul")
    return {name, modelled_utilisation};
  return {name};
}

/// Returns a target as it was measured or modelled, or a counter in its place.
Expected<Target> plain_target(const Region& region, const std::string& name) {
  for (const std::string& source : targets_for(name))
    if (const Values* values = find_target(region, source))
      return Target{*values, is_modelled(source), source, {}};
  const auto counter = std::ranges::find(region.counters, name, &Counter::name);
  if (counter != region.counters.end())
    return Target{counter->values, false, name, {name}};
  return fail("{}: there is no target '{}': there are {}, and the counters", region.name, name,
              names_of_targets(region));
}

Expected<Target> score_of(const Region& region) {
  TRY_LET(time, plain_target(region, "time"));
  const auto utilisation = plain_target(region, "ul");
  if (!utilisation)
    return fail("{}: the score needs the SMs' utilisation (ul), which no measurement has", region.name);
  double longest = 0;
  for (const double value : time->values)
    longest = std::isfinite(value) ? std::max(longest, value) : longest;
  for (std::size_t run = 0; run < time->values.size(); ++run) {
    double& value = time->values[run];
    value = score(value / longest, utilisation->values[run]);
    if (!std::isfinite(value))
      value = missing;
  }
  time->is_modelled |= utilisation->is_modelled;
  return time;
}

Expected<Target> efficiency_loss(const Region& region, const std::string& parameter) {
  TRY_LET(time, plain_target(region, "time"));
  if (parameter.empty())
    return fail("effloss needs --scale-by PARAM, the parameter that counts processors");
  Values processors;
  std::size_t base = region.runs.size();
  for (const Parameters& run : region.runs) {
    const std::string text = value_of(run, parameter).value_or("");
    double count = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (problem != std::errc() || end != text.data() + text.size() || !(count > 0))
      return fail("{}: --scale-by {}: the run {} has no such number", region.name, parameter, text_of(run));
    processors.push_back(count);
    if (base == region.runs.size() || count < processors[base])
      base = processors.size() - 1;
  }
  if (base == region.runs.size())
    return time;
  const double work = time->values[base] * processors[base];
  for (std::size_t run = 0; run < processors.size(); ++run) {
    double& value = time->values[run];
    value = 1 - work / (processors[run] * value);
    if (!std::isfinite(value))
      value = missing;
  }
  return time;
}

} // namespace

double score(double relative_time, double utilisation) {
  if (utilisation == 0)
    return 1;
  const double weight = utilisation < 0.5 ? 0.1 : utilisation < 0.8 ? 0.5 : 0.8;
  return 1 - weight / relative_time;
}

Expected<Target> target_of(const Region& region, const TargetOptions& options) {
  const auto changed = [&](std::size_t prefix, auto operation) -> Expected<Target> {
    TRY_LET(target, target_of(region, {options.name.substr(prefix), options.scale_by}));
    target->values = each(std::move(target->values), operation);
    return target;
  };
  if (options.name.starts_with("inverse:"))
    return changed(8, [](double value) { return 1 / value; });
  if (options.name.starts_with("oneminus:"))
    return changed(9, [](double value) { return 1 - value; });
  if (options.name == "1-ul") {
    TRY_LET(target, plain_target(region, "ul"));
    target->values = each(std::move(target->values), [](double value) { return 1 - value; });
    return target;
  }
  if (options.name == "score")
    return score_of(region);
  if (options.name == "effloss")
    return efficiency_loss(region, options.scale_by);
  return plain_target(region, options.name);
}

} // namespace warplens::significance
