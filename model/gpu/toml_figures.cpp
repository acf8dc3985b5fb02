#include "model/gpu/toml_figures.h"

#include "model/gpu/drawn_figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <sstream>

namespace warplens::model {
namespace {

/// Returns the text with spaces for its control characters: text from a file may contain line ends and worse.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text)
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return line;
}

std::string text_of(const toml::node& node) {
  std::ostringstream out;
  if (const auto* number = node.as_floating_point())
    return fmt::format("{}",
                       number->get()); // the shortest form that reads back the same; toml++ prints 17 digits
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

/// Returns the value as a file writes it: a string with quotes, a floating-point number with a point.
std::string toml_of(const toml::node& node) {
  const std::string text = text_of(node);
  if (node.is_string())
    return fmt::format("\"{}\"", node.as_string()->get());
  const bool looks_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return node.is_floating_point() && looks_whole ? text + ".0" : text;
}

/// Returns whether machines may draw the figure: no snapshot, no occupancy and no content of a cache before a
/// launch depends on it.
bool may_be_drawn(const std::string& path) {
  return path != "lsu.tags_per_pass" &&
         (path.starts_with("issue.") || path.starts_with("lsu.") || path.ends_with("achieved") ||
          (path.starts_with("l2.") && path.ends_with("_per_ns")));
}

/// Returns the weights of the value and its alternatives, which are all the same if none are stated; empty if
/// they are not what they have to be.
std::vector<double> weights_of(const toml::node* stated, std::size_t alternatives) {
  if (stated == nullptr)
    return std::vector<double>(alternatives, 1);
  std::vector<double> weights;
  if (const toml::array* array = stated->as_array(); array && array->size() == alternatives)
    for (const toml::node& weight : *array)
      weights.push_back(weight.value<double>().value_or(0));
  const bool is_good = std::ranges::all_of(weights, [](double weight) { return weight > 0 && weight < 1e6; });
  return is_good ? weights : std::vector<double>();
}

} // namespace

Expected<TomlFigures> TomlFigures::open(const std::filesystem::path& path) {
  try {
    return TomlFigures(path.string(), toml::parse_file(path.string()));
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    if (line == 0)
      return fail("{}: {}", path.string(), one_line(error.description()));
    return fail("{}:{}: {}", path.string(), line, one_line(error.description()));
  }
}

void TomlFigures::set_error(const toml::node* where, const std::string& what) {
  if (!error_.empty())
    return;
  const auto line = where ? where->source().begin.line : 0;
  error_ = line ? fmt::format("{}:{}: {}", file_, line, one_line(what))
                : fmt::format("{}: {}", file_, one_line(what));
}

const toml::node* TomlFigures::find(const std::string& path) {
  read_paths_.insert(path);
  const auto dot = path.find('.');
  const toml::table* table = &root_;
  if (dot != std::string::npos) {
    const std::string name = path.substr(0, dot);
    const toml::node* node = root_.get(name);
    table = node ? node->as_table() : nullptr;
    if (!table) {
      set_error(node, fmt::format("expected a table [{}]", name));
      return nullptr;
    }
  }
  const toml::node* node = table->get(path.substr(dot == std::string::npos ? 0 : dot + 1));
  if (!node)
    set_error(table == &root_ ? nullptr : table, fmt::format("expected a key '{}'", path));
  return node;
}

const toml::node* TomlFigures::figure(const std::string& path) {
  const toml::node* node = find(path);
  if (!node)
    return nullptr;
  const toml::table* table = node->as_table();
  const toml::node* value = table ? table->get("value") : nullptr;
  const toml::node* source = table ? table->get("source") : nullptr;
  const bool is_drawn = table && (table->contains("or") || table->contains("between"));
  const bool is_good = value && source && source->is_string();
  const bool has_more = is_drawn || (table && table->contains("interval"));
  if (!is_good || table->size() != (table->contains("weights") ? 4u : has_more ? 3u : 2u)) {
    set_error(node, fmt::format("expected {} = {{ value = …, source = \"…\" }}", path));
    return nullptr;
  }
  const toml::node* sources = root_.get("sources");
  const std::string name = source->as_string()->get();
  if (!sources || !sources->is_table() || !sources->as_table()->get(name)) {
    set_error(node, fmt::format("the source '{}' of {} is not one of [sources]", name, path));
    return nullptr;
  }
  return is_drawn ? drawn_value(path, *table) : value;
}

const toml::node* TomlFigures::drawn_value(const std::string& path, const toml::table& figure) {
  const auto refuse = [&](const std::string& what) {
    set_error(&figure, what);
    return nullptr;
  };
  if (!may_be_drawn(path))
    return refuse(fmt::format("{} can have neither alternatives nor a range", path));
  if (std::ranges::find(drawn_, path) == drawn_.end())
    drawn_.push_back(path);
  const toml::node* value = figure.get("value");
  const toml::array* range = figure.get_as<toml::array>("between");
  if (range && range->size() == 2 && range->is_homogeneous(value->type()) && figure.size() == 3)
    return machine_ == 0 ? value : drawn_of_range(path, *value->value<double>(), *range);
  const toml::array* others = figure.get_as<toml::array>("or");
  if (range || !others || others->empty() || others->size() >= machine_count)
    return refuse(fmt::format("expected {} to have or = […], 1 to {} alternatives, or between = [low, high]",
                              path, machine_count - 1));
  const std::vector<double> weights = weights_of(figure.get("weights"), others->size() + 1);
  if (weights.empty())
    return refuse(
        fmt::format("expected {} to have a weight above 0 for its value and each alternative", path));
  const std::size_t alternative = drawn_alternative(path, weights, machine_);
  return alternative == 0 ? value : others->get(alternative - 1);
}

const toml::node* TomlFigures::drawn_of_range(const std::string& path, double stated,
                                              const toml::array& range) {
  const double low = *range[0].value<double>(), high = *range[1].value<double>();
  const double drawn = low + (high - low) * drawn_fraction(path, (stated - low) / (high - low), machine_);
  made_.clear();
  if (range[0].is_integer())
    made_.push_back(std::llround(drawn));
  else
    made_.push_back(drawn);
  return made_.get(0);
}

TomlFigures TomlFigures::of_machine(std::uint32_t machine) const {
  TomlFigures figures(file_, root_);
  figures.machine_ = machine;
  return figures;
}

void TomlFigures::text(const std::string& path, std::string& value) {
  const toml::node* node = find(path);
  if (!node)
    return;
  if (const auto* string = node->as_string())
    value = string->get();
  else
    set_error(node, fmt::format("expected {} = \"…\"", path));
}

void TomlFigures::texts(const std::string& path, std::vector<std::string>& values) {
  const toml::node* node = find(path);
  if (!node)
    return;
  const toml::array* array = node->as_array();
  const auto is_text = [](const toml::node& item) { return item.is_string(); };
  if (array == nullptr || !std::ranges::all_of(*array, is_text))
    return set_error(node, fmt::format("expected {} = [\"…\", …]", path));
  values.clear();
  for (const toml::node& item : *array)
    values.push_back(item.as_string()->get());
}

void TomlFigures::plain_number(const std::string& path, double& value, double low, double high) {
  if (const toml::node* node = find(path))
    read_number(*node, path, value, low, high);
}

void TomlFigures::read_number(const toml::node& node, const std::string& path, double& value, double low,
                              double high) {
  const auto read = node.is_number() ? node.value<double>() : std::nullopt;
  if (!read || !(*read >= low && *read <= high))
    return set_error(&node, fmt::format("expected {} to be a number from {} to {}", path, low, high));
  value = *read;
}

void TomlFigures::number(const std::string& path, std::uint64_t& value, std::uint64_t low,
                         std::uint64_t high) {
  const toml::node* node = figure(path);
  if (!node)
    return;
  const auto* integer = node->as_integer();
  if (!integer || integer->get() < 0 || std::uint64_t(integer->get()) < low ||
      std::uint64_t(integer->get()) > high)
    return set_error(node, fmt::format("expected {} to be a whole number from {} to {}", path, low, high));
  value = std::uint64_t(integer->get());
}

void TomlFigures::number(const std::string& path, std::uint32_t& value, std::uint32_t low,
                         std::uint32_t high) {
  std::uint64_t wide = value;
  number(path, wide, low, high);
  value = std::uint32_t(wide);
}

void TomlFigures::number(const std::string& path, double& value, double low, double high) {
  if (const toml::node* node = figure(path))
    read_number(*node, path, value, low, high);
}

void TomlFigures::numbers(const std::string& path, std::vector<std::uint32_t>& values, std::uint32_t low,
                          std::uint32_t high) {
  const toml::node* node = figure(path);
  if (!node)
    return;
  const toml::array* array = node->as_array();
  const auto expected =
      fmt::format("expected {} to be a list of ascending whole numbers from {} to {}", path, low, high);
  if (!array || array->empty())
    return set_error(node, expected);
  values.clear();
  for (const toml::node& item : *array) {
    const auto* integer = item.as_integer();
    if (!integer || integer->get() < std::int64_t(low) || integer->get() > std::int64_t(high) ||
        (!values.empty() && integer->get() <= std::int64_t(values.back())))
      return set_error(node, expected);
    values.push_back(std::uint32_t(integer->get()));
  }
}

void TomlFigures::numbers(const std::string& path, std::vector<double>& values, double low, double high) {
  const toml::node* node = figure(path);
  if (!node)
    return;
  const toml::array* array = node->as_array();
  if (!array || array->empty())
    return set_error(node, fmt::format("expected {} to be a list of numbers from {} to {}", path, low, high));
  values.clear();
  for (const toml::node& item : *array)
    read_number(item, path, values.emplace_back(), low, high);
}

void TomlFigures::estimate(const std::string& path, double& value, double& value_low, double& value_high,
                           double low, double high) {
  const toml::node* node = figure(path);
  if (!node)
    return;
  read_number(*node, path, value, low, high);
  const toml::table& table = *find(path)->as_table();
  const toml::array* interval = table.get_as<toml::array>("interval");
  const auto refuse = [&] {
    set_error(&table, fmt::format("expected {} to have interval = [low, high] around its value", path));
  };
  if (!interval || interval->size() != 2)
    return refuse();
  read_number((*interval)[0], path, value_low, low, high);
  read_number((*interval)[1], path, value_high, low, high);
  if (value_low > value || value_high < value)
    refuse();
}

void TomlFigures::boolean(const std::string& path, bool& value) {
  const toml::node* node = figure(path);
  if (!node)
    return;
  if (const auto* boolean = node->as_boolean())
    value = boolean->get();
  else
    set_error(node, fmt::format("expected {} to be true or false", path));
}

std::size_t TomlFigures::choice(const std::string& path, const std::vector<std::string>& words) {
  const toml::node* node = figure(path);
  if (!node)
    return 0;
  if (const auto* string = node->as_string())
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] == string->get())
        return i;
  set_error(node, fmt::format("expected {} to be one of: {}", path, fmt::join(words, ", ")));
  return 0;
}

