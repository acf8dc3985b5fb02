#include "test/catch.h"
#include "vocabulary/access.h"
#include "vocabulary/geometry.h"
#include "vocabulary/round_up.h"

using namespace warplens;

namespace {

/// Checks that each value has a name of its own, and that the name leads back to it.
template <class Enumeration> void check_names(Enumeration last) {
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
    const auto value = static_cast<Enumeration>(i);
    CAPTURE(i, name_of(value));
    CHECK(value_named<Enumeration>(name_of(value)) == value);
  }
  const auto beyond = static_cast<Enumeration>(static_cast<unsigned>(last) + 1);
  CHECK(name_of(beyond) == "unknown");
  CHECK(!value_named<Enumeration>("unknown"));
  CHECK(!value_named<Enumeration>(""));
}

} // namespace

TEST_CASE("the names of accesses lead back to their values") {
  check_names(AccessKind::mark);
  check_names(Space::constant);
  check_names(CacheOperator::async_cg);
}

TEST_CASE("the names of accesses are those of CUDA and of the PTX ISA") {
  CHECK(name_of(AccessKind::update) == "update");
  CHECK(name_of(Space::shared) == "shared");
  CHECK(name_of(CacheOperator::nc) == "nc");
  CHECK(name_of(CacheOperator::none) == "none");
}

TEST_CASE("rounding up to multiples") {
  CHECK(round_up(0u, 32) == 0);
  CHECK(round_up(1u, 32) == 32);
  CHECK(round_up(32u, 32) == 32);
  CHECK(round_up(33u, 32) == 64);
  CHECK(round_up(33u, 0) == 33);
}

TEST_CASE("a line's sectors are counted by their mask") {
  for (unsigned mask = 0; mask <= whole_line; ++mask)
    CHECK(sector_count(mask) == static_cast<unsigned>(__builtin_popcount(mask)));
}
