#include "driver/lsp/patch_edits.h"

#include "report/source_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace warplens::driver::lsp {
namespace {

struct Hunk {
  std::size_t place = 0; ///< the line, from 0 on, at which it begins in the text that it was made of
  std::vector<std::pair<char, std::string>> lines; ///< ' ', '-' or '+', and the text

  std::vector<std::string> before() const {
    std::vector<std::string> result;
    for (const auto& [mark, text] : lines)
      if (mark != '+')
        result.push_back(text);
    return result;
  }
};

/// Reads "@@ -12,3 +12,4 @@".
std::optional<Hunk> hunk_of(std::string_view header) {
  constexpr std::string_view begin = "@@ -";
  header.remove_prefix(begin.size());
  Hunk hunk;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), hunk.place);
  if (error != std::errc())
    return std::nullopt;
  hunk.place -= hunk.place > 0 ? 1 : 0;
  return hunk;
}

Expected<std::vector<Hunk>> hunks_of(const std::string& patch) {
  std::vector<Hunk> hunks;
  for (const std::string& line : report::lines_in(patch)) {
    if (line.starts_with("@@ -")) {
      auto hunk = hunk_of(line);
      if (!hunk)
        return fail("the patch has a hunk without a place");
      hunks.push_back(std::move(*hunk));
    } else if (hunks.empty() || line.starts_with('\\')) {
      continue; // the names of the files, and the note about a missing newline
    } else if (!line.empty() && std::string_view(" -+").find(line.front()) != std::string_view::npos) {
      hunks.back().lines.emplace_back(line.front(), line.substr(1));
    } else {
      return fail("the patch is no unified diff");
    }
  }
  return hunks;
}

/// Returns the place nearest to `wanted`, from `least` on, at which `text` has the lines.
std::optional<std::size_t> place_of(const std::vector<std::string>& wanted_lines,
                                    const std::vector<std::string>& text, std::size_t wanted,
                                    std::size_t least) {
  std::optional<std::size_t> nearest;
  for (std::size_t place = least; place + wanted_lines.size() <= text.size(); ++place) {
    const auto distance = [wanted](std::size_t at) { return at > wanted ? at - wanted : wanted - at; };
    if (nearest && distance(place) >= distance(*nearest))
      continue;
    if (std::equal(wanted_lines.begin(), wanted_lines.end(),
                   text.begin() + static_cast<std::ptrdiff_t>(place)))
      nearest = place;
  }
  return nearest;
}

/// Adds the hunk's changes, each stretch of removed and added lines as one edit.
void add_edits(const Hunk& hunk, std::size_t place, std::vector<LineEdit>& edits) {
  bool is_in_change = false;
  for (const auto& [mark, text] : hunk.lines) {
    if (mark == ' ') {
      is_in_change = false;
      ++place;
      continue;
    }
    if (!is_in_change)
      edits.push_back({place, place, {}});
    is_in_change = true;
    if (mark == '+')
      edits.back().lines.push_back(text);
    else
      edits.back().end = ++place;
  }
}

} // namespace

Expected<std::vector<LineEdit>> edits_of(const std::string& patch, const std::vector<std::string>& lines) {
  TRY_LET(hunks, hunks_of(patch));
  std::vector<LineEdit> edits;
  std::size_t least = 0;
  std::ptrdiff_t shift = 0; // of the last hunk; the next one has most likely moved as far
  for (const Hunk& hunk : *hunks) {
    const std::vector<std::string> before = hunk.before();
    const std::ptrdiff_t wanted =
        std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(hunk.place) + shift, 0);
    const auto place = place_of(before, lines, static_cast<std::size_t>(wanted), least);
    if (!place)
      return fail("the text no longer has the lines that the patch changes");
    add_edits(hunk, *place, edits);
    shift = static_cast<std::ptrdiff_t>(*place) - static_cast<std::ptrdiff_t>(hunk.place);
    least = *place + before.size();
  }
  return edits;
}

} // namespace warplens::driver::lsp
