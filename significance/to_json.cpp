// Significance → JSON. JSON has no NaN and no infinity: a figure that is not finite is null in a list, else
// its key is absent.
#include "significance/significance.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace warplens::significance {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, double value) {
  if (std::isfinite(value))
    object[key] = value;
}

Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values)
    list.push_back(std::isfinite(value) ? Json(value) : Json());
  return list;
}

void put(Json& object, const char* key, const std::optional<Interval>& interval) {
  if (interval)
    object[key] = list_of({interval->low, interval->high});
}

Json object_of(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters)
    object[name] = value;
  return object;
}

const char* name_of(Measure measure) {
  switch (measure) {
  case Measure::reduction: return "reduction";
  case Measure::corrected_belief: return "corrected_belief";
  case Measure::literal_belief: return "literal_belief";
  case Measure::ranked_error: return "ranked_error";
  }
  return "";
}

const char* name_of(Grouping grouping) {
  return grouping == Grouping::line ? "line" : grouping == Grouping::kernel ? "kernel" : "access";
}

Json to_json(const CounterFigures& counter) {
  Json json = {{"name", counter.name}};
  if (counter.place)
    json["site"] = {{"file", counter.place->file},
                    {"line", counter.place->line},
                    {"expression", counter.place->expression}};
  put(json, "coefficient", counter.coefficient);
  put(json, "freq", counter.frequency);
  put(json, "belief", counter.belief);
  put(json, "reduction", counter.reduction);
  if (!counter.values.empty())
    json["values"] = list_of(counter.values);
  return json;
}

Json to_json(const ResourceFigures& resource) {
  Json json = {{"name", resource.name}};
  if (!resource.description.empty())
    json["description"] = resource.description;
  json["more_is"] = resource.more_is_good ? "good" : "bad";
  put(json, "rsm", resource.rsm);
  put(json, "se", resource.standard_error);
  put(json, "runs95", resource.runs95);
  put(json, "reduction", resource.reduction);
  put(json, "belief", resource.belief);
  put(json, "share", resource.share);
  json["significant"] = resource.significant;
  Json& counters = json["counters"] = Json::array();
  for (const CounterFigures& counter : resource.counters)
    counters.push_back(to_json(counter));
  return json;
}

Json to_json(const Suggestion& suggestion) {
  Json json = {{"label", std::string(1, suggestion.label)},
               {"resource", suggestion.resource},
               {"action", suggestion.action},
               {"expects", suggestion.expects}};
  if (!suggestion.reason.empty())
    json["reason"] = suggestion.reason;
  return json;
}

Json to_json(const RegionSignificance& region) {
  Json json = {{"name", region.name}, {"kernel", region.kernel}};
  if (!region.gpu.empty())
    json["gpu"] = region.gpu;
  if (region.error)
    json["error"] = *region.error;
  json["n"] = region.runs.size();
  Json& runs = json["runs"] = Json::array();
  for (std::size_t run = 0; run < region.runs.size(); ++run) {
    Json one = {{"params", object_of(region.runs[run])}};
    put(one, "target", region.target[run]);
    runs.push_back(std::move(one));
  }
  json["target_is_modelled"] = region.target_is_modelled;
  if (!region.target_source.empty())
    json["target_source"] = region.target_source;
  json["few_runs"] = region.few_runs;
  Json& dropped = json["dropped"] = Json::array();
  for (const auto& [counter, reason] : region.dropped)
    dropped.push_back({{"counter", counter}, {"reason", reason}});
  json["dropped_runs"] = region.dropped_runs;
  json["unmatched"] = region.other;
  if (region.error)
    return json;
  json["draws"] = region.draws;
  put(json, "r2", region.r2);
  put(json, "q2", region.q2);
  put(json, "null95", region.null95);
  json["explained"] = region.explained;
  Json sets = Json::array(), cosines = Json::array();
  for (const auto& set : region.collinear) {
    sets.push_back(set.counters);
    cosines.push_back(set.cosine);
  }
  json["collinear"] = std::move(sets);
  json["collinear_cosine"] = std::move(cosines);
  Json& resources = json["resources"] = Json::array();
  for (const ResourceFigures& resource : region.resources)
    resources.push_back(to_json(resource));
  Json& suggestions = json["suggestions"] = Json::array();
  for (const Suggestion& suggestion : region.suggestions)
    suggestions.push_back(to_json(suggestion));
  return json;
}

Json to_json(const Comparison& comparison) {
  Json json = {{"base", comparison.base},
               {"optimised", comparison.optimised},
               {"swapped", comparison.swapped},
               {"runs", comparison.runs}};
  if (comparison.error)
    json["error"] = *comparison.error;
  put(json, "base_target", comparison.base_target);
  put(json, "optimised_target", comparison.optimised_target);
  if (!comparison.error) {
    put(json, "up_q2", comparison.up_q2);
    put(json, "down_q2", comparison.down_q2);
    put(json, "null95", comparison.null95);
  }
  Json& bars = json["bars"] = Json::array();
  for (const Comparison::Bar& bar : comparison.bars) {
    Json one = {{"resource", bar.resource}};
    put(one, "bar", bar.bar());
    put(one, "up", bar.up);
    put(one, "down", bar.down);
    if (bar.change)
      put(one, "change", *bar.change);
    put(one, "runs95", bar.runs95);
    one["significant"] = bar.significant;
    bars.push_back(std::move(one));
  }
  return json;
}

Json to_json(const Similarity& similarity) {
  Json json = {{"a", similarity.a}, {"b", similarity.b}};
  Json& figures = json["resources"] = Json::array();
  for (const Similarity::Figure& figure : similarity.figures) {
    Json one = {{"name", figure.resource}};
    put(one, "similarity", figure.similarity);
    put(one, "tool_similarity", figure.tool_similarity);
    put(one, "rsm", figure.rsm);
    figures.push_back(std::move(one));
  }
  return json;
}

template <class Item> Json each_of(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items)
    list.push_back(to_json(item));
  return list;
}

} // namespace

Json to_json(const Significance& significance) {
  const ExplainOptions& options = significance.options;
  Json json = {{"schema", significance_schema},
               {"target", options.target.name},
               {"preset", options.preset},
               {"seed", options.seed},
               {"ranking", name_of(options.ranking)},
               {"belief", name_of(options.belief)},
               {"sparsity", options.sparsity},
               {"candidates", options.selection.candidates},
               {"intercept", options.selection.intercept},
               {"nonnegative", options.selection.nonnegative},
               {"draws", options.draws},
               {"grouped_by", name_of(options.grouping)},
               {"notes", significance.notes}};
  json["regions"] = each_of(significance.regions);
  json["comparisons"] = each_of(significance.comparisons);
  json["similarities"] = each_of(significance.similarities);
  return json;
}

} // namespace warplens::significance
