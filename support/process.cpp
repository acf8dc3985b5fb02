#include "support/process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace warplens {
namespace {

/// The target of kill() for one child: its id, the negative one if it leads a process group, or 0 if the
/// place is free. Places are added but never removed, so that the signal handler can go through them at any
/// time; there are as many as children ever ran at once.
struct ChildPlace {
  std::atomic<pid_t> target{0};
  ChildPlace* next = nullptr; ///< set before the place is visible to the handler
};

// The signal handler reads lock-free data: the children that run() waits for, and the last signal that was
// passed on.
constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP};
std::atomic<ChildPlace*> children{nullptr};
std::atomic<unsigned> signals_seen{0};
std::atomic<int> last_signal{0};

extern "C" void pass_on(int signal) {
  const int saved_errno = errno;
  last_signal = signal;
  ++signals_seen;
  for (const ChildPlace* child = children; child; child = child->next)
    if (const pid_t target = child->target; target != 0)
      kill(target, signal);
  errno = saved_errno;
}

/// Passes signals on to the children while an object of this class exists; afterwards they have their former
/// effect. A signal that we were started to ignore stays ignored.
class PassingOn {
public:
  PassingOn() {
    const std::lock_guard lock(mutex);
    if (users++ > 0)
      return;
    struct sigaction action{};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      sigaction(passed_on[i], nullptr, &before[i]);
      if (before[i].sa_handler != SIG_IGN)
        sigaction(passed_on[i], &action, nullptr);
    }
  }
  ~PassingOn() {
    const std::lock_guard lock(mutex);
    if (--users > 0)
      return;
    for (std::size_t i = 0; i < passed_on.size(); ++i)
      sigaction(passed_on[i], &before[i], nullptr);
  }
  PassingOn(const PassingOn&) = delete;
  PassingOn& operator=(const PassingOn&) = delete;

private:
  static inline std::mutex mutex;
  static inline unsigned users = 0;
  static inline std::array<struct sigaction, passed_on.size()> before{};
};

/// Registers a child's id for the handler. The id is unregistered before the child is reaped: it may then be
/// another process's.
class RegisteredChild {
public:
  RegisteredChild(pid_t target, unsigned signals_before_start) : place_(take_place(target)) {
    if (signals_seen != signals_before_start) // a signal arrived while the child was being started
      kill(target, last_signal);
  }
  ~RegisteredChild() { place_->target = 0; }
  RegisteredChild(const RegisteredChild&) = delete;
  RegisteredChild& operator=(const RegisteredChild&) = delete;

private:
  static ChildPlace* take_place(pid_t target) {
    for (ChildPlace* place = children; place; place = place->next)
      if (pid_t free = 0; place->target.compare_exchange_strong(free, target))
        return place;
    auto* added = new ChildPlace; // never freed: see ChildPlace
    added->target = target;
    added->next = children;
    while (!children.compare_exchange_weak(added->next, added)) {
    }
    return added;
  }

  ChildPlace* place_;
};

std::vector<std::string> merged_environment(const Command& command) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos)
      variables.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& name : command.without)
    variables.erase(name);
  for (const auto& [name, value] : command.environment)
    variables.insert_or_assign(name, value);
  std::vector<std::string> merged;
  for (const auto& [name, value] : variables)
    merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

class FileDescriptor {
public:
  ~FileDescriptor() { close(); }
  void close() {
    if (value >= 0)
      ::close(value);
    value = -1;
  }
  int value = -1;
};

/// Limits a child's processor time. Processes that it has already started are not limited.
void limit_processor_time(pid_t pid, std::chrono::seconds time) {
  struct rlimit limit{};
  if (time.count() == 0 || prlimit(pid, RLIMIT_CPU, nullptr, &limit) != 0)
    return;
  limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(time.count()));
  prlimit(pid, RLIMIT_CPU, &limit, nullptr);
}

void read_to_end(int descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      return;
  }
}

} // namespace

void Cancellation::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (const pid_t group : groups_)
    kill(-group, grace_.count() == 0 ? SIGKILL : SIGTERM);
  changed_.notify_all();
}

/// One child on a Cancellation's list, or on none if that is null. It leaves the list before it is reaped:
/// its id may then be another process's.
class CancellableChild {
public:
  explicit CancellableChild(Cancellation* cancellation) : cancellation_(cancellation) {}
  ~CancellableChild() { forget(); }
  CancellableChild(const CancellableChild&) = delete;
  CancellableChild& operator=(const CancellableChild&) = delete;

