#include "toolchain/ptx/forwarding.h"

#include "support/pattern.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace warplens::toolchain {
namespace {

struct Parameter {
  std::string declaration; ///< `.param .align 8 .b8 NAME[24]`
  std::string name;
  unsigned bits = 0; ///< the bits of one element
  unsigned elements = 0;
};

std::vector<Parameter> parameters_of(const std::string& text) {
  static const Pattern pattern(
      R"(\.param\s+(?:\.align\s+\d+\s+)?\.[bfsu](8|16|32|64)\s+([\w$%]+)(?:\[(\d+)\])?)");
  std::vector<Parameter> found;
  for (const auto& match : pattern.all_matches(text))
    found.push_back({match[0], match[2], static_cast<unsigned>(std::stoul(match[1])),
                     match[3].empty() ? 1 : static_cast<unsigned>(std::stoul(match[3]))});
  return found;
}

/// Copies a parameter element by element, through a register: PTX has no assignment of parameters.
std::string copy(const Parameter& parameter, const std::string& from, const std::string& to) {
  const unsigned width = std::max(parameter.bits, 16U); // no register is narrower
  std::string text;
  for (unsigned i = 0; i < parameter.elements; ++i) {
    const auto offset = i * parameter.bits / 8;
    text += fmt::format("\tld.param.b{0} %b{1}, [{2}+{4}];\n\tst.param.b{0} [{3}+{4}], %b{1};\n",
                        parameter.bits, width, from, to, offset);
  }
  return text;
}

std::string renamed(const Parameter& parameter, const std::string& name) {
  auto text = parameter.declaration;
  return "\t" + text.replace(text.rfind(parameter.name), parameter.name.size(), name) + ";\n";
}

} // namespace

bool is_users_elsewhere(const ptx::Item& item) {
  constexpr auto cudas =
      std::to_array<std::string_view>({"vprintf", "malloc", "free", "memcpy", "memset", "cuda", "__"});
  return item.kind == ptx::ItemKind::declaration && item.text.starts_with(".extern") &&
         item.text.find(".entry") == std::string::npos &&
         std::ranges::none_of(cudas, [&](std::string_view own) { return item.name.starts_with(own); });
}

std::string forwarding_function(const ptx::Item& item, std::string_view name) {
  auto head = item.text.substr(0, item.text.rfind(')') + 1);
  const auto place = head.find(item.name + "\n"); // parameters' names start with it, too
  if (place == std::string::npos)
    return {};
  head.replace(place, item.name.size(), name);
  head.replace(0, head.find('.', 1), ".weak ");
  const auto results = parameters_of(head.substr(0, place));
  const auto arguments = parameters_of(head.substr(place));
  if (results.size() > 1 ||
      std::ranges::count(head, ',') + 1 != std::max<std::ptrdiff_t>(1, std::ssize(arguments)))
    return {};
  std::string body = "{\n\t.reg .b16 %b16;\n\t.reg .b32 %b32;\n\t.reg .b64 %b64;\n", names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto own = fmt::format("forwarded{}", i);
    body += renamed(arguments[i], own) + copy(arguments[i], arguments[i].name, own);
    names += (i ? ", " : "") + own;
  }
  if (!results.empty())
    body += renamed(results[0], "returned");
  body += fmt::format("\tcall.uni {}{}, ({});\n", results.empty() ? "" : "(returned), ", item.name, names);
  if (!results.empty())
    body += copy(results[0], "returned", results[0].name);
  return head + "\n" + body + "\tret;\n}";
}

} // namespace warplens::toolchain
