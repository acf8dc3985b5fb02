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
  /// Adds new sites. Another object may add the same place (a header of two files): the first stays. It is an
  /// error if two places have one id.
  Expected<void> add(std::span<const SiteRecord> records);

  /// Returns the sites added since the last call.
  std::vector<Site> take_new();

private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Site> sites_;
  std::vector<std::uint64_t> new_;
};

} // namespace warplens::runtime
