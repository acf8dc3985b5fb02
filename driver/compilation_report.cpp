#include "driver/compilation_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace warplens::driver {
namespace {

struct Counts {
  std::uint64_t probed = 0, removed = 0, unseen = 0;

  /// Adds a note's counts. A source that fell back has no probes, whatever Clang had found in it.
  Counts& operator+=(const toolchain::CompilationNote& note) {
    if (!note.fell_back.empty())
      return *this;
    probed += note.sites;
    removed += note.removed;
    unseen += note.unseen.size();
    return *this;
  }
};

std::string text_of(const Counts& counts) {
  return fmt::format("{} accesses probed, {} removed by the compiler, {} not seen", counts.probed,
                     counts.removed, counts.unseen);
}

/// Lists the reasons: the most frequent one first, equally frequent ones in alphabetical order.
std::string reasons_of(const toolchain::CompilationNote& note) {
  std::map<std::string, std::vector<const toolchain::UnseenAccess*>> by_reason;
  for (const auto& access : note.unseen)
    by_reason[access.reason].push_back(&access);
  std::vector<std::pair<std::string, std::vector<const toolchain::UnseenAccess*>>> groups(by_reason.begin(),
                                                                                          by_reason.end());
  std::ranges::stable_sort(groups, std::greater(), [](const auto& group) { return group.second.size(); });
  std::string text;
  for (const auto& [reason, accesses] : groups) {
    text += fmt::format("  {} not seen: {}\n", accesses.size(), reason);
    for (const toolchain::UnseenAccess* access : accesses)
      text += fmt::format("    {}:{}:{}{}{}\n", access->file, access->line, access->column,
                          access->expression.empty() ? "" : ": ", access->expression);
  }
  return text;
}

std::string text_of(const toolchain::CompilationNote& note) {
  if (!note.fell_back.empty())
    return fmt::format("{}: compiled without probes: {}\n", note.source, note.fell_back);
  Counts counts;
  counts += note;
  return fmt::format("{}: {}{}\n{}", note.source, text_of(counts),
                     note.single_variant_reason.empty()
                         ? ""
                         : "; every launch runs with probes: " + note.single_variant_reason,
                     reasons_of(note));
}

} // namespace

std::string report_as_text(const std::vector<ReportedFile>& files) {
  std::string text;
  Counts all;
  std::size_t sources = 0, fell_back = 0;
  for (const auto& file : files) {
    for (const auto& note : file.notes) {
      text += text_of(note);
      all += note;
      ++sources;
      fell_back += !note.fell_back.empty();
    }
    if (file.notes.empty())
      text += fmt::format("{}: nothing in it was compiled with probes\n", file.file);
  }
  if (sources > 1)
    text += fell_back == sources ? fmt::format("{} sources, all without probes\n", sources)
                                 : fmt::format("{} sources, {} without probes; in the others {}\n", sources,
                                               fell_back, text_of(all));
  return text;
}

std::string report_as_json(const std::vector<ReportedFile>& files) {
  auto reported = nlohmann::json::array();
  for (const auto& file : files) {
    auto sources = nlohmann::json::array();
    for (const auto& note : file.notes)
      sources.push_back(to_json(note));
    reported.push_back({{"file", file.file}, {"sources", std::move(sources)}});
  }
  return nlohmann::json{{"format", "warplens-compilation-report/1"}, {"files", std::move(reported)}}.dump(
             1, ' ', false, nlohmann::json::error_handler_t::replace) +
         '\n';
}

} // namespace warplens::driver
