// LAPACK, which computes what cuSOLVER's functions return. It is the machine's own shared library
// (liblapack.so.3), loaded by the first call that needs it: programs that solve nothing need none.
#pragma once

#include "runtime/cpu/libraries/numbers.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace warplens::libraries {

/// Returns LAPACK's function of this name, or null where the machine has no LAPACK.
void* lapack_function(const std::string& name);
bool has_lapack();

/// Calls a routine of LAPACK by its name without the letter of its type, such as "potrf". Pointers are passed
/// as they are and other arguments by reference, as Fortran takes them. A character's length follows all
/// arguments; further ones are ignored.
template <class T, class... Arguments>
void lapack(const std::string& routine, const Arguments&... arguments) {
  const char letter = std::is_same_v<T, float>                 ? 's'
                      : std::is_same_v<T, double>              ? 'd'
                      : std::is_same_v<T, std::complex<float>> ? 'c'
                                                               : 'z';
  const auto reference = []<class Argument>(const Argument& argument) -> const void* {
    if constexpr (std::is_pointer_v<Argument>)
      return argument;
    else
      return &argument;
  };
  using Routine = void (*)(decltype(reference(arguments))..., std::size_t, std::size_t, std::size_t);
  const auto function = reinterpret_cast<Routine>(lapack_function(letter + routine + "_"));
  function(reference(arguments)..., 1, 1, 1);
}

/// Calls `call(workspace, size)` for the size that a routine wants (-1), then with that workspace.
template <class T, class Call> void with_workspace(Call call) {
  T wanted{};
  call(&wanted, -1);
  std::vector<T> workspace(static_cast<std::size_t>(std::max(1.0, double(std::real(wanted)))));
  call(workspace.data(), static_cast<int>(workspace.size()));
}

} // namespace warplens::libraries
