// Errors as values: one clear line for the person who runs Warplens (what, where, what to do).
#pragma once

#include <fmt/format.h>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace warplens {

/// A failure, told in one line without a trailing newline or full stop.
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
