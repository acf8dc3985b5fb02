#include "support/temporary.h"
#include "test/catch.h"
#include "toolchain/steps/compiler.h"

#include <fstream>

using namespace warplens;
using namespace warplens::toolchain;

namespace {
/// Returns the error of a command that /bin/sh runs under this name, with `verb` as its first argument.
std::string error_of(const std::string& name, const std::string& script) {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto program = folder->path() / name;
  std::ofstream(program) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto done = run_compiler({program.string(), "lower", "a.bc"});
  return done ? "" : done.error().message;
}
} // namespace

TEST_CASE("a stage that a signal ends is reported with its task") {
  CHECK(error_of("warplens-compile",
                 "echo 'Stack dump:' >&2\n"
                 "printf '0.\\tProgram arguments: x\\n' >&2\n"
                 "kill -SEGV $$\n") == "warplens-compile lower was ended by signal 11 (Segmentation fault)");
  CHECK(error_of("warplens-compile",
                 "echo 'Stack dump:' >&2\n"
                 "printf '0.\\tProgram arguments: x\\n1.\\tlowering a.cu\\n2.\\tbetween\\n' >&2\n"
                 "printf '3.\\tlowering kernel k(int*)\\n' >&2\n"
                 "kill -SEGV $$\n") ==
        "warplens-compile lower was ended by signal 11 (Segmentation fault) while "
        "lowering a.cu, lowering kernel k(int*)");
  CHECK(error_of("ld", "kill -KILL $$\n") ==
        "ld was ended by signal 9 (Killed); is the machine short of memory?");
  CHECK(error_of("ld", "echo ld: a.o: error: no\nexit 1\n") == "ld: a.o: error: no");
}
