// Child processes, started without a shell.
#pragma once

#include "support/expected.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace warplens {

/// Cancels running commands whose result is no longer needed; any thread may call it. Each command runs in a
/// process group of its own, so that the processes it has started (cc1plus by gcc) end with it.
class Cancellation {
public:
  /// With a grace, commands get SIGTERM until it is over, by which they can end children of their own and
  /// remove their files; then they are killed.
  explicit Cancellation(std::chrono::milliseconds grace = {}) : grace_(grace) {}

  /// Ends the running commands; commands that have not started yet are not started.
  void cancel();

private:
  friend class CancellableChild;
  const std::chrono::milliseconds grace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  std::set<pid_t> groups_;
};

struct Command {
  std::vector<std::string> arguments; ///< arguments[0] is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>>
      environment;                  ///< added to ours, replacing variables of the same name
  std::vector<std::string> without; ///< variables of ours that the child does not get
  std::filesystem::path
      directory;                 ///< the child's folder, to which a relative arguments[0] refers; empty: ours
  bool has_no_input = false;     ///< the child's stdin is empty instead of ours
  bool stdout_to_stderr = false; ///< the child's stdout goes to our stderr
  bool capture_output = false;   ///< stdout and stderr together into Finished::output instead of ours
  std::filesystem::path stdout_file, stderr_file; ///< these files instead of ours; empty: ours
  /// The limit after which a child, or one of its own, gets SIGXCPU; 0: ours.
  std::chrono::seconds processor_time{0};
  Cancellation* cancellation = nullptr; ///< may end it before its time; null: none
};

struct Finished {
  int exit_code = 0; ///< 128 + signal if a signal ended it
  int signal = 0;    ///< 0: it exited
  std::string output;
};

/// Runs the command to its end; several threads may each run a child. SIGINT, SIGTERM and SIGHUP that reach
/// us while we wait are passed on to the children and end only them. An error means that it could not be
/// started, or that it was cancelled.
Expected<Finished> run(const Command& command);

/// Returns the last signal that was passed on to children; 0: there was none. A server ends by it once its
/// child has.
int last_signal_passed_on();

/// Replaces this process by the program, with our environment and files; returns only if it cannot be
/// started.
Error replace_with(const std::vector<std::string>& arguments);

/// Returns the command as one could type it into a shell.
std::string quote(const std::vector<std::string>& arguments);

/// Splits a text as a POSIX shell splits words (quotes, backslashes), without expansions.
Expected<std::vector<std::string>> split_words(const std::string& text);

/// Returns the folder of the running executable.
std::filesystem::path executable_directory();

} // namespace warplens
