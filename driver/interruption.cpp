#include "driver/interruption.h"

#include <atomic>
#include <csignal>

namespace warplens::driver {
namespace {

std::atomic<bool> interrupted = false;
struct sigaction before{};

void note(int signal) {
  interrupted = true;
  sigaction(signal, &before, nullptr);
}

} // namespace

InterruptionWatch::InterruptionWatch() {
  interrupted = false;
  struct sigaction action{};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before);
}

InterruptionWatch::~InterruptionWatch() {
  sigaction(SIGINT, &before, nullptr);
}

bool InterruptionWatch::was_interrupted() {
  return interrupted;
}

} // namespace warplens::driver
