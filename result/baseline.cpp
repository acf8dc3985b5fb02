#include "result/baseline.h"

#include "result/names.h"
#include "support/display_name.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

namespace warplens {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "warplens-baseline";
constexpr int format_version = 1;
constexpr const char* head_comment =
    "# `warplens baseline` writes this file, and `warplens gate` holds a program against it.\n"
    "# Merge it as any text: a kernel's lines stand alone, and its key is there once. To let a kernel be "
    "worse "
    "for a while:\n"
    "#   waive \"kernel\" until 2030-12-31: why     or     waive \"kernel\" on a100 until 2030-12-31: why\n";

// ------------------------------------------------------------------------------------------- writing

/// Returns the values as one line of JSON, whose strings may be anything.
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string numbers(const std::vector<double>& values) {
  return fmt::format("{:.6g}", fmt::join(values, " "));
}

std::string text_of(const RecordedKernel& kernel) {
  std::string text =
      fmt::format("kernel {}\n", json_text({kernel.program, kernel.gpu, kernel.kernel, kernel.number}));
  const auto put = [&](std::string_view key, const std::string& value) {
    if (!value.empty())
      text += fmt::format("  {} {}\n", key, value);
  };
  put("time_us", numbers(kernel.time_us));
  put("bound", kernel.bound);
  for (const ExactFigure& figure : exact_figures())
    if (const auto found = kernel.exact.find(figure.name); found != kernel.exact.end())
      put(figure.name, std::to_string(found->second));
  put("findings", fmt::format("{}", fmt::join(kernel.findings, " ")));
  for (const RecordedAccess& access : kernel.accesses)
    put("access", json_text({access.file, access.expression, access.share, access.sectors_per_request,
                             access.bank_conflicts, access.findings}));
  put("grid", fmt::format("{}", fmt::join(kernel.grid, " ")));
  put("block", fmt::format("{}", fmt::join(kernel.block, " ")));
  put("trials_us", numbers(kernel.trials_us));
  put("seed", std::to_string(kernel.seed));
  put("code", kernel.identity.code);
  put("work", kernel.identity.work);
  put("warplens", kernel.version);
  put("model", kernel.identity.model);
  return text;
}

// ------------------------------------------------------------------------------------------- reading

/// Returns the text as it may be shown: in part, and escaped.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  return Json(std::string(text.substr(0, longest))).dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool is_date(std::string_view text) {
  unsigned parts[3] = {}; // year, month, day
  constexpr std::pair<std::size_t, std::size_t> places[3] = {{0, 4}, {5, 2}, {8, 2}};
  if (text.size() != 10 || text[4] != '-' || text[7] != '-')
    return false;
  for (std::size_t index = 0; index < 3; ++index) {
    const char* const begin = text.data() + places[index].first;
    const auto [end, problem] = std::from_chars(begin, begin + places[index].second, parts[index]);
    if (problem != std::errc() || end != begin + places[index].second)
      return false;
  }
  return std::chrono::year_month_day(std::chrono::year(int(parts[0])), std::chrono::month(parts[1]),
                                     std::chrono::day(parts[2]))
      .ok();
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end != 0)
      words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class Number> bool read_number(std::string_view word, Number& number) {
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  return problem == std::errc() && end == word.data() + word.size();
}

/// Reads a text line by line.
class Reader {
public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Expected<Baseline> read() {
    TRY(read_head());
    while (next_line())
      TRY(read_line());
    TRY(end_kernel());
    std::ranges::sort(baseline_.kernels, {}, &RecordedKernel::key);
    return std::move(baseline_);
  }

private:
  template <class... Arguments>
  tl::unexpected<Error> wrong(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    return fail("{}:{}: {}", name_, number_, fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  /// Goes to the next line that says something; returns false at the end.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      is_cut_ = end == std::string_view::npos;
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(is_cut_ ? rest_.size() : end + 1);
      ++number_;
      if (line_.ends_with('\r'))
        line_.remove_suffix(1);
      if (!line_.empty() && !line_.starts_with('#'))
        return true;
    }
    return false;
  }

  Expected<void> read_head() {
    if (!next_line())
      return fail("{}: it is empty: `warplens baseline` writes it", name_);
    const auto words = words_of(line_);
    TRY(check_conflict());
    if (words.size() != 2 || words[0] != format_name)
      return wrong("not a baseline: its first line is \"{} {}\", as `warplens baseline` writes it",
                   format_name, format_version);
    if (words[1] != std::to_string(format_version))
      return wrong(
          "version {} of the format, and this Warplens reads version {}: use the Warplens that wrote "
          "it, or delete the file and record it again",
          shown(words[1]), format_version);
    return {};
  }

