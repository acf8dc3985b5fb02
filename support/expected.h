// Errors as values: one clear line for the person who runs Warplens (what, where, what to do).
#pragma once

#include <fmt/format.h>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace warplens {

/// A failure, described in one line without a trailing newline or full stop.
struct Error {
  std::string message;
};

template <class T> using Expected = tl::expected<T, Error>;

/// Builds the unexpected side of any Expected: `return fail("{}: no such file", path);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(text, std::forward<Args>(args)...)});
}

} // namespace warplens

#define WARPLENS_JOIN(a, b) a##b
#define WARPLENS_TRY(result, ...)                                                                            \
  if (auto result = (__VA_ARGS__); !result)                                                                  \
  return tl::unexpected(std::move(result).error())
#define WARPLENS_TRY_NUMBERED(number, ...) WARPLENS_TRY(WARPLENS_JOIN(tried_, number), __VA_ARGS__)

/// Returns the error of an Expected from the enclosing function, if it has one: `TRY(figures.finish());`
#define TRY(...) WARPLENS_TRY_NUMBERED(__COUNTER__, __VA_ARGS__)

/// Declares `name` as an Expected and returns its error, if it has one: `TRY_LET(text, read_file(path));`
#define TRY_LET(name, ...)                                                                                   \
  auto name = __VA_ARGS__;                                                                                   \
  if (!name)                                                                                                 \
  return tl::unexpected(name.error())
