#include "runtime/cpu/execution/race_detector.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warplens::cpu {

bool Knowledge::covers(std::uint32_t other, Interval interval) const {
  return interval < clock.all || (other == thread && interval < own) ||
         (other / warp_lanes == thread / warp_lanes && interval < clock.warp[other % warp_lanes]) ||
         (!clock.each.empty() && interval < clock.each[other]);
}

void RaceDetector::begin(std::uint32_t threads, std::uint64_t shared_bytes, Report report) {
  threads_.assign(threads, {});
  met_.assign(threads, nullptr);
  open_groups_.assign(threads, 0);
  open_.clear();
  objects_.clear();
  global_words_.clear();
  copies_.clear();
  now_ = 0;
  ++block_; // empties all words
  if (words_.size() < (shared_bytes + 3) / 4)
    words_.resize((shared_bytes + 3) / 4);
  report_ = std::move(report);
}

/// Returns whether the thread can know that the other's interval is over.
bool RaceDetector::knows(std::uint32_t thread, std::uint32_t other, Interval interval) const {
  const Clock& clock = threads_[thread].knows;
  return interval < clock.all ||
         (thread / warp_lanes == other / warp_lanes && interval < clock.warp[other % warp_lanes]) ||
         (!clock.each.empty() && interval < clock.each[other]);
}

/// Calls `visit` with each word that the access touches, and a bit for each of its bytes.
template <class Visit>
void RaceDetector::visit_words(std::uint64_t address, std::uint64_t bytes, bool is_shared, Visit visit) {
  constexpr std::uint64_t word_bytes = 4;
  std::uint64_t end = address + bytes;
  if (is_shared)
    end = std::min<std::uint64_t>(end, words_.size() * word_bytes);
  for (std::uint64_t at = address; at < end; at = (at / word_bytes + 1) * word_bytes) {
    Word& word = is_shared ? words_[at / word_bytes] : global_words_[at / word_bytes];
    if (word.block != block_) {
      word.block = block_;
      word.writes.clear();
      word.reads.clear();
    }
    const std::uint64_t last = std::min(end, (at / word_bytes + 1) * word_bytes);
    visit(word, static_cast<std::uint8_t>(((1U << (last - at)) - 1) << at % word_bytes));
  }
}

void RaceDetector::access(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes, Access access,
                          const char* place) {
  const Race race{{}, 0, thread, nullptr, place, offset, bytes, true};
  visit_words(offset, bytes, true,
              [&](Word& word, std::uint8_t mask) { access_word(word, thread, mask, access, race); });
}

void RaceDetector::access_global(std::uint32_t thread, std::uint64_t address, std::uint64_t bytes,
                                 Access access, const char* place) {
  const Race race{{}, 0, thread, nullptr, place, address, bytes, false};
  visit_words(address, bytes, false,
              [&](Word& word, std::uint8_t mask) { access_word(word, thread, mask, access, race); });
}

/// Looks for races of an access to a word with those before it, and records it. `race` has what a report says
/// of the access.
void RaceDetector::access_word(Word& word, std::uint32_t thread, std::uint8_t mask, Access access,
                               const Race& race) {
  const bool only_reads = access == Access::read || access == Access::atomic_read;
  const bool is_atomic = access == Access::atomic || access == Access::atomic_read;
  const auto found = [&](RaceKind kind, std::uint32_t other, const char* others_place, bool is_copy) {
    Race one = race;
    one.kind = kind;
    one.first_thread = other;
    one.first_place = others_place;
    one.first_is_copy = is_copy;
    report_(one);
  };
  for (const Write& write : word.writes) {
    const bool is_copy =
        write.interval == in_flight; // of which not even its own thread knows whether it is over
    if (write.bytes & mask && (write.thread != thread || is_copy) && !(write.atomic && is_atomic) &&
        !knows(thread, write.thread, write.interval))
      found(only_reads ? RaceKind::read_after_write : RaceKind::write_after_write, write.thread, write.place,
            is_copy);
  }
  if (only_reads)
    return add_read(word, thread, mask, is_atomic, race.second_place);
  for (const Read& read : word.reads)
    if (read.bytes & mask && !(read.atomic && is_atomic))
      for (std::uint32_t rest = read.lanes; rest; rest &= rest - 1) {
        const std::uint32_t other =
            read.warp * warp_lanes + static_cast<std::uint32_t>(std::countr_zero(rest));
        if (other != thread && !knows(thread, other, read.interval)) {
          found(RaceKind::write_after_read, other, read.place, false);
          break; // the other lanes read at the same place
        }
      }
  add_write(word, thread, mask, is_atomic, race.second_place);
}

