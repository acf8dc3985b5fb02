// The progress lines that a person sees on stderr while the stages work.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace warplens::driver {

/// One stage: announces itself on a terminal, and prints its outcome and duration when it is done. Silent
/// under --quiet.
class Stage {
public:
  Stage(const char* verb, bool quiet);
  ~Stage(); ///< removes an unfinished announcement from the terminal
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Prints a line that the next one overwrites; only on terminals.
  void update(const std::string& text);
  /// Prints lines that stay, before the stage has ended.
  void interrupt(const std::string& lines);
  /// Prints the stage's last line.
  void done(const std::string& text);

private:
  const char* verb_;
  bool quiet_, terminal_, pending_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Prints "warplens: TEXT" on stderr.
void complain(const std::string& text);

} // namespace warplens::driver
