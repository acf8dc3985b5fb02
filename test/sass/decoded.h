// Code tables for the tests.
#pragma once

#include "sass/decode.h"
#include "support/files.h"
#include "test/catch.h"

#include <string>

namespace warplens::sass {

/// Returns the bytes of kernels/reduce.cu, compiled for sm_80 or sm_100 with -lineinfo by nvcc 13.0.88.
inline std::string recorded_cubin(int architecture) {
  const auto bytes =
      read_file(std::string(WARPLENS_SASS_KERNELS) + "/reduce.sm_" + std::to_string(architecture) + ".cubin");
  REQUIRE(bytes);
  return *bytes;
}

inline Expected<CodeTable> decode(const std::string& bytes) {
  return decode(std::as_bytes(std::span(bytes)));
}

/// Returns the names of the registers, with a blank between them.
template <class List> std::string names_of(const List& registers) {
  std::string text;
  for (const RegisterSpan span : registers)
    text += (text.empty() ? "" : " ") + name_of(span);
  return text;
}

} // namespace warplens::sass
