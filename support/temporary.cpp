#include "support/temporary.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace warplens {
namespace {

// A signal handler must not remove a tree: ours only writes the signal's number into a pipe, at whose other
// end a thread removes the registered folders and then lets the signal have its normal effect.
int alarm_pipe[2] = {-1, -1};

extern "C" void ring_alarm(int signal) {
  const int saved_errno = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = write(alarm_pipe[1], &number, 1);
  while (signal == SIGPIPE) // a write to a closed pipe
    pause();
  errno = saved_errno;
}

class Registry {
public:
  /// Returns the registry, which lives until the process ends, so that the thread and late destructors can
  /// use it.
  static Registry& instance() {
    static Registry& registry = *new Registry;
    return registry;
  }
  void add(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    watch_signals();
    paths_.insert(path);
  }
  void drop(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    paths_.erase(path);
  }

private:
  Registry() {
    if (pipe2(alarm_pipe, O_CLOEXEC) != 0)
      return; // no descriptors left: destructors still remove the folders
    // The thread inherits a mask of all signals: a signal that interrupted it would block its own handling.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { wait_for_alarm(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Installs the handlers, again for each new folder: the one before may have been made while run() had the
  /// signals.
  void watch_signals() {
    if (alarm_pipe[1] < 0)
      return;
    struct sigaction action{};
    action.sa_handler = ring_alarm;
    action.sa_flags = SA_RESTART;
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
      struct sigaction before{};
      sigaction(signal, nullptr, &before);
      if (before.sa_handler == SIG_DFL) // a program that ignores or handles the signal decides itself
        sigaction(signal, &action, nullptr);
    }
  }

  void wait_for_alarm() {
    unsigned char number = 0;
    while (read(alarm_pipe[0], &number, 1) != 1)
      if (errno != EINTR)
        return;
    const std::lock_guard lock(mutex_); // never released: no thread makes or removes a folder any more
    for (const auto& path : paths_)
      for (int attempt = 0; attempt < 3; ++attempt) { // the rest of the program may still be writing there
        std::error_code problem;
        std::filesystem::remove_all(path, problem);
        if (!problem)
          break;
      }
    std::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    raise(number);
  }

  std::mutex mutex_;
  std::set<std::filesystem::path> paths_;
};

std::string parent() {
  const char* path = std::getenv("TMPDIR");
  return path && *path ? path : "/tmp";
}

} // namespace

Expected<TemporaryDirectory> TemporaryDirectory::create(const std::string& name) {
  const std::string path = parent() + "/warplens-" + name;
  if (mkdir(path.c_str(), 0700) != 0)
    return create();
  Registry::instance().add(path);
  return TemporaryDirectory(path);
}

Expected<TemporaryDirectory> TemporaryDirectory::create() {
  std::string path = parent() + "/warplens-XXXXXX";
  Registry& registry = Registry::instance();
  if (!mkdtemp(path.data()))
    return fail("cannot make a temporary folder {}: {}; set TMPDIR to a folder with room", path,
                std::strerror(errno));
  registry.add(path);
  return TemporaryDirectory(path);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}

void TemporaryDirectory::keep() {
  Registry::instance().drop(path_);
  kept_ = true;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty() || kept_)
    return;
  std::error_code ignored; // there is no sensible reaction to a folder that cannot be removed
  std::filesystem::remove_all(path_, ignored);
  Registry::instance().drop(path_);
}

} // namespace warplens
