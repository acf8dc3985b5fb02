// Warplens' own threads within the user's program.
#pragma once

#include <csignal>
#include <utility>

namespace warplens::runtime {

/// Starts a thread (std::thread or std::jthread) that takes none of the program's signals: they are for the
/// program's own threads.
template <class Thread, class Body> Thread start_without_signals(Body body) {
  struct Mask {
    Mask() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); } // also where the system refuses the thread
    sigset_t before;
  };
  const Mask mask;
  return Thread(std::move(body));
}

} // namespace warplens::runtime
