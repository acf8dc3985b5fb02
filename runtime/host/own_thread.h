// Warplens' own threads within the user's program.
#pragma once

#include <csignal>
#include <utility>

namespace warplens::runtime {

/// Starts a thread (std::thread or std::jthread) that takes none of the program's signals: they are for the
/// program's own threads.
template <class Thread, class Body> Thread start_without_signals(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

} // namespace warplens::runtime