void RaceDetector::begin_copy(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes,
                              const char* place) {
  access(thread, offset, bytes, Access::write, place);
  visit_words(offset, bytes, true, [&](Word& word, std::uint8_t mask) {
    for (Write& write : word.writes)
      if (write.thread == thread && write.bytes & mask)
        write.interval = in_flight;
  });
  copies_.push_back({offset, bytes, thread, open_groups_[thread]});
}

void RaceDetector::end_copies(std::uint32_t thread) {
  ++open_groups_[thread];
}

void RaceDetector::wait_for_copies(std::uint32_t thread, std::uint32_t pending_groups,
                                   bool also_without_group) {
  const std::uint64_t open = open_groups_[thread];
  // The groups that may be left are the last ones that were ended, and the open one.
  const std::uint64_t first_left =
      also_without_group ? open + 1 : open - std::min<std::uint64_t>(open, pending_groups);
  std::erase_if(copies_, [&](const Copy& copy) {
    if (copy.thread != thread || copy.group >= first_left)
      return false;
    visit_words(copy.offset, copy.bytes, true, [&](Word& word, std::uint8_t mask) {
      for (Write& write : word.writes)
        if (write.thread == thread && write.bytes & mask && write.interval == in_flight)
          write.interval = threads_[thread].interval;
    });
    return true;
  });
}

void RaceDetector::add_read(Word& word, std::uint32_t thread, std::uint8_t bytes, bool atomic,
                            const char* place) {
  const Interval interval = threads_[thread].interval;
  const std::uint32_t warp = thread / warp_lanes, lane = 1U << thread % warp_lanes;
  for (auto read = word.reads.rbegin(); read != word.reads.rend(); ++read)
    if (read->warp == warp && read->interval == interval && read->bytes == bytes && read->atomic == atomic &&
        read->place == place) {
      read->lanes |= lane;
      return;
    }
  // Intervals that all threads know to be over race with no later access.
  const Interval known = threads_[thread].knows.all;
  std::erase_if(word.reads, [&](const Read& read) { return read.interval < known; });
  word.reads.push_back({interval, lane, static_cast<std::uint16_t>(warp), bytes, atomic, place});
}

/// Records a write. A later access that races with an access before this write also races with this write, or
/// is ordered after it: so this write replaces those accesses. An atomic access races with no atomic one, and
/// replaces only such, and of these only what it is ordered after: a later access can be ordered after the
/// one of two atomic accesses, and race with the other.
void RaceDetector::add_write(Word& word, std::uint32_t thread, std::uint8_t bytes, bool atomic,
                             const char* place) {
  const Interval known = threads_[thread].knows.all; // intervals that all threads know to be over
  const auto cover = [&](auto& accesses, auto stands_for) {
    std::erase_if(accesses, [&](auto& access) {
      if (stands_for(access))
        access.bytes &= static_cast<std::uint8_t>(~bytes);
      return access.bytes == 0 || access.interval < known;
    });
  };
  cover(word.writes, [&](const Write& write) {
    return !atomic ||
           (write.atomic && (write.thread == thread || knows(thread, write.thread, write.interval)));
  });
  cover(word.reads, [&](const Read&) { return !atomic; });
  word.writes.push_back(
      {threads_[thread].interval, static_cast<std::uint16_t>(thread), bytes, atomic, place});
}

