#include "placement/moved_source.h"

#include "support/pattern.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

namespace warplens::placement {
namespace {

constexpr std::size_t npos = std::string::npos;

/// A part of the source that another text replaces.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// A parameter or an argument: what lies between two commas.
struct Part {
  std::size_t begin = 0, end = 0;
};

bool is_of_name(char one) {
  return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_';
}
bool is_space(char one) {
  return std::isspace(static_cast<unsigned char>(one)) != 0;
}

/// Returns the source with spaces in place of comments and of what strings and characters hold, so that
/// positions stay and brackets match.
std::string without_comments(const std::string& source) {
  std::string text = source;
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
      if (text[i] != '\n')
        text[i] = ' ';
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::size_t end = i;
    if (source.compare(i, 2, "//") == 0)
      end = source.find('\n', i);
    else if (source.compare(i, 2, "/*") == 0)
      end = source.find("*/", i + 2) == npos ? npos : source.find("*/", i + 2) + 2;
    else if (source[i] == '"' || (source[i] == '\'' && (i == 0 || !is_of_name(source[i - 1])))) {
      end = i + 1; // a quote behind a digit separates digits
      while (end < source.size() && source[end] != source[i] && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      ++end;
    } else
      continue;
    end = std::min(end, source.size());
    blank(i, end);
    i = end - 1;
  }
  return text;
}

/// Returns the position behind the bracket that closes the one at `open`; npos if there is none.
std::size_t behind_closing(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{')
      ++depth;
    else if ((text[i] == ')' || text[i] == ']' || text[i] == '}') && --depth == 0)
      return i + 1;
  }
  return npos;
}

/// Returns the parts of a list in round brackets, without spaces around them.
std::vector<Part> parts_of(std::string_view text, std::size_t open, std::size_t behind) {
  std::vector<Part> parts;
  std::size_t depth = 0, begin = open + 1;
  const auto put = [&](std::size_t end) {
    while (begin < end && is_space(text[begin]))
      ++begin;
    while (end > begin && is_space(text[end - 1]))
      --end;
    if (begin < end)
      parts.push_back({begin, end});
  };
  for (std::size_t i = open; i < behind; ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{')
      ++depth;
    else if (text[i] == ')' || text[i] == ']' || text[i] == '}')
      --depth;
    if ((text[i] == ',' && depth == 1) || depth == 0) {
      put(i);
      begin = i + 1;
    }
  }
  return parts;
}

/// Returns where a name begins, from a position on; npos if it is not there.
std::size_t find_name(std::string_view text, const std::string& name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != npos; at = text.find(name, at + 1))
    if ((at == 0 || !is_of_name(text[at - 1])) &&
        (at + name.size() == text.size() || !is_of_name(text[at + name.size()])))
      return at;
  return npos;
}

std::size_t behind_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at]))
    ++at;
  return at;
}

/// The kernel's definition and launches in a source, and the array's parameter among them.
struct Places {
  std::size_t definition = 0; ///< the begin of its first line
  Part body;
  Part parameter;
  std::string element;             ///< the type to which the parameter points, without const
  std::vector<Part> arguments;     ///< of the launches, that are passed for the parameter
  std::vector<std::string> scopes; ///< what stands before the kernel's name there, as "sums::"
};

