// The probes in the CPU back end's device code, with a host compiler in Clang's place.
#include "test/catch.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __WARPLENS_CPU__ 1
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define __host__
#define __device__
#define __forceinline__ inline
#pragma GCC diagnostic ignored "-Wattributes" // __attribute__((device)) means nothing to a host compiler
// A function of the compiler's, which a template calls that is not instantiated here.
void* __cvta_shared_to_generic(std::size_t address);
#include <warplens/probe.h>

namespace {

struct Access {
  unsigned long long site;
  const volatile void* address;
  unsigned bytes, kind;
  friend bool operator==(const Access&, const Access&) = default;
};
std::vector<Access> accesses;

std::vector<Access> take() {
  return std::exchange(accesses, {});
}

struct Vector3 {
  float x, y, z;
};
struct alignas(16) Vector4 {
  float x, y, z, w;
};
struct alignas(32) Wide {
  double values[4];
};
struct Mixed {
  char tag;
  double value;
  int count;
};
struct Text {
  char characters[40];
};
struct Empty {};
struct Evasive {
  int value = 0;
  Evasive* operator&() { return nullptr; }
};

constexpr int sum(const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i)
    total += *warplens::load(1, &(values[i]));
  return total;
}

} // namespace

extern "C" void __warplens_access(unsigned long long site, const volatile void* address, unsigned bytes,
                                  unsigned kind) {
  accesses.push_back({site, address, bytes, kind});
}

TEST_CASE("Each probe reports site, address, size and kind, and returns its pointer") {
  double value = 0;
  CHECK(warplens::load(1, &value) == &value);
  CHECK(warplens::store(2, &value) == &value);
  CHECK(warplens::update(3, &value) == &value);
  CHECK(warplens::atomic(4, &value) == &value);
  CHECK(take() ==
        std::vector<Access>{{1, &value, 8, 0}, {2, &value, 8, 1}, {3, &value, 8, 2}, {4, &value, 8, 3}});
}

TEST_CASE("A barrier has neither an address nor a size, and keeps the value of its call") {
  const auto count = [](bool predicate) { return predicate ? 7 : 0; };
  CHECK((warplens::barrier(5), count(true)) == 7);
  CHECK(take() == std::vector<Access>{{5, nullptr, 0, 4}});
}

TEST_CASE("Qualifiers stay") {
  static_assert(std::is_same_v<decltype(warplens::load(1, static_cast<const volatile int*>(nullptr))),
                               const volatile int*>);
  static_assert(std::is_same_v<decltype(warplens::store(1, static_cast<volatile Vector3*>(nullptr))),
                               volatile Vector3*>);
  static_assert(
      std::is_same_v<decltype(warplens::address_of(std::declval<const Evasive&>())), const Evasive*>);
  volatile int value = 0;
  int array[3] = {};
  *warplens::store(1, &value) = 4;
  *warplens::atomic(2, array) = 5; // an array becomes a pointer, as in atomicAdd(array, 1)
  CHECK(value == 4);
  CHECK(take() == std::vector<Access>{{1, &value, 4, 1}, {2, array, 4, 3}});
}

TEST_CASE("A class is as many accesses as its alignment makes of it") {
  const auto widths = [](const auto& object) {
    warplens::load(7, &object);
    std::vector<unsigned> found;
    const char* expected = reinterpret_cast<const char*>(&object);
    for (const Access& access : take()) {
      CHECK(access.address == expected);
      CHECK(access.site == 7);
      found.push_back(access.bytes);
      expected += access.bytes;
    }
    return found;
  };
  CHECK(widths(Vector3()) == std::vector<unsigned>{4, 4, 4});
  CHECK(widths(Vector4()) == std::vector<unsigned>{16});
  CHECK(widths(Wide()) == std::vector<unsigned>{16, 16});
  CHECK(widths(Mixed()) == std::vector<unsigned>{8, 8, 8});
  CHECK(widths(Text()) == std::vector<unsigned>(40, 1)); // more than are unrolled: a loop
  CHECK(widths(Empty()).empty());
}

TEST_CASE("An object without a size makes no access") {
  int value = 0;
  CHECK(warplens::atomic(1, static_cast<void*>(&value)) == &value);
  CHECK(take().empty());
}

TEST_CASE("Under constant evaluation probes do nothing") {
  static constexpr int values[] = {1, 2, 3};
  static_assert(sum(values, 3) == 6);
  CHECK(take().empty());
  int count = 3;
  CHECK(sum(values, count) == 6);
  CHECK(take().size() == 3);
}

TEST_CASE("address_of() is not deceived by operator&") {
  Evasive object;
  CHECK(warplens::address_of(object) == static_cast<void*>(std::addressof(object)));
  (*warplens::store(1, warplens::address_of(object))).value = 2;
  CHECK(take() == std::vector<Access>{{1, std::addressof(object), 4, 1}});
}