/// Joins `from` into `to`. It belongs to a thread of that warp, or has no data of a warp.
void RaceDetector::join(Clock& to, const Clock& from, std::uint32_t threads_warp) const {
  to.all = std::max(to.all, from.all);
  if (to.each.empty())
    to.each.resize(threads_.size());
  for (std::size_t i = 0; i < from.each.size(); ++i)
    to.each[i] = std::max(to.each[i], from.each[i]);
  for (std::uint32_t lane = 0; lane < warp_lanes && threads_warp * warp_lanes + lane < to.each.size();
       ++lane) {
    Interval& known = to.each[threads_warp * warp_lanes + lane];
    known = std::max(known, from.warp[lane]);
  }
}

void RaceDetector::arrive(std::uint64_t number, std::uint32_t thread) {
  auto& meeting = open_[number];
  if (!meeting || meeting->closed)
    meeting = std::make_shared<Meeting>();
  meeting->waiting.push_back(thread);
  met_[thread] = meeting;
}

void RaceDetector::pass(std::uint64_t number, std::uint32_t thread) {
  auto& meeting = open_[number];
  if (!meeting || meeting->closed)
    meeting = std::make_shared<Meeting>();
  meeting->others_passed = true;
  join(meeting->joined, threads_[thread].knows, thread / warp_lanes);
  meeting->joined.each[thread] = threads_[thread].interval = ++now_;
}

/// Completes a meeting once all its threads have arrived.
void RaceDetector::close(Meeting& meeting, std::uint32_t alive) {
  meeting.closed = true;
  ++now_;
  if (!meeting.others_passed && meeting.waiting.size() >= alive) {
    meeting.of_all = true;
    meeting.joined.all = now_;
    return;
  }
  for (const std::uint32_t thread : meeting.waiting) {
    join(meeting.joined, threads_[thread].knows, thread / warp_lanes);
    meeting.joined.each[thread] = now_;
  }
}

void RaceDetector::learn(std::uint32_t thread, const Clock& clock) {
  Clock& knows = threads_[thread].knows;
  knows.all = std::max(knows.all, clock.all);
  const std::uint32_t first = thread / warp_lanes * warp_lanes;
  bool of_other_warps = false;
  for (std::uint32_t other = 0; other < clock.each.size(); ++other) {
    if (clock.each[other] <= knows.all)
      continue;
    if (other - first < warp_lanes)
      knows.warp[other - first] = std::max(knows.warp[other - first], clock.each[other]);
    else
      of_other_warps = true;
  }
  if (!of_other_warps)
    return;
  knows.each.resize(threads_.size());
  for (std::uint32_t other = 0; other < clock.each.size(); ++other)
    knows.each[other] = std::max(knows.each[other], clock.each[other]);
}

void RaceDetector::leave(std::uint64_t, std::uint32_t thread, std::uint32_t alive) {
  const std::shared_ptr<Meeting> meeting = std::exchange(met_[thread], nullptr);
  if (!meeting)
    return;
  if (!meeting->closed)
    close(*meeting, alive);
  if (meeting->of_all)
    threads_[thread].knows = {.all = meeting->joined.all, .warp = {}, .each = {}};
  else
    learn(thread, meeting->joined);
  threads_[thread].interval = std::max(threads_[thread].interval, now_);
}

void RaceDetector::arrive_at_object(std::uint64_t address, std::uint32_t thread) {
  Clock& clock = objects_[address];
  join(clock, threads_[thread].knows, thread / warp_lanes);
  clock.each[thread] = threads_[thread].interval = ++now_;
}

void RaceDetector::wait_for_object(std::uint64_t address, std::uint32_t thread) {
  learn(thread, objects_[address]);
}

Knowledge RaceDetector::publish(std::uint32_t thread) {
  Knowledge knowledge{threads_[thread].knows, thread, ++now_};
  threads_[thread].interval = now_;
  return knowledge;
}

void RaceDetector::learn(std::uint32_t thread, const Knowledge& knowledge) {
  Clock clock;
  join(clock, knowledge.clock, knowledge.thread / warp_lanes);
  clock.each[knowledge.thread] = std::max(clock.each[knowledge.thread], knowledge.own);
  learn(thread, clock);
}

} // namespace warplens::cpu