/// Sets where the kernel is defined, and what it calls the array.
Expected<void> find_definition(const SourceArray& array, std::string_view text, Places& places,
                               std::size_t& index, std::size_t& parameters) {
  bool is_found = false;
  for (std::size_t at = find_name(text, array.kernel, 0); at != npos;
       at = find_name(text, array.kernel, at + 1)) {
    const std::size_t open = behind_spaces(text, at + array.kernel.size());
    const std::size_t before = text.find_last_of(";{}", at);
    const std::size_t begin = before == npos ? 0 : before + 1;
    const std::size_t global = text.find("__global__", begin);
    if (open >= text.size() || text[open] != '(' || global == npos || global > at)
      continue;
    if (is_found)
      return fail("{} is declared more than once", array.kernel);
    if (find_name(text, "template", begin) < at)
      return fail("{} is a template", array.kernel);
    is_found = true;
    const std::size_t behind = behind_closing(text, open);
    const std::size_t body = behind == npos ? npos : behind_spaces(text, behind);
    if (body >= text.size() || text[body] != '{')
      return fail("{} is declared apart from its definition", array.kernel);
    const std::size_t line = text.rfind('\n', global);
    places.definition = line == npos ? 0 : line + 1;
    places.body = {body, behind_closing(text, body)};
    const std::vector<Part> parts = parts_of(text, open, behind);
    parameters = index = parts.size();
    static const Pattern pointer(
        R"(^(?:const\s+)?([A-Za-z_][\w:]*(?:\s+(?:int|char|short|long))*)(?:\s+const)?\s*\*\s*(?:const\s*)?(?:__restrict__|__restrict)?\s*$)");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string_view one = text.substr(parts[i].begin, parts[i].end - parts[i].begin);
      if (!one.ends_with(array.name) || find_name(one, array.name, one.size() - array.name.size()) == npos)
        continue;
      const auto groups = pointer.first_match(one.substr(0, one.size() - array.name.size()));
      if (!groups)
        return fail("the parameter '{}' is not a plain pointer", one);
      index = i;
      places.parameter = parts[i];
      places.element = (*groups)[1];
    }
  }
  if (!is_found)
    return fail("no line defines __global__ ... {}(", array.kernel);
  if (index == parameters)
    return fail("{} is no parameter of {}", array.name, array.kernel);
  return {};
}

Expected<Places> find_places(const SourceArray& array, std::string_view text) {
  Places places;
  std::size_t index = 0, parameters = 0;
  TRY(find_definition(array, text, places, index, parameters));
  for (std::size_t at = find_name(text, array.kernel, 0); at != npos;
       at = find_name(text, array.kernel, at + 1)) {
    const std::size_t open = behind_spaces(text, at + array.kernel.size());
    if (text.compare(open, 3, "<<<") != 0)
      continue;
    const std::size_t close = text.find(">>>", open);
    const std::size_t list = close == npos ? npos : behind_spaces(text, close + 3);
    const std::size_t behind = list < text.size() && text[list] == '(' ? behind_closing(text, list) : npos;
    if (behind == npos)
      return fail("a launch of {} does not end", array.kernel);
    const std::vector<Part> arguments = parts_of(text, list, behind);
    if (arguments.size() != parameters)
      return fail("a launch of {} has {} arguments for {} parameters", array.kernel, arguments.size(),
                  parameters);
    places.arguments.push_back(arguments[index]);
    std::size_t scope = at;
    while (scope > 0 && (is_of_name(text[scope - 1]) || text[scope - 1] == ':'))
      --scope;
    places.scopes.emplace_back(text.substr(scope, at - scope));
  }
  if (places.arguments.empty())
    return fail("no line of this file launches {}<<<...>>>", array.kernel);
  return places;
}

/// Returns where the array's loads begin, each once, ascending.
Expected<std::vector<std::pair<std::size_t, const SourceLoad*>>>
find_loads(const SourceArray& array, const Places& places, const std::string& source) {
  std::vector<std::size_t> lines{0};
  for (std::size_t at = source.find('\n'); at != npos; at = source.find('\n', at + 1))
    lines.push_back(at + 1);
  std::vector<std::pair<std::size_t, const SourceLoad*>> loads;
  for (const SourceLoad& load : array.loads) {
    const std::size_t begin = load.line == 0 || load.line > lines.size() || load.column == 0
                                  ? npos
                                  : lines[load.line - 1] + load.column - 1;
    if (begin == npos || source.compare(begin, load.expression.size(), load.expression) != 0)
      return fail("line {} does not hold {} in one piece", load.line, load.expression);
    if (begin < places.body.begin || begin >= places.body.end)
      return fail("{} in line {} is outside of {}", load.expression, load.line, array.kernel);
    if (!load.expression.starts_with(array.name + "["))
      return fail("{} in line {} does not begin with {}[", load.expression, load.line, array.name);
    if (std::ranges::find(loads, begin, &std::pair<std::size_t, const SourceLoad*>::first) == loads.end())
      loads.emplace_back(begin, &load);
  }
  return loads;
}

