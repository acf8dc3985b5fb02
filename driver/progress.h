// What the person sees on stderr while the stages work.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace warplens::driver {

/// One stage: announces itself on a terminal, and says what it did and how long it took when it is done.
/// Silent under --quiet.
class Stage {
public:
  Stage(const char* verb, bool quiet);
  ~Stage(); ///< takes an unfinished announcement off the terminal
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// A line that is overwritten by the next; terminals only.
  void update(const std::string& text);
  /// The stage's last line.
  void done(const std::string& text);

private:
  const char* verb_;
  bool quiet_, terminal_, pending_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "warplens: TEXT" on stderr.
void complain(const std::string& text);

/// 1234567 → "1 234 567".
std::string group_digits(std::uint64_t number);

} // namespace warplens::driver
