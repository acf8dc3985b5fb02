#include "driver/lsp/notes.h"

#include "report/source_file.h"
#include "result/json_node.h"
#include "support/hash.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warplens::driver::lsp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t cache_bytes = std::uint64_t{64} << 20;

std::string key_of(const std::filesystem::path& file) {
  return ContentCache::key("notes\n" + file.string());
}

Json to_json(const FileNotes& file) {
  Json notes = Json::array();
  for (const report::LineNote& note : file.notes) {
    Json problems = Json::array();
    for (const report::LineProblem& problem : note.problems)
      problems.push_back({{"rule", problem.rule},
                          {"message", problem.message},
                          {"column", problem.column},
                          {"bytes", problem.bytes},
                          {"is_warning", problem.is_warning}});
    notes.push_back({{"file", note.file},
                     {"line", note.line},
                     {"hint", note.hint},
                     {"details", note.details},
                     {"problems", problems}});
  }
  return {{"lines", file.lines}, {"sources", file.sources}, {"notes", notes}};
}

void read_texts(const JsonNode& node, std::vector<std::string>& target) {
  node.for_each([&](const JsonNode& item) { item.read(target.emplace_back()); });
}

/// Reads what to_json() returned; nothing if it is something else.
std::optional<FileNotes> from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  std::optional<Error> error;
  const JsonNode root(json, error);
  FileNotes file;
  read_texts(root["lines"], file.lines);
  read_texts(root["sources"], file.sources);
  root["notes"].for_each([&](const JsonNode& item) {
    report::LineNote& note = file.notes.emplace_back();
    item["file"].read(note.file);
    item["line"].read(note.line);
    item["hint"].read(note.hint);
    item["details"].read(note.details);
    item["problems"].for_each([&](const JsonNode& one) {
      report::LineProblem& problem = note.problems.emplace_back();
      one["rule"].read(problem.rule);
      one["message"].read(problem.message);
      one["column"].read(problem.column);
      one["bytes"].read(problem.bytes);
      one["is_warning"].read(problem.is_warning);
    });
  });
  return error ? std::nullopt : std::optional(std::move(file));
}

std::filesystem::path real_path(const std::string& name) {
  std::error_code problem;
  std::filesystem::path path = std::filesystem::weakly_canonical(name, problem);
  return problem ? std::filesystem::path(name) : path;
}

/// Returns the file's text if it is the one that the result was made of.
std::optional<std::string> text_of(const std::string& name, const Result& result,
                                   std::filesystem::file_time_type made_at) {
  std::error_code problem;
  const auto changed_at = std::filesystem::last_write_time(name, problem);
  auto text = report::read_source(name, {});
  if (!text)
    return std::nullopt;
  if (result.manifest)
    for (const NamedHash& source : result.manifest->sources)
      if (source.name == name)
        return source.hash == stable_hash(*text) ? std::move(text) : std::nullopt;
  return !problem && changed_at <= made_at ? std::move(text) : std::nullopt;
}

} // namespace

Notes::Notes(const std::filesystem::path& folder)
    : cache_(folder.empty() ? folder : folder / "editor", cache_bytes) {}

std::shared_ptr<const FileNotes> Notes::find(const std::filesystem::path& file) {
  if (file.empty())
    return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = by_file_.try_emplace(file);
  if (is_new)
    if (const auto stored = cache_.find(key_of(file)))
      if (auto notes = from_json(*stored))
        entry->second = std::make_shared<const FileNotes>(std::move(*notes));
  return entry->second;
}

std::vector<std::string> Notes::replace(const Result& result, const std::vector<std::string>& sources,
                                        std::filesystem::file_time_type made_at) {
  std::map<std::string, std::vector<report::LineNote>> by_name;
  for (report::LineNote& note : report::line_notes(result))
    by_name[note.file].push_back(std::move(note));
  std::map<std::filesystem::path, FileNotes> by_file;
  std::vector<std::string> changed;
  for (auto& [name, notes] : by_name) {
    FileNotes& file = by_file[real_path(name)];
    file.sources = sources;
    if (const auto text = text_of(name, result, made_at)) {
      file.lines = report::lines_in(*text);
      file.notes = std::move(notes);
    } else {
      changed.push_back(name);
    }
  }
  for (const std::string& source : sources) // that cost nothing now
    by_file[real_path(source)].sources = sources;
  const std::lock_guard lock(mutex_);
  for (const auto& [file, notes] : by_file_)
    if (notes && notes->sources == sources)
      by_file[file].sources = sources;
  for (auto& [file, notes] : by_file)
    keep(file, std::move(notes));
  cache_.evict();
  return changed;
}

void Notes::keep(const std::filesystem::path& file, FileNotes notes) {
  cache_.store(key_of(file), to_json(notes).dump(-1, ' ', false, Json::error_handler_t::replace));
  by_file_[file] = std::make_shared<const FileNotes>(std::move(notes));
}

} // namespace warplens::driver::lsp
