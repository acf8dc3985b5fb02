// Checks that objcopy redirects exactly the calls that cuda_calls.h lists.
#include "test/catch.h"

#include <fstream>
#include <set>
#include <string>
#include <warplens/cuda_calls.h>

namespace {

using Lines = std::multiset<std::string>;

Lines lines_of(const char* path) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);)
    lines.insert(line);
  return lines;
}

} // namespace

TEST_CASE("Each call that matters is redirected, and its original named") {
  Lines expected;
#define REDIRECTED(result, name, parameters, arguments)                                                      \
  expected.insert(#name " __warplens_" #name);                                                               \
  expected.insert("__warplens_original_" #name " " #name);
#define OWN(result, name, parameters, arguments) expected.insert("__warplens_original_" #name " " #name);
  WARPLENS_REDIRECTED_CALLS(REDIRECTED)
  WARPLENS_OWN_CALLS(OWN)
  Lines found = lines_of(REDIRECTED_SYMBOLS);
  found.merge(lines_of(VARIANT_SYMBOLS));
  CHECK(found == expected);
}