  Expected<void> check_conflict() const {
    for (const char* marker : {"<<<<<<<", "=======", ">>>>>>>", "|||||||"})
      if (line_.starts_with(marker))
        return wrong("a merge left its marker {}: keep one version of each kernel and delete the markers, or "
                     "record the kernels again with `warplens baseline`",
                     marker);
    return {};
  }

  Expected<void> read_line() {
    TRY(check_conflict());
    if (is_cut_)
      return wrong("it ends in the middle of a line: restore the file, or record it again with `warplens "
                   "baseline`");
    if (line_.starts_with("waive "))
      return read_waiver(line_.substr(6));
    if (line_.starts_with("kernel ")) {
      TRY(end_kernel());
      return begin_kernel(line_.substr(7));
    }
    if (!kernel_ || !line_.starts_with("  "))
      return wrong("expected \"kernel\", \"waive\" or a kernel's figure, not {}: delete the line",
                   shown(line_));
    const std::string_view text = line_.substr(2);
    const std::size_t end = std::min(text.find(' '), text.size());
    return read_figure(std::string(text.substr(0, end)), text.substr(std::min(end + 1, text.size())));
  }

  Expected<void> read_waiver(std::string_view text) {
    const auto malformed = [&] {
      return wrong("expected: waive \"kernel\" [on GPU] until YEAR-MONTH-DAY: reason");
    };
    std::size_t end = 1;
    while (end < text.size() && text[end] != '"')
      end += text[end] == '\\' ? 2 : 1;
    if (!text.starts_with('"') || end >= text.size())
      return malformed();
    const Json kernel = Json::parse(text.substr(0, end + 1), nullptr, false);
    const std::string_view behind = text.substr(end + 1);
    const std::size_t colon = behind.find(':');
    if (!kernel.is_string() || colon == std::string_view::npos)
      return malformed();
    const auto words = words_of(behind.substr(0, colon));
    const bool has_gpu = words.size() == 4 && words[0] == "on";
    if (!(has_gpu || words.size() == 2) || words[words.size() - 2] != "until" || !is_date(words.back()))
      return malformed();
    const std::size_t reason = behind.find_first_not_of(' ', colon + 1);
    if (reason == std::string_view::npos)
      return wrong("a waiver without a reason: write it behind the colon");
    baseline_.waivers.push_back({kernel.get<std::string>(), has_gpu ? std::string(words[1]) : "",
                                 std::string(words.back()), std::string(behind.substr(reason)), number_});
    return {};
  }