std::string with(std::string source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, std::ranges::greater(), &Edit::begin);
  for (const Edit& edit : edits)
    source.replace(edit.begin, edit.end - edit.begin, edit.text);
  return source;
}

/// Adds the edits of the launches, which pass what a function makes of their argument.
void wrap_arguments(const Places& places, const std::string& function, const std::string& source,
                    std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < places.arguments.size(); ++i) {
    const Part& argument = places.arguments[i];
    edits.push_back({argument.begin, argument.end,
                     fmt::format("{}{}({})", places.scopes[i], function,
                                 source.substr(argument.begin, argument.end - argument.begin))});
  }
}

/// Returns an error if the source has one of the names that the edit adds.
Expected<void> check_unused(std::initializer_list<std::string> names, std::string_view text) {
  for (const std::string& name : names)
    if (find_name(text, name, 0) != npos)
      return fail("the source has a {} already", name);
  return {};
}

} // namespace

Expected<std::string> source_with_constant(const SourceArray& array, const std::string& source) {
  const std::string text = without_comments(source);
  const std::string constant = "constant_" + array.name, copy = "copied_to_" + constant;
  TRY(check_unused({constant, copy}, text));
  TRY_LET(places, find_places(array, text));
  TRY_LET(loads, find_loads(array, *places, source));
  std::vector<Edit> edits;
  for (const auto& [begin, load] : *loads)
    edits.push_back({begin, begin + array.name.size(), constant});
  wrap_arguments(*places, copy, source, edits);
  edits.push_back({places->definition, places->definition,
                   fmt::format("__constant__ {0} {1}[{2} / sizeof({0})];\n\n"
                               "static const {0}* {3}(const {0}* values) {{\n"
                               "  cudaMemcpyToSymbol({1}, values, sizeof {1}, 0, cudaMemcpyDeviceToDevice);\n"
                               "  return values;\n"
                               "}}\n\n",
                               places->element, constant, array.bytes, copy)});
  return with(source, std::move(edits));
}

Expected<std::string> source_with_texture(const SourceArray& array, const std::string& source) {
  const std::string text = without_comments(source);
  const std::string texture = "texture_of_" + array.name;
  TRY(check_unused({texture}, text));
  TRY_LET(places, find_places(array, text));
  TRY_LET(loads, find_loads(array, *places, source));
  std::vector<Edit> edits;
  for (const auto& [begin, load] : *loads) {
    const std::size_t open = begin + array.name.size(), behind = behind_closing(text, open);
    if (behind != begin + load->expression.size())
      return fail("{} in line {} is a part of an element, and a fetch returns all of it", load->expression,
                  load->line);
    edits.push_back({begin, open + 1, fmt::format("tex1Dfetch<{}>({}, ", places->element, array.name)});
    edits.push_back({behind - 1, behind, ")"});
  }
  edits.push_back({places->parameter.begin, places->parameter.end, "cudaTextureObject_t " + array.name});
  wrap_arguments(*places, texture, source, edits);
  edits.push_back({places->definition, places->definition,
                   fmt::format("static cudaTextureObject_t {1}(const {0}* values) {{\n"
                               "  cudaResourceDesc resource{{}};\n"
                               "  resource.resType = cudaResourceTypeLinear;\n"
                               "  resource.res.linear.devPtr = const_cast<{0}*>(values);\n"
                               "  resource.res.linear.desc = cudaCreateChannelDesc<{0}>();\n"
                               "  resource.res.linear.sizeInBytes = {2};\n"
                               "  cudaTextureDesc description{{}};\n"
                               "  description.readMode = cudaReadModeElementType;\n"
                               "  cudaTextureObject_t texture = 0;\n"
                               "  cudaCreateTextureObject(&texture, &resource, &description, nullptr);\n"
                               "  return texture;\n"
                               "}}\n\n",
                               places->element, texture, array.bytes)});
  return with(source, std::move(edits));
}

} // namespace warplens::placement
