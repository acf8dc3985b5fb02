// Prints the annotated diff: the sources with their figures as comments, as a unified diff.
#include "report/annotated_source.h"
#include "report/comment_places.h"
#include "report/report.h"
#include "report/source_file.h"
#include "support/display_name.h"
#include "support/line_diff.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <map>

namespace warplens::report {
namespace {

constexpr std::size_t longest_expression = 40;
constexpr std::size_t max_columns = 120; // of a line with its comment, unless it has more without

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// Returns the site's figures, at most `most` of them.
std::string figures_of(const SiteResult& site, const std::vector<const Column*>& columns, std::size_t most) {
  std::string text;
  std::size_t count = 0;
  for (const Column* column : columns) {
    std::string figure = column->text(site);
    if (figure == "-" || count == most)
      continue;
    ++count;
    replace_all(figure, "±", "+-"); // the source need not be UTF-8
    text += text.empty() ? "" : ", ";
    text += column->phrase.substr(0, column->phrase.find("{}"));
    text += figure;
    text += column->phrase.substr(column->phrase.find("{}") + 2);
  }
  return text;
}

/// The lines of kernels at one place, and what of their figures a comment there says.
class Remark {
public:
  explicit Remark(const std::vector<const Column*>& columns) : columns_(&columns) {}

  void add(const KernelResult& kernel, const judge::CostlyLine& line) { entries_.push_back({&kernel, line}); }

  /// Returns the longest form of the remark that has at most `room` columns: with all figures of each access,
  /// with fewer and fewer, or the first words. A line that several kernels have, or that was modelled on
  /// several GPUs, names them.
  std::string text(std::size_t room) const {
    std::string shortest;
    for (std::size_t figures = columns_->size(); figures > 0; --figures) {
      shortest = with(figures);
      if (width_of(shortest) <= room)
        return shortest;
    }
    return cut(shortest, std::max(room, min_room));
  }

  bool says_anything() const { return !with(1).empty(); }

private:
  struct Entry {
    const KernelResult* kernel;
    judge::CostlyLine line;
  };

  static constexpr std::size_t min_room = 24;

  std::string with(std::size_t figures) const {
    std::vector<std::pair<const KernelResult*, std::string>> parts;
    for (const Entry& entry : entries_)
      if (std::string part = line_text(entry.line, figures); !part.empty())
        parts.emplace_back(entry.kernel, std::move(part));
    std::string text;
    for (const auto& [kernel, part] : parts) {
      text += text.empty() ? "" : " | ";
      if (parts.size() > 1)
        text += fmt::format("{} on {}: ", cut(display_name(printable(kernel->name)), longest_expression),
                            printable(kernel->gpu));
      text += part;
    }
    return text;
  }

  std::string line_text(const judge::CostlyLine& line, std::size_t most) const {
    std::string text;
    for (const SiteResult* site : line.sites) {
      const std::string figures = figures_of(*site, *columns_, most);
      if (figures.empty())
        continue;
      text += text.empty() ? "" : "; ";
      if (line.sites.size() > 1)
        text += cut(printable(site->site.expression), longest_expression) + note_on(*site) + ": ";
      text += figures;
    }
    return text;
  }

  const std::vector<const Column*>* columns_;
  std::vector<Entry> entries_;
};

/// The remarks on the lines of one file, keyed by line number.
using Remarks = std::map<std::uint32_t, Remark>;

std::map<std::filesystem::path, Remarks> remarks_on(const Result& result,
                                                    const std::vector<const Column*>& columns) {
  std::map<std::filesystem::path, Remarks> files;
  for (const KernelResult& kernel : result.kernels)
    for (const judge::CostlyLine& line : judge::lines_of(kernel)) {
      Remark one(columns);
      one.add(kernel, line);
      if (one.says_anything())
        files[place_of(line.file)].try_emplace(line.line, columns).first->second.add(kernel, line);
    }
  return files;
}

void insert(std::string& line, const CommentPlace& place, const Remark& line_text) {
  constexpr std::size_t around = 18; // the marks of a comment, and who made it
  const std::size_t taken = width_of(printable(line)) + around;
  std::string remark = line_text.text(max_columns - std::min(taken, max_columns));
  const char* blank = place.at != 0 && line[place.at - 1] != ' ' ? " " : "";
  if (place.form == CommentPlace::Form::block) {
    replace_all(remark, "*/", "* /");
    line.insert(place.at, fmt::format("{}/* warplens: {} */ ", blank, remark));
  } else {
    line.insert(place.at, fmt::format("{}// warplens: {}", blank, remark));
  }
}

/// Returns the text with the comments in it. `skipped` gets the lines that have no room, or do not exist.
std::string annotate(const std::string& text, const Remarks& remarks, std::vector<std::uint32_t>& skipped) {
  const std::vector<CommentPlace> places = comment_places(text);
  std::string result;
  std::size_t copied = 0, start = 0;
  std::uint32_t number = 1; // the number of the line that starts at `start`
  for (const auto& [wanted, remark] : remarks) {
    if (wanted == 0 || wanted > places.size() || places[wanted - 1].form == CommentPlace::Form::none) {
      skipped.push_back(wanted);
      continue;
    }
    for (; number < wanted; ++number)
      start = text.find('\n', start) + 1;
    result += text.substr(copied, start - copied);
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    insert(line, places[wanted - 1], remark);
    result += line;
    copied = end;
  }
  return result + text.substr(copied);
}

/// Returns whether the file is in the current folder, under a name that a diff's head can hold.
bool can_be_annotated(const std::filesystem::path& place) {
  return place.is_relative() && place.string().find_first_of("\t\n\r\"\\") == std::string::npos;
}

} // namespace

Expected<std::string> print_annotated_diff(const Result& result, const AnnotatedDiffOptions& options) {
  const auto columns = options.columns.empty() ? default_columns(result.kernels) : options.columns;
  std::string head = "# Figures by Warplens, as comments.\n", diff, absent;
  for (const auto& [place, remarks] : remarks_on(result, columns)) {
    const std::string name = printable(place.string());
    const auto text = read_source(place, {});
    if (!text || !can_be_annotated(place)) {
      const char* why = text ? "not in the current folder" : "not found";
      head += fmt::format("# {}: {}\n", name, why);
      absent += fmt::format("{}{} is {}", absent.empty() ? "" : ", ", name, why);
      continue;
    }
    std::vector<std::uint32_t> skipped;
    diff += line_diff(place.string(), *text, annotate(*text, remarks, skipped));
    for (const std::uint32_t line : skipped)
      head += fmt::format("# {}:{}: no place for a comment\n", name, line);
  }
  if (diff.empty())
    return fail("there is no source to patch: {}",
                absent.empty() ? "no line has figures and room for a comment" : absent);
  return head + diff;
}

} // namespace warplens::report
