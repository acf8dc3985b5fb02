#include "driver/lsp/refresher.h"

#include <utility>

namespace warplens::driver::lsp {

Refresher::Refresher(ProfileRequest request, Callbacks callbacks)
    : request_(std::move(request)), callbacks_(std::move(callbacks)), thread_([this] { work(); }) {}

Refresher::~Refresher() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (Entry& entry : entries_) {
      entry.is_cancelled = true;
      entry.cancellation->cancel();
    }
  }
  changed_.notify_all();
  thread_.join();
}

void Refresher::start(const std::vector<std::string>& sources) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.job.sources == sources) {
      entry.is_cancelled = true;
      entry.cancellation->cancel();
    }
  entries_.emplace_back().job = {++jobs_, sources};
  changed_.notify_all();
}

void Refresher::cancel(std::uint64_t job) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.job.number == job) {
      entry.is_cancelled = true;
      entry.cancellation->cancel();
    }
}

void Refresher::work() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [this] { return is_ending_ || !entries_.empty(); });
    if (is_ending_)
      return;
    const Entry entry = entries_.front(); // it stays in the list while it runs, so that it can be cancelled
    lock.unlock();
    if (!entry.is_cancelled) {
      callbacks_.begins(entry.job);
      ProfileRequest request = request_;
      request.sources = entry.job.sources;
      const auto began = std::filesystem::file_time_type::clock::now();
      const auto result = profile_in_child(request, *entry.cancellation);
      lock.lock();
      const bool is_cancelled = entries_.front().is_cancelled;
      lock.unlock();
      callbacks_.ends(entry.job, is_cancelled ? nullptr : &result, began);
    }
    lock.lock();
    entries_.pop_front();
  }
}

} // namespace warplens::driver::lsp
