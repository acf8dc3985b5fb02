#include "driver/stages/sweep_folder.h"

#include "driver/stages/read_result.h"
#include "support/files.h"

#include <nlohmann/json.hpp>

namespace warplens::driver {
namespace {

using Json = nlohmann::ordered_json;

Expected<significance::Parameters> parameters_of(const Json& json) {
  significance::Parameters parameters;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string() && !value.is_number())
      return fail("parameter {} is neither a text nor a number", name);
    parameters.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return parameters;
}

std::string text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace

Expected<Sweep> read_sweep(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "runs.json";
  TRY_LET(text, read_file(file));
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || text_in(json, "schema") != sweep_schema || !json.contains("runs") ||
      !json["runs"].is_array())
    return fail("{}: not a {} document, as `warplens sweep` writes it", file.string(), sweep_schema);
  Sweep sweep{text_in(json, "what"), text_in(json, "identity"), {}};
  for (const Json& run : json["runs"]) {
    if (!run.is_object() || !run.contains("params") || !run["params"].is_object() ||
        text_in(run, "result").empty())
      return fail("{}: a run has params and result", file.string());
    auto parameters = parameters_of(run["params"]);
    if (!parameters)
      return fail("{}: {}", file.string(), parameters.error().message);
    sweep.runs.push_back({std::move(*parameters), text_in(run, "result")});
  }
  return sweep;
}

Expected<void> write_sweep(const Sweep& sweep, const std::filesystem::path& folder) {
  Json json = {{"schema", sweep_schema}, {"what", sweep.what}, {"identity", sweep.identity}};
  Json& runs = json["runs"] = Json::array();
  for (const SweptRun& run : sweep.runs) {
    Json parameters = Json::object();
    for (const auto& [name, value] : run.parameters)
      parameters[name] = value;
    runs.push_back({{"params", std::move(parameters)}, {"result", run.result}});
  }
  const auto temporary = folder / "runs.json.new";
  TRY(write_file(temporary, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  std::error_code error;
  std::filesystem::rename(temporary, folder / "runs.json", error);
  if (error)
    return fail("{}: cannot be written: {}", (folder / "runs.json").string(), error.message());
  return {};
}

Expected<std::vector<significance::ProfiledRun>> read_profiles(const std::filesystem::path& folder) {
  TRY_LET(sweep, read_sweep(folder));
  if (sweep->runs.empty())
    return fail("{}: the sweep has no runs yet", folder.string());
  std::vector<significance::ProfiledRun> profiles;
  for (const SweptRun& run : sweep->runs) {
    // A name from the file must not lead out of the folder.
    TRY_LET(result, read_result((folder / std::filesystem::path(run.result).filename()).string()));
    profiles.push_back({run.parameters, std::move(*result)});
  }
  return profiles;
}

std::string file_of(const significance::Parameters& parameters, std::size_t number) {
  constexpr std::size_t max_name = 100;
  std::string name;
  bool is_plain = true;
  for (const auto& [parameter, value] : parameters) {
    name += (name.empty() ? "" : ",") + parameter + "=";
    for (const char c : value) {
      const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        c == '.' || c == '-' || c == '_' || c == '+';
      name += fits ? c : '_';
      is_plain &= fits;
    }
  }
  if (is_plain && !name.empty() && name.size() <= max_name)
    return name + ".json";
  return fmt::format("{}-{}.json", name.substr(0, max_name), number);
}

} // namespace warplens::driver
