// The figures of each kernel on a terminal, which change in place while trials run.
#pragma once

#include "model/model.h"

#include <cstddef>
#include <map>
#include <string>

namespace warplens::driver {

/// Lines below the stage's own on stderr, one for each kernel and GPU; nothing where that is no terminal.
class LiveTable {
public:
  explicit LiveTable(bool quiet);
  ~LiveTable(); ///< removes the lines
  LiveTable(const LiveTable&) = delete;

  void show(const model::TrialProgress& progress);
  /// Removes the lines until the next call of show(), for others to be printed.
  void hide();

private:
  void draw();

  bool is_shown_;
  std::map<std::size_t, std::string> lines_; ///< by the number of the kernel and GPU
  std::size_t drawn_ = 0;                    ///< lines on the terminal
};

/// Returns a line of at most `width` columns: the kernel, its time, hits and trials so far.
std::string live_line(const model::TrialProgress& progress, std::size_t width);

} // namespace warplens::driver
