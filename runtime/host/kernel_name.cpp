#include "runtime/host/kernel_name.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace warplens::runtime {
namespace {

/// Where the parameter list begins: at the parenthesis that matches the last one. npos: there is none.
std::size_t start_of_parameters(std::string_view name) {
  int depth = 0;
  for (std::size_t at = name.rfind(')'); at < name.size(); --at) {
    if (name[at] == ')')
      ++depth;
    else if (name[at] == '(' && --depth == 0)
      return at;
  }
  return std::string_view::npos;
}

} // namespace

std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      symbol.starts_with("_Z") ? abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status) : nullptr,
      &std::free);
  if (!demangled)
    return symbol;
  std::string_view name = demangled.get();
  name = name.substr(0, start_of_parameters(name));
  // A template's mangled name has its return type (Itanium C++ ABI, 5.1.5.3), and a kernel returns void.
  constexpr std::string_view return_type = "void ";
  if (name.starts_with(return_type))
    name.remove_prefix(return_type.size());
  return std::string(name);
}

} // namespace warplens::runtime