void TomlFigures::require(bool holds, const std::string& path, const std::string& expected) {
  if (holds || !error_.empty())
    return;
  set_error(find(path), "expected " + expected);
}

Expected<void> TomlFigures::finish() {
  for (const auto& [name, node] : root_) {
    const std::string top(name.str());
    if (top == "sources") {
      if (!node.is_table())
        set_error(&node, "expected a table [sources]");
      else
        for (const auto& [key, source] : *node.as_table())
          if (!source.is_string())
            set_error(&source, fmt::format("expected sources.{} = \"…\"", std::string(key.str())));
      continue;
    }
    if (read_paths_.contains(top))
      continue;
    const toml::table* table = node.as_table();
    if (!table) {
      set_error(&node, fmt::format("unknown key '{}'", top));
      continue;
    }
    for (const auto& [key, value] : *table)
      if (const std::string path = top + "." + std::string(key.str()); !read_paths_.contains(path))
        set_error(&value, fmt::format("unknown key '{}'", path));
  }
  if (!error_.empty())
    return tl::unexpected<Error>(Error{error_});
  return {};
}

std::vector<StatedFigure> TomlFigures::stated() const {
  std::vector<StatedFigure> figures;
  const auto plain = [](const toml::node& node) {
    return node.is_string() ? node.as_string()->get() : text_of(node);
  };
  for (const auto& [name, node] : root_) {
    const std::string top(name.str());
    const toml::table* table = node.as_table();
    if (!table) {
      figures.push_back({top, plain(node), {}});
      continue;
    }
    if (top == "sources")
      continue;
    for (const auto& [key, value] : *table)
      if (const toml::table* figure = value.as_table()) {
        std::string text = plain(*figure->get("value"));
        for (const char* of_draw : {"or", "between", "weights", "interval"})
          if (const toml::node* drawn = figure->get(of_draw))
            text += fmt::format(", {} {}", of_draw, text_of(*drawn));
        figures.push_back(
            {top + "." + std::string(key.str()), std::move(text), figure->get("source")->as_string()->get()});
      } else {
        figures.push_back({top + "." + std::string(key.str()), plain(value), {}});
      }
  }
  return figures;
}

std::string TomlFigures::describe() const {
  std::string out;
  for (const auto& [path, value, source] : stated())
    out += source.empty() ? fmt::format("{:<30} {}\n", path, value)
                          : fmt::format("{:<30} {:<34} [{}]\n", path, value, source);
  out += "\nSources\n";
  if (const toml::node* sources = root_.get("sources"))
    for (const auto& [key, source] : *sources->as_table())
      out += fmt::format("[{}] {}\n", std::string(key.str()), source.as_string()->get());
  return out;
}

std::map<std::string, std::string> TomlFigures::without_sources() const {
  std::map<std::string, std::string> figures;
  for (const auto& [table, content] : root_) {
    if (!content.is_table() || table.str() == "sources" || table.str() == "accuracy")
      continue;
    for (const auto& [key, figure] : *content.as_table()) {
      std::string text;
      for (const char* part : {"value", "or", "weights", "between"})
        if (const toml::node* node = figure.is_table() ? figure.as_table()->get(part) : nullptr)
          text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", part, toml_of(*node));
      figures.emplace(fmt::format("{}.{}", std::string(table.str()), std::string(key.str())), text);
    }
  }
  return figures;
}

} // namespace warplens::model
