// Tests the instrumentation patch: patch and git apply it, and the result is the text that instrument()
// returns.
#include "support/process.h"
#include "test/catch.h"
#include "test/rewriter/fixture.h"

using namespace warplens;

namespace {

int exit_code_in(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                 std::string& output) {
  Command command;
  command.arguments = arguments;
  command.directory = directory;
  command.capture_output = true;
  const auto finished = run(command);
  output = finished ? finished->output : finished.error().message;
  return finished ? finished->exit_code : -1;
}

/// Makes a folder the current one as long as it lives.
class InDirectory {
public:
  explicit InDirectory(const std::filesystem::path& directory) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(directory);
  }
  ~InDirectory() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }

private:
  std::filesystem::path before_;
};

/// Copies the sources into a fresh folder, patches them there, and compares the results.
void check_patch(const rewriter::Instrumented& instrumented, const std::vector<std::string>& tool) {
  const TemporaryDirectory place = test::folder();
  for (const rewriter::RewrittenFile& file : instrumented.files)
    test::write(place.path() / file.original, file.unchanged);
  const std::filesystem::path diff = place.path() / "instrumentation.patch";
  test::write(diff, rewriter::print_instrumentation_patch(instrumented, "/include"));
  std::vector<std::string> arguments = tool;
  arguments.push_back(diff.string());
  std::string output;
  INFO(test::read(diff));
  const int exit_code = exit_code_in(place.path(), arguments, output);
  INFO(output);
  REQUIRE(exit_code == 0);
  CHECK(output.find("fuzz") == std::string::npos);
  for (const rewriter::RewrittenFile& file : instrumented.files)
    CHECK(test::read(place.path() / file.original) == file.patched);
}

const std::vector<std::string> gnu_patch{"patch", "-p0", "--batch", "-i"};
const std::vector<std::string> git_apply{"git", "apply", "-p0"};

} // namespace

TEST_CASE("patch and git apply the diff") {
  const TemporaryDirectory copies = test::folder();
  for (const char* name : {"accesses.cu", "macros.cu", "templates.cu"}) {
    const auto instrumented = test::rewrite(name, copies.path());
    check_patch(instrumented, gnu_patch);
    check_patch(instrumented, git_apply);
  }
}

TEST_CASE("a patched source compiles") {
  const TemporaryDirectory copies = test::folder(), place = test::folder();
  for (const rewriter::RewrittenFile& file : test::rewrite("templates.cu", copies.path()).files)
    test::write(place.path() / file.original, file.patched);
  for (const char* untouched : {"headers/host.h", "headers/plain.h"})
    test::write(place.path() / untouched, test::read(untouched));
  CHECK(test::complaints_of_clang(place.path() / "templates.cu") == "");
}

TEST_CASE("the diff of odd files") {
  const std::string kernel = "__global__ void k(int* p) { p[0] = 1; }", blank_lines(20, '\n');
  const std::vector<std::string> texts{kernel, // no newline at the end
                                       kernel + "\n",
                                       "\xef\xbb\xbf" + kernel + "\n",   // a byte order mark
                                       "// first\r\n" + kernel + "\r\n", // DOS line ends
                                       kernel + blank_lines + "// far apart" + blank_lines,
                                       kernel + blank_lines +
                                           "__global__ void l(int* p) { p[1]++; }", // several hunks
                                       "int main() {}\n"};                          // no device code at all
  for (const std::string& text : texts) {
    CAPTURE(text);
    const TemporaryDirectory place = test::folder();
    rewriter::Instrumented instrumented;
    {
      const InDirectory there(place.path());
      test::write("with blanks.cu", text);
      instrumented = test::rewrite("with blanks.cu", place.path() / "copies");
    }
    check_patch(instrumented, gnu_patch);
    check_patch(instrumented, git_apply);
  }
}
