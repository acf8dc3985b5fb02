// Profiles programs in the background, one after the other.
#pragma once

#include "driver/stages/profile_in_child.h"
#include "support/process.h"

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace warplens::driver::lsp {

/// A profile under way, or one that waits.
struct RefreshJob {
  std::uint64_t number = 0; ///< by which its begin, its end and a cancellation name it
  std::vector<std::string> sources;
};

class Refresher {
public:
  struct Callbacks {
    std::function<void(const RefreshJob&)> begins;
    /// The result is an error if the program could not be profiled; null: it was cancelled.
    std::function<void(const RefreshJob&, const Expected<Result>*, std::filesystem::file_time_type began)>
        ends;
  };

  /// Both callbacks come from a thread of its own. `request` says how programs are profiled.
  Refresher(ProfileRequest request, Callbacks callbacks);
  /// Ends the child that runs, and waits for it.
  ~Refresher();
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;

  /// Profiles the program anew; a profile of it that runs or waits ends.
  void start(const std::vector<std::string>& sources);
  void cancel(std::uint64_t job);

private:
  struct Entry {
    RefreshJob job;
    std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>(grace_of_profile);
    bool is_cancelled = false;
  };

  void work();

  ProfileRequest request_;
  Callbacks callbacks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_; ///< the first one runs
  std::uint64_t jobs_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

} // namespace warplens::driver::lsp
