#include "result/code_json.h"

#include "result/shares_json.h"

namespace warplens {
namespace {

using Json = nlohmann::ordered_json;

void put_count(Json& json, const char* key, std::uint64_t count) {
  if (count != 0)
    json[key] = count;
}

Json to_json(const InstructionResult& instruction) {
  Json json;
  put_count(json, "function", instruction.function);
  json["offset"] = instruction.offset;
  json["sass"] = instruction.text;
  if (instruction.line != 0) {
    json["file"] = instruction.file;
    json["line"] = instruction.line;
  }
  json["executions"] = instruction.executions;
  if (instruction.active_lanes && std::isfinite(*instruction.active_lanes))
    json["active_lanes"] = *instruction.active_lanes;
  put_count(json, "requests", instruction.requests);
  put_count(json, "sectors", instruction.sectors);
  put_count(json, "passes", instruction.passes);
  if (instruction.site)
    json["site"] = fmt::format("{:016x}", *instruction.site);
  if (const std::optional<InstructionTime>& time = instruction.time; time && std::isfinite(time->awaited)) {
    json["states"] = shares_by<WarpState>(time->states);
    json["awaited"] = time->awaited;
  }
  return json;
}

void read_count(const JsonNode& node, const char* key, std::uint64_t& target) {
  if (node.has(key))
    node[key].read(target);
}

void read(const JsonNode& node, InstructionResult& target) {
  if (node.has("function"))
    node["function"].read(target.function);
  node["offset"].read(target.offset);
  node["sass"].read(target.text);
  if (node.has("line")) {
    node["file"].read(target.file);
    node["line"].read(target.line);
  }
  node["executions"].read(target.executions);
  if (node.has("active_lanes")) {
    node["active_lanes"].read(target.active_lanes.emplace());
    node["active_lanes"].require(*target.active_lanes >= 0 && *target.active_lanes <= 32,
                                 "a number from 0 to 32");
  }
  read_count(node, "requests", target.requests);
  read_count(node, "sectors", target.sectors);
  read_count(node, "passes", target.passes);
  if (node.has("site"))
    node["site"].read_identity(target.site.emplace());
  if (node.has("states")) {
    InstructionTime& time = target.time.emplace();
    read_shares<WarpState>(node["states"], time.states);
    read_share(node["awaited"], time.awaited);
  }
}

} // namespace

Json code_to_json(const CodeResult& code) {
  Json json = {{"functions", code.functions}, {"files", code.files}};
  Json& list = json["instructions"] = Json::array();
  for (const InstructionResult& instruction : code.instructions)
    list.push_back(to_json(instruction));
  put_count(json, "accesses_apart", code.accesses_apart);
  if (code.left_out != 0)
    json["left_out"] = {{"instructions", code.left_out}, {"executions", code.executions_left_out}};
  return json;
}

void read_code(const JsonNode& node, CodeResult& target) {
  node["functions"].for_each([&](const JsonNode& name) { name.read(target.functions.emplace_back()); });
  node["files"].for_each([&](const JsonNode& name) { name.read(target.files.emplace_back()); });
  const JsonNode list = node["instructions"];
  list.for_each([&](const JsonNode& item) {
    InstructionResult& instruction = target.instructions.emplace_back();
    read(item, instruction);
    item.require(instruction.function < target.functions.size() &&
                     (instruction.line == 0 || instruction.file < target.files.size()),
                 "an instruction of one of the functions, and of one of the files");
  });
  list.require(target.instructions.size() <= max_instructions_of_code, "an array of at most 65536");
  read_count(node, "accesses_apart", target.accesses_apart);
  if (node.has("left_out")) {
    node["left_out"]["instructions"].read(target.left_out);
    node["left_out"]["executions"].read(target.executions_left_out);
  }
}

} // namespace warplens
