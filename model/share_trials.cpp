#include "model/share_trials.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace warplens::model {
namespace {

[[noreturn]] void refuse_other_trace() {
  throw std::runtime_error("the processes that mpirun started do not model the same trace");
}

/// Values as bytes, one after the other: all processes run the same program on the same kind of processor.
class Packer {
public:
  template <class Value> void add(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    add_bytes(&value, sizeof value);
  }
  template <class Value> void add(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    add(std::uint64_t{values.size()});
    add_bytes(values.data(), values.size() * sizeof(Value));
  }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

private:
  void add_bytes(const void* from, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
};

/// Reads what a Packer wrote; throws where the bytes end too early.
class Unpacker {
public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Value> void take(Value& value) { std::memcpy(&value, next(sizeof value), sizeof value); }
  template <class Value> void take(std::vector<Value>& values) {
    std::uint64_t size = 0;
    take(size);
    if (size > rest_.size() / sizeof(Value))
      refuse_other_trace();
    values.resize(size);
    if (size != 0)
      std::memcpy(values.data(), next(size * sizeof(Value)), size * sizeof(Value));
  }
  bool is_at_end() const { return rest_.empty(); }

private:
  const std::byte* next(std::size_t size) {
    if (rest_.size() < size)
      refuse_other_trace();
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(size);
    return at;
  }

  std::span<const std::byte> rest_;
};

void pack(const TrialCounts& trial, Packer& to) {
  to.add(static_cast<const TrialTotals&>(trial));
  to.add(trial.sites);
  to.add(trial.states);
}

TrialCounts unpack(Unpacker& from, std::size_t sites) {
  TrialCounts trial;
  from.take(static_cast<TrialTotals&>(trial));
  from.take(trial.sites);
  from.take(trial.states);
  if (trial.sites.size() != sites)
    refuse_other_trace();
  return trial;
}

} // namespace

void share(std::span<TrialCounts> batch, std::uint32_t first, std::size_t sites, const Ranks& ranks) {
  if (ranks.count == 1)
    return;
  Packer mine;
  for (std::uint32_t i = 0; i < batch.size(); ++i)
    if (is_mine(first + i, ranks))
      pack(batch[i], mine);
  const std::vector<std::vector<std::byte>> all = ranks.exchange(std::move(mine).bytes());
  std::vector<Unpacker> unpackers(all.begin(), all.end());
  for (std::uint32_t i = 0; i < batch.size(); ++i)
    batch[i] = unpack(unpackers[(first + i) % ranks.count], sites);
  for (const Unpacker& unpacker : unpackers)
    if (!unpacker.is_at_end())
      refuse_other_trace();
}

} // namespace warplens::model
