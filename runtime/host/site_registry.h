// The sites of every instrumented object in the process.
#pragma once

#include "support/expected.h"
#include "trace/records.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>
#include <warplens/site_record.h>

namespace warplens::runtime {

class SiteRegistry {
public:
  /// Adds what is new. The same place may come again from another object (a header of two files): the first
  /// stays. The error tells of two places with one id.
  Expected<void> add(std::span<const SiteRecord> records);

  /// The sites added since the last call.
  std::vector<trace::Site> take_new();

private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, trace::Site> sites_;
  std::vector<std::uint64_t> new_;
};

} // namespace warplens::runtime