  /// Calls `spawn`, which sets the id, unless the cancellation came first; returns whether it called.
  template <class Spawn> bool start(const pid_t& pid, const Spawn& spawn) {
    std::unique_lock<std::mutex> lock;
    if (cancellation_)
      lock = std::unique_lock(cancellation_->mutex_);
    if (cancellation_ && cancellation_->cancelled_)
      return false;
    spawn();
    if (cancellation_ && pid > 0) {
      cancellation_->groups_.insert(group_ = pid);
      if (cancellation_->grace_.count() != 0)
        end_of_grace_ = std::thread([this] { wait_for_grace(); });
    }
    return true;
  }
  /// Takes the child off the list; returns whether it was cancelled.
  bool forget() {
    if (!cancellation_)
      return false;
    std::unique_lock lock(cancellation_->mutex_);
    cancellation_->groups_.erase(group_);
    is_forgotten_ = true;
    const bool cancelled = cancellation_->cancelled_;
    lock.unlock();
    cancellation_->changed_.notify_all();
    if (end_of_grace_.joinable())
      end_of_grace_.join();
    return cancelled;
  }
  /// Returns whether a cancelled child may have ended in another way than by SIGKILL.
  bool had_grace() const { return cancellation_ && cancellation_->grace_.count() != 0; }

private:
  /// Repeats SIGTERM, since a child of ours passes each on to those that it waits for and goes on, until it
  /// has ended; and kills it once the grace is over.
  void wait_for_grace() {
    constexpr std::chrono::milliseconds pause{200};
    const auto forgotten = [this] { return is_forgotten_; };
    std::unique_lock lock(cancellation_->mutex_);
    cancellation_->changed_.wait(lock, [this] { return is_forgotten_ || cancellation_->cancelled_; });
    for (std::chrono::milliseconds waited{0}; !is_forgotten_ && waited < cancellation_->grace_;
         waited += pause)
      if (!cancellation_->changed_.wait_for(lock, pause, forgotten))
        kill(-group_, SIGTERM);
    if (!is_forgotten_)
      kill(-group_, SIGKILL);
  }

  Cancellation* cancellation_;
  pid_t group_ = 0;
  bool is_forgotten_ = false;
  std::thread end_of_grace_;
};

Expected<Finished> run(const Command& command) {
  if (command.arguments.empty() || command.arguments[0].empty())
    return fail("there is no program to run");
  const std::string& program = command.arguments[0];
  if (std::error_code ignored;
      !command.directory.empty() && !std::filesystem::is_directory(command.directory, ignored))
    return fail("cannot run {} in {}: no such folder", program, command.directory.string());

  FileDescriptor readable, writable;
  if (command.capture_output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return fail("cannot run {}: no pipe for its output: {}", program, std::strerror(errno));
    readable.value = ends[0];
    writable.value = ends[1];
  }

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!command.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  if (command.has_no_input)
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (command.capture_output) {
    posix_spawn_file_actions_adddup2(&actions, writable.value, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, writable.value, STDERR_FILENO);
  } else if (command.stdout_to_stderr) {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  const auto write_to = [&](int descriptor, const std::filesystem::path& file) {
    if (!file.empty())
      posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
  };
  write_to(STDOUT_FILENO, command.stdout_file);
  write_to(STDERR_FILENO, command.stderr_file);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = merged_environment(command);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (command.cancellation) // group 0: the group with the child's id
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  const PassingOn passing_on;
  const unsigned signals_before_start = signals_seen;
  pid_t pid = 0;
  int problem = 0;
  CancellableChild cancellable(command.cancellation);
  const bool started = cancellable.start(pid, [&] {
    problem = posix_spawnp(&pid, program.c_str(), &actions, &attributes, pointers(arguments).data(),
                           pointers(environment).data());
  });
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  const auto cancelled = [&] { return fail("{} was no longer needed", program); };
  if (!started)
    return cancelled();
  if (problem == ENOENT)
    return fail("cannot run {}: no such program; is it installed and in PATH?", program);
  if (problem != 0)
    return fail("cannot run {}: {}", program, std::strerror(problem));

  Finished finished;
  {
    const RegisteredChild registered(command.cancellation ? -pid : pid, signals_before_start);
    limit_processor_time(pid, command.processor_time);
    if (command.capture_output) {
      writable.close();
      read_to_end(readable.value, finished.output);
    }
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }
  const bool was_cancelled = cancellable.forget();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return fail("lost sight of {}: {}", program, std::strerror(errno));
  finished.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (was_cancelled && (finished.signal == SIGKILL || cancellable.had_grace()))
    return cancelled();
  finished.exit_code = finished.signal ? 128 + finished.signal : WEXITSTATUS(status);
  return finished;
}

int last_signal_passed_on() {
  return last_signal;
}

Error replace_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  execvp(words.front().c_str(), pointers(words).data());
  return {fmt::format("cannot run {}: {}", words.front(), std::strerror(errno))};
}

std::filesystem::path executable_directory() {
  std::error_code problem; // /proc exists on all supported systems; without it, the current folder
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", problem);
  return problem ? std::filesystem::path(".") : executable.parent_path();
}

} // namespace warplens