  Expected<void> begin_kernel(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_array() || json.size() != 4 || !json[0].is_string() || !json[1].is_string() ||
        !json[2].is_string() || !json[3].is_number_unsigned())
      return wrong("expected: kernel [\"program and arguments\",\"GPU\",\"kernel\",number]");
    RecordedKernel& kernel = kernel_.emplace();
    kernel.program = json[0].get<std::string>();
    kernel.gpu = json[1].get<std::string>();
    kernel.kernel = json[2].get<std::string>();
    kernel.number = json[3].get<std::uint64_t>();
    keys_.clear();
    const auto [known, is_new] = lines_.try_emplace(json_text(json), number_);
    if (!is_new)
      return wrong("kernel {} on {} is in line {} already: delete one of the two, or record it again with "
                   "`warplens baseline`",
                   shown(kernel.kernel), shown(kernel.gpu), known->second);
    return {};
  }

  /// Adds the kernel that was read, if there is one and it is whole.
  Expected<void> end_kernel() {
    if (!kernel_)
      return {};
    for (const char* key : {"grid", "block", "seed", "work", "warplens", "model"})
      if (!keys_.contains(key))
        return wrong("kernel {} on {} ends without its \"{}\": restore its lines, or record it again with "
                     "`warplens baseline`",
                     shown(kernel_->kernel), shown(kernel_->gpu), key);
    baseline_.kernels.push_back(std::move(*kernel_));
    kernel_.reset();
    return {};
  }

  Expected<void> read_times(std::string_view key, std::string_view text, std::vector<double>& times) const {
    for (const std::string_view word : words_of(text)) {
      double& time = times.emplace_back();
      if (!read_number(word, time) || !std::isfinite(time) || time < 0)
        return wrong("{} has {}, and a time is a finite number that is not negative: record the kernel again "
                     "with `warplens baseline`",
                     key, shown(word));
    }
    return {};
  }

  Expected<void> read_shape(std::string_view key, std::string_view text,
                            std::array<std::uint32_t, 3>& shape) const {
    const auto words = words_of(text);
    if (words.size() != 3 || !read_number(words[0], shape[0]) || !read_number(words[1], shape[1]) ||
        !read_number(words[2], shape[2]))
      return wrong("{} is not three sizes: {}", key, shown(text));
    return {};
  }

  Expected<void> read_access(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    const auto is_amount = [&](std::size_t index) {
      return json[index].is_number() && std::isfinite(json[index].get<double>()) &&
             json[index].get<double>() >= 0;
    };
    if (!json.is_array() || json.size() != 6 || !json[0].is_string() || !json[1].is_string() ||
        !is_amount(2) || !is_amount(3) || !is_amount(4) || !json[5].is_array() ||
        !std::ranges::all_of(json[5], [](const Json& id) { return id.is_string(); }))
      return wrong("expected: access [\"file\",\"expression\",share,sectors,conflicts,[\"finding\"]]");
    kernel_->accesses.push_back({json[0].get<std::string>(), json[1].get<std::string>(),
                                 json[2].get<double>(), json[3].get<double>(), json[4].get<double>(),
                                 json[5].get<std::vector<std::string>>()});
    return {};
  }

  Expected<void> read_figure(const std::string& key, std::string_view text) {
    if (key == "access")
      return read_access(text);
    if (!keys_.insert(key).second)
      return wrong("\"{}\" is there twice: delete one of the two lines", key);
    if (text.empty())
      return wrong("\"{}\" has no value: restore the line, or record the kernel again", key);
    if (key == "time_us") {
      TRY(read_times(key, text, kernel_->time_us));
      if (const auto& time = kernel_->time_us; time.size() != 3 || time[1] > time[0] || time[2] < time[0])
        return wrong("time_us is not a mean and its interval: {}", shown(text));
      return {};
    }
    if (key == "trials_us")
      return read_times(key, text, kernel_->trials_us);
    if (key == "grid")
      return read_shape(key, text, kernel_->grid);
    if (key == "block")
      return read_shape(key, text, kernel_->block);
    if (key == "findings") {
      for (const std::string_view word : words_of(text))
        kernel_->findings.emplace_back(word);
      return {};
    }
    if (key == "seed")
      return read_number(text, kernel_->seed) ? Expected<void>()
                                              : wrong("seed is not a whole number: {}", shown(text));
    for (const auto& [name, target] :
         {std::pair("bound", &kernel_->bound), std::pair("code", &kernel_->identity.code),
          std::pair("work", &kernel_->identity.work), std::pair("model", &kernel_->identity.model),
          std::pair("warplens", &kernel_->version)})
      if (key == name) {
        *target = text;
        return {};
      }
    if (std::ranges::find(exact_figures(), key, &ExactFigure::name) == exact_figures().end())
      return wrong("there is no figure {}: delete the line, or use the Warplens that wrote it", shown(key));
    if (!read_number(text, kernel_->exact[key]))
      return wrong("{} is not a whole number: {}", key, shown(text));
    return {};
  }

  std::string_view rest_, line_;
  const std::string& name_;
  std::size_t number_ = 0;
  bool is_cut_ = false; ///< the line has no end
  Baseline baseline_;
  std::optional<RecordedKernel> kernel_;
  std::set<std::string> keys_;               ///< of that kernel
  std::map<std::string, std::size_t> lines_; ///< of the kernels
};

} // namespace

bool Waiver::covers(const RecordedKernel& recorded) const {
  return (gpu.empty() || gpu == recorded.gpu) &&
         (kernel == recorded.kernel || kernel == display_name(recorded.kernel));
}

const std::vector<ExactFigure>& exact_figures() {
  static const std::vector<ExactFigure> figures = [] {
    std::vector<ExactFigure> all{{"registers", true},    {"spill_bytes", true},   {"stack_bytes", true},
                                 {"shared_bytes", true}, {"warps_per_sm", false}, {"instructions", true}};
    for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
      all.push_back({fmt::format("instructions.{}", name_of(InstructionKind(kind))), true});
    all.push_back({"sectors", true});
    all.push_back({"bank_conflicts", true});
    return all;
  }();
  return figures;
}

double rounded_as_recorded(double number) {
  double rounded = 0;
  return read_number(fmt::format("{:.6g}", number), rounded) ? rounded : number;
}

std::string print_baseline(const Baseline& baseline) {
  std::vector<const RecordedKernel*> sorted;
  for (const RecordedKernel& kernel : baseline.kernels)
    sorted.push_back(&kernel);
  std::ranges::sort(sorted, {}, &RecordedKernel::key);
  std::string text = fmt::format("{} {}\n{}", format_name, format_version, head_comment);
  for (const Waiver& waiver : baseline.waivers)
    text += fmt::format("waive {}{} until {}: {}\n", json_text(waiver.kernel),
                        waiver.gpu.empty() ? "" : " on " + waiver.gpu, waiver.until, waiver.reason);
  for (const RecordedKernel* const kernel : sorted)
    text += "\n" + text_of(*kernel);
  return text;
}

Expected<Baseline> read_baseline(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

} // namespace warplens
