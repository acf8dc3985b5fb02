#include "toolchain/objects/compilation_note.h"

#include "support/files.h"
#include "toolchain/steps/compiler.h"

#include <nlohmann/json.hpp>

namespace warplens::toolchain {
namespace {

constexpr const char* section = ".warplens";
/// The mark in front of each note, which ends with its line. Notes are found without knowing the file's
/// format.
const std::string mark = "warplens-compilation/1 ";

// A file may hold anything behind the mark: a field of another type counts as missing.

std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::uint64_t number_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

} // namespace

// "one_form" is the old spelling of single_variant_reason, which readers of notes know.
nlohmann::json to_json(const CompilationNote& note) {
  auto unseen = nlohmann::json::array();
  for (const auto& access : note.unseen)
    unseen.push_back({{"file", access.file},
                      {"line", access.line},
                      {"column", access.column},
                      {"expression", access.expression},
                      {"reason", access.reason}});
  return {{"source", note.source},   {"fell_back", note.fell_back}, {"probed", note.sites},
          {"removed", note.removed}, {"unseen", std::move(unseen)}, {"one_form", note.single_variant_reason}};
}

std::vector<UnseenAccess> unseen_accesses(const nlohmann::json& json) {
  std::vector<UnseenAccess> accesses;
  for (const auto& access : json)
    if (access.is_object())
      accesses.push_back({text_in(access, "file"), static_cast<std::uint32_t>(number_in(access, "line")),
                          static_cast<std::uint32_t>(number_in(access, "column")),
                          text_in(access, "expression"), text_in(access, "reason")});
  return accesses;
}

Expected<void> add_note(const CompilationNote& note, const std::filesystem::path& object,
                        const std::filesystem::path& directory) {
  const auto text = directory / "note";
  const auto json = to_json(note).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  TRY(write_file(text, fmt::format("{}{}\n", mark, json)));
  TRY_LET(added, run_compiler({"objcopy", fmt::format("--add-section={}={}", section, text.string()),
                               object.string()}));
  return {};
}

Expected<std::vector<CompilationNote>> read_notes(const std::filesystem::path& file) {
  TRY_LET(bytes, read_file(file));
  std::vector<CompilationNote> notes;
  for (auto begin = bytes->find(mark); begin != std::string::npos; begin = bytes->find(mark, begin)) {
    begin += mark.size();
    const auto json =
        nlohmann::json::parse(bytes->substr(begin, bytes->find('\n', begin) - begin), nullptr, false);
    if (json.is_object())
      notes.push_back(
          {text_in(json, "source"), text_in(json, "fell_back"), number_in(json, "probed"),
           number_in(json, "removed"),
           json.contains("unseen") ? unseen_accesses(json["unseen"]) : std::vector<UnseenAccess>{},
           text_in(json, "one_form")});
  }
  return notes;
}

} // namespace warplens::toolchain
