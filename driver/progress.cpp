#include "driver/progress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace warplens::driver {

Stage::Stage(const char* verb, bool quiet)
    : verb_(verb), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {
  update("…");
}

Stage::~Stage() {
  if (pending_)
    std::fputs("\r\033[K", stderr);
}

void Stage::update(const std::string& text) {
  if (quiet_ || !terminal_)
    return;
  std::fputs(fmt::format("\r\033[K{:<11} {}", verb_, text).c_str(), stderr);
  std::fflush(stderr);
  pending_ = true;
}

void Stage::interrupt(const std::string& lines) {
  if (quiet_)
    return;
  std::fputs(((pending_ ? "\r\033[K" : "") + lines).c_str(), stderr);
  std::fflush(stderr);
  pending_ = false;
}

void Stage::done(const std::string& text) {
  if (quiet_)
    return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  std::fputs(fmt::format("{}{:<11} {} ({:.1f} s)\n", pending_ ? "\r\033[K" : "", verb_, text, elapsed.count())
                 .c_str(),
             stderr);
  pending_ = false;
}

void complain(const std::string& text) {
  std::fputs(fmt::format("warplens: {}\n", text).c_str(), stderr);
}

} // namespace warplens::driver
