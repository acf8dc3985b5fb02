#include "runtime/host/kernel_name.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace warplens::runtime {
namespace {

/// Returns the position of the parenthesis that matches the last one; npos if there is none.
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

using Demangled = std::unique_ptr<char, decltype(&std::free)>;

/// Returns null if the symbol is not a mangled name.
Demangled demangled(const std::string& symbol) {
  int status = 0;
  return {symbol.starts_with("_Z") ? abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status) : nullptr,
          &std::free};
}

/// Returns the position after `__nv_static_25__73606af7_4_a_cu_f5e33558_`, where the number is the length of
/// the module's name; 0 if there is no such prefix.
std::size_t behind_module(const std::string& symbol) {
  constexpr std::string_view prefix = "__nv_static_";
  std::size_t length = 0;
  if (!symbol.starts_with(prefix))
    return 0;
  const char* const end = symbol.data() + symbol.size();
  const auto [behind, problem] = std::from_chars(symbol.data() + prefix.size(), end, length);
  const auto rest = static_cast<std::size_t>(end - behind);
  if (problem != std::errc() || rest < 3 || length > rest - 3 || *behind != '_' || behind[1 + length] != '_')
    return 0;
  return symbol.size() - rest + length + 2;
}

/// Returns the position of Clang's hash of the module; npos if there is none.
std::size_t start_of_hash(const std::string& symbol) {
  constexpr std::size_t shortest_hash = 8;
  const std::size_t at = std::max(symbol.rfind("__intern__") + 1, symbol.rfind("__static__") + 1);
  if (at == 0)
    return std::string::npos;
  const std::string_view hash = std::string_view(symbol).substr(at - 1 + std::strlen("__intern__"));
  const bool is_hash =
      hash.size() >= shortest_hash && hash.find_first_not_of("0123456789abcdef_") == std::string_view::npos;
  return is_hash && !demangled(symbol) ? at - 1 : std::string::npos;
}

} // namespace

std::string symbol_as_written(const std::string& symbol) {
  const std::string own = symbol.substr(behind_module(symbol));
  return own.substr(0, start_of_hash(own));
}

std::string kernel_name(const std::string& given) {
  const std::string symbol = symbol_as_written(given);
  const Demangled demangled = runtime::demangled(symbol);
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
