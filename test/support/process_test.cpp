#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace warplens;

TEST_CASE("a program's exit code, output and environment are passed on") {
  const auto finished = run({.arguments = {"sh", "-c", "echo $WARPLENS_TEST; echo err >&2; exit 7"},
                             .environment = {{"WARPLENS_TEST", "a b"}},
                             .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->exit_code == 7);
  CHECK(finished->signal == 0);
  CHECK(finished->output == "a b\nerr\n");
}

TEST_CASE("arguments reach the program as they are") {
  const auto finished = run({.arguments = {"printf", "%s|", "a b", "", "$x;`y`"}, .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->output == "a b||$x;`y`|");
}

TEST_CASE("a program starts in the given folder") {
  const auto finished = run({.arguments = {"pwd", "-P"}, .directory = "/usr", .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->output == "/usr\n");
  const auto nowhere = run({.arguments = {"pwd"}, .directory = "/nonexistent/folder"});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message == "cannot run pwd in /nonexistent/folder: no such folder");
}

TEST_CASE("a program that cannot be started is an error in one line") {
  const auto missing = run({.arguments = {"warplens-no-such-program"}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message ==
        "cannot run warplens-no-such-program: no such program; is it installed and in PATH?");
  const auto not_executable = run({.arguments = {"/etc/passwd"}});
  REQUIRE_FALSE(not_executable);
  CHECK(not_executable.error().message == "cannot run /etc/passwd: Permission denied");
  CHECK_FALSE(run({}));
}

TEST_CASE("a program that a signal ends is distinguished from one that exits") {
  const auto finished = run({.arguments = {"sh", "-c", "kill -SEGV $$"}});
  REQUIRE(finished);
  CHECK(finished->signal == SIGSEGV);
  CHECK(finished->exit_code == 128 + SIGSEGV);
}

TEST_CASE("a program and its children may take no more processor time than the limit") {
  const auto finished = run({.arguments = {"sh", "-c", "sleep 0.5; sh -c 'while :; do :; done'; echo $?"},
                             .capture_output = true,
                             .processor_time = std::chrono::seconds(1)});
  REQUIRE(finished);
  CHECK(finished->output.find(std::to_string(128 + SIGXCPU)) != std::string::npos);
}

TEST_CASE("more output than a pipe holds is captured whole") {
  const auto finished = run({.arguments = {"head", "-c", "1000000", "/dev/zero"}, .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->output.size() == 1000000);
}

TEST_CASE("signals are passed on to every child and leave us alive") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  std::atomic<int> ended{0};
  auto wait_for_signal = [&](const std::string& name) {
    const std::string started = quote({(folder->path() / name).string()});
    const auto finished = run({.arguments = {"sh", "-c", "> " + started + "; exec sleep 60"}});
    if (finished && finished->signal == SIGTERM)
      ++ended;
  };
  std::thread first(wait_for_signal, "first"), second(wait_for_signal, "second");
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  auto have_started = [&] {
    return std::filesystem::exists(folder->path() / "first") &&
           std::filesystem::exists(folder->path() / "second");
  };
  while (!have_started() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(getpid(), SIGTERM);
  first.join();
  second.join();
  CHECK(ended == 2);
}

TEST_CASE("signals reach every one of more than 256 children") {
  constexpr int count = 270;
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int child = 0; child < count; ++child)
    threads.emplace_back([&, child] {
      const std::string started = quote({(folder->path() / std::to_string(child)).string()});
      const auto finished = run({.arguments = {"sh", "-c", "> " + started + "; exec sleep 20"}});
      ended += finished && finished->signal == SIGTERM;
    });
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  const auto have_started = [&] {
    return std::distance(std::filesystem::directory_iterator(folder->path()), {}) == count;
  };
  while (!have_started() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(getpid(), SIGTERM);
  for (std::thread& thread : threads)
    thread.join();
  CHECK(ended == count);
}

namespace {

/// Waits until the file exists, for 30 seconds at most.
void wait_for(const std::filesystem::path& file) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Runs a shell that makes the file `started` and waits for its child, which holds the output open: run()
/// would wait for that, too.
Expected<Finished> run_shell_with_child(const std::filesystem::path& started, Cancellation& cancellation) {
  return run({.arguments = {"sh", "-c", "sleep 60 & > " + quote({started.string()}) + "; wait"},
              .capture_output = true,
              .cancellation = &cancellation});
}

} // namespace

TEST_CASE("a cancelled command ends with all its children, and later ones do not start") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto started = folder->path() / "started";
  Cancellation cancellation;
  std::thread canceller([&] {
    wait_for(started);
    cancellation.cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto finished = run_shell_with_child(started, cancellation);
  canceller.join();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().message == "sh was no longer needed");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(40));
  const auto late = folder->path() / "late";
  CHECK_FALSE(run({.arguments = {"touch", late.string()}, .cancellation = &cancellation}));
  CHECK_FALSE(std::filesystem::exists(late));
}

TEST_CASE("a command that is cancelled with a grace ends by itself, or is killed once it is over") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  // The shell notes each signal; the first one goes on, as a program that passes it to its children does.
  const auto script = [&](const std::string& on_signal) {
    return fmt::format("n=0; trap 'n=$((n+1)); {}' TERM; echo > {}; while :; do sleep 0.05; done", on_signal,
                       (folder->path() / "started").string());
  };
  const auto cancelled = [&](const std::string& on_signal) {
    std::filesystem::remove(folder->path() / "started");
    Cancellation cancellation(std::chrono::milliseconds(1500));
    std::thread canceller([&] {
      wait_for(folder->path() / "started");
      cancellation.cancel();
    });
    const auto finished = run({.arguments = {"sh", "-c", script(on_signal)},
                               .capture_output = true,
                               .cancellation = &cancellation});
    canceller.join();
    REQUIRE_FALSE(finished);
    CHECK(finished.error().message == "sh was no longer needed");
  };
  const std::string file = (folder->path() / "signals").string();
  cancelled(fmt::format("echo $n > {}; [ $n = 2 ] && exit 0", file));
  CHECK(read_file(file).value_or("") == "2\n");
  const auto begin = std::chrono::steady_clock::now();
  cancelled("true"); // never ends
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(1500));
}

TEST_CASE("signals reach the processes that a cancellable command has started") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto started = folder->path() / "started";
  Cancellation cancellation;
  std::thread sender([&] {
    wait_for(started);
    kill(getpid(), SIGTERM);
  });
  const auto finished = run_shell_with_child(started, cancellation);
  sender.join();
  REQUIRE(finished);
  CHECK(finished->signal == SIGTERM);
}

TEST_CASE("the folder of the running executable is the build folder of this test") {
  CHECK(std::filesystem::exists(executable_directory() / "test_support"));
}

TEST_CASE("stdout and stderr may go to files of their own, and variables may be kept from a child") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto out = folder->path() / "out", err = folder->path() / "err";
  const auto finished = run({.arguments = {"sh", "-c", "echo \"to stdout${A-}\"; echo to stderr >&2"},
                             .without = {"A"},
                             .stdout_file = out,
                             .stderr_file = err});
  REQUIRE(finished);
  const auto first_line = [](const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
  };
  CHECK(first_line(out) == "to stdout");
  CHECK(first_line(err) == "to stderr");
}
