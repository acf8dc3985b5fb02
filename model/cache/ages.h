// The LRU order of a set's ways: the age of a way is the number of others that were used after it. All ages
// are compared at once, so that a touch and a replacement are the same few steps for any number of ways.
#pragma once

#include "numeric/instructions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace warplens::model {

/// One bit for each way.
template <unsigned ways> struct WayBits {
  using Word = std::conditional_t<(ways > 16), std::uint64_t, unsigned>;
  static constexpr unsigned words = ways > 64 ? ways / 64 : 1;
  static_assert(ways <= 16 || ways == 64 * words);
  std::array<Word, words> of{};

  bool any() const {
    Word all = 0;
    for (const Word word : of)
      all |= word;
    return all != 0;
  }
  /// Returns the lowest way whose bit is set; there must be one.
  unsigned first() const {
    for (unsigned word = 0; word + 1 < words; ++word)
      if (of[word] != 0)
        return 64 * word + unsigned(std::countr_zero(of[word]));
    return 64 * (words - 1) + unsigned(std::countr_zero(of[words - 1]));
  }
};

/// Returns a bit for each of the 64 bytes that equals `wanted`.
template <class Instructions> std::uint64_t bytes_equal(const std::uint8_t* bytes, std::uint8_t wanted) {
  std::uint64_t found = 0;
#if defined(__x86_64__)
  const __m128i all = _mm_set1_epi8(char(wanted));
  for (unsigned at = 0; at < 64; at += 16) {
    const __m128i sixteen = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes + at));
    found |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, all)))) << at;
  }
#else
  for (unsigned at = 0; at < 64; ++at)
    found |= std::uint64_t(bytes[at] == wanted) << at;
#endif
  return found;
}
#if defined(__x86_64__)
template <>
[[gnu::target("avx2")]] inline std::uint64_t bytes_equal<Avx2Instructions>(const std::uint8_t* bytes,
                                                                           std::uint8_t wanted) {
  const __m256i all = _mm256_set1_epi8(char(wanted));
  std::uint64_t found = 0;
  for (unsigned at = 0; at < 64; at += 32) {
    const __m256i half = _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes + at));
    found |= std::uint64_t(std::uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, all)))) << at;
  }
  return found;
}
#endif

/// Ages of many ways, which are compared 64 at a time.
template <unsigned ways> struct Ages {
  alignas(64) std::uint8_t age_by_way[ways];

  void begin() {
    for (unsigned way = 0; way < ways; ++way)
      age_by_way[way] = std::uint8_t(way);
  }
  /// Returns the way whose bit is set; if there is none, the way of this age.
  template <class Instructions>
  [[gnu::always_inline]] unsigned choose(WayBits<ways> found, unsigned age) const {
    const std::uint64_t if_none = std::uint64_t{found.any()} - 1;
    for (unsigned word = 0; word < found.words; ++word)
      found.of[word] |= if_none & bytes_equal<Instructions>(age_by_way + 64 * word, std::uint8_t(age));
    return found.first();
  }
  /// Makes the way the youngest; those that were younger get older.
  [[gnu::always_inline]] void use(unsigned way) {
    // The ages have a sign where that changes nothing: one instruction compares such numbers.
    using Age = std::conditional_t<(ways <= 128), std::int8_t, std::uint8_t>;
    const auto age = Age(age_by_way[way]);
    for (unsigned other = 0; other < ways; ++other)
      age_by_way[other] = std::uint8_t(age_by_way[other] + (Age(age_by_way[other]) < age));
    age_by_way[way] = 0;
  }
};

/// Ages of at most sixteen ways.
template <unsigned ways>
  requires(ways <= 16)
struct Ages<ways> {
  std::uint8_t age_by_way[ways];

  void begin() {
    for (unsigned way = 0; way < ways; ++way)
      age_by_way[way] = std::uint8_t(way);
  }

#if defined(__x86_64__)
  template <class Instructions>
  [[gnu::always_inline]] unsigned choose(WayBits<ways> found, unsigned age) const {
    const auto oldest = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(load(), _mm_set1_epi8(char(age)))));
    return unsigned(std::countr_zero(found.of[0] | oldest << 16)) & 15;
  }
  [[gnu::always_inline]] void use(unsigned way) {
    const __m128i ages = load();
    // A byte is -1 where the comparison holds.
    const __m128i later = _mm_cmpgt_epi8(_mm_set1_epi8(char(age_by_way[way])), ages);
    store(_mm_sub_epi8(ages, reaches_beyond ? _mm_and_si128(later, ours()) : later));
    age_by_way[way] = 0;
  }

private:
  // Four, eight or sixteen bytes are read together; those behind nine ways must stay as they are.
  static constexpr bool reaches_beyond = ways > 8 && ways < 16;
  __m128i load() const {
    const auto* at = reinterpret_cast<const __m128i*>(age_by_way);
    if constexpr (ways <= 4)
      return _mm_cvtsi32_si128(std::bit_cast<int>(age_by_way));
    return ways <= 8 ? _mm_loadl_epi64(at) : _mm_loadu_si128(at);
  }
  void store(__m128i ages) {
    auto* at = reinterpret_cast<__m128i*>(age_by_way);
    if constexpr (ways <= 4) {
      const int four = _mm_cvtsi128_si32(ages);
      std::memcpy(age_by_way, &four, ways);
    } else if constexpr (ways <= 8) {
      _mm_storel_epi64(at, ages);
    } else {
      _mm_storeu_si128(at, ages);
    }
  }
  static __m128i ours() {
    alignas(16) static constexpr auto bytes = [] {
      std::array<std::uint8_t, 16> all{};
      std::fill_n(all.begin(), ways, std::uint8_t(0xff));
      return all;
    }();
    return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes.data()));
  }
#else
  template <class Instructions>
  [[gnu::always_inline]] unsigned choose(WayBits<ways> found, unsigned age) const {
    return found.any() ? found.first() : unsigned(std::find(age_by_way, age_by_way + ways, age) - age_by_way);
  }
  [[gnu::always_inline]] void use(unsigned way) {
    const std::uint8_t age = age_by_way[way];
    for (std::uint8_t& other : age_by_way)
      other += other < age;
    age_by_way[way] = 0;
  }
#endif
};

/// Makes the way the oldest of those that hold a line; `last` is the highest age that a set's way can have.
/// The ways that hold none are older than all others, and those that the set does not have hold none either.
template <unsigned ways, class IsUnused>
void make_oldest(Ages<ways>& ages, unsigned way, unsigned last, IsUnused is_unused) {
  unsigned unused = 0;
  for (unsigned other = 0; other < ways; ++other)
    unused += is_unused(other);
  const unsigned age = last - (unused - (ways - 1 - last));
  const unsigned before = ages.age_by_way[way];
  for (std::uint8_t& other : ages.age_by_way)
    if (other > before && other <= age)
      --other;
  if (before < age)
    ages.age_by_way[way] = std::uint8_t(age);
}

/// Ages of two ways: the number of the older one.
template <> struct Ages<2> {
  std::uint8_t older;

  void begin() { older = 1; }
  template <class Instructions> [[gnu::always_inline]] unsigned choose(WayBits<2> found, unsigned age) const {
    return found.any() ? found.of[0] >> 1 : older & age;
  }
  [[gnu::always_inline]] void use(unsigned way) { older = std::uint8_t(way ^ 1); }
};

} // namespace warplens::model
