#include "support/temporary.h"
#include "test/catch.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace warplens;

namespace {

void fill(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "a" / "b");
  std::ofstream(folder / "a" / "b" / "file") << "text";
}

} // namespace

TEST_CASE("a temporary folder is private and removed afterwards") {
  std::filesystem::path path;
  {
    auto folder = TemporaryDirectory::create();
    REQUIRE(folder);
    path = folder->path();
    fill(path);
    struct stat status{};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    const TemporaryDirectory moved = std::move(*folder);
    CHECK(moved.path() == path);
    CHECK(folder->path().empty());
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a temporary folder that is kept stays") {
  std::filesystem::path path;
  {
    auto folder = TemporaryDirectory::create();
    REQUIRE(folder);
    path = folder->path();
    folder->keep();
  }
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove_all(path);
}

TEST_CASE("without a place for temporary folders the error says which place") {
  const char* before = std::getenv("TMPDIR");
  const std::optional<std::string> saved = before ? std::optional<std::string>(before) : std::nullopt;
  setenv("TMPDIR", "/nonexistent", 1);
  const auto folder = TemporaryDirectory::create();
  if (saved)
    setenv("TMPDIR", saved->c_str(), 1);
  else
    unsetenv("TMPDIR");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message.find("/nonexistent/warplens-") != std::string::npos);
}

TEST_CASE("temporary folders are removed after a signal, which still ends the process") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGPIPE);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  // The test needs a fresh process: it re-executes itself, since the registry's thread does not survive a
  // fork.
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(self.c_str(), self.c_str(), "[.folder-until-killed]", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  for (char next = 0; text.find('\n') == std::string::npos && read(ends[0], &next, 1) == 1;)
    text += next;
  close(ends[0]);
  const std::filesystem::path path = text.substr(0, text.find('\n'));
  CHECK(std::filesystem::exists(path / "a" / "b" / "file"));
  kill(child, signal);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  CHECK_FALSE(std::filesystem::exists(path));
}

// This is no test of its own: the test above starts and kills it. It writes the path of its folder and waits,
// for a minute at most.
TEST_CASE("a folder until killed", "[.folder-until-killed]") {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  fill(folder->path());
  const std::string text = folder->path().string() + "\n";
  REQUIRE(write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  alarm(60);
  for (;;)
    pause(); // returns when the handler has run; the folder and the process end a little later
}

TEST_CASE("a temporary folder may have a name of its own, until it is taken") {
  const auto first = TemporaryDirectory::create("a-name");
  REQUIRE(first);
  CHECK(first->path().filename() == "warplens-a-name");
  const auto second = TemporaryDirectory::create("a-name");
  REQUIRE(second);
  CHECK(second->path() != first->path());
}
