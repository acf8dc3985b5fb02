#include "model/snapshot/typical_request.h"
#include "test/catch.h"

#include <algorithm>
#include <vector>

using namespace warplens;

namespace {

struct Request {
  std::uint64_t block;
  std::uint32_t warp, parts;
  std::uint64_t address;
};

model::TypicalRequest typical_of(const std::vector<Request>& requests) {
  model::TypicalRequestFinder finder;
  for (const Request& request : requests) {
    trace::WarpAccess access;
    access.active = 0b101;
    access.bytes = 8;
    access.addresses[0] = request.address;
    access.addresses[2] = request.address + 64;
    finder.add(access, request.parts, {request.block, request.warp});
  }
  return finder.result();
}

} // namespace

TEST_CASE("typical request: the first of the commonest number of parts") {
  const auto typical = typical_of({{0, 0, 2, 100}, {0, 1, 8, 200}, {0, 1, 8, 300}, {1, 0, 8, 400}});
  CHECK(typical.requests == 4);
  CHECK(typical.alike == 3);
  CHECK(typical.parts == 8);
  CHECK(typical.active == 0b101);
  CHECK(typical.bytes == 8);
  CHECK(typical.addresses[0] == 200);
  CHECK(typical.addresses[2] == 264);
}

TEST_CASE("typical request: neither the order of warps nor a tie changes the result") {
  std::vector<Request> requests{{3, 0, 4, 1}, {0, 2, 4, 2}, {0, 1, 6, 3},
                                {2, 7, 6, 4}, {2, 6, 6, 5}, {9, 9, 4, 6}};
  std::sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
    return std::pair(a.block, a.warp) < std::pair(b.block, b.warp);
  });
  do {
    const auto typical = typical_of(requests);
    REQUIRE(typical.parts == 4);
    REQUIRE(typical.alike == 3);
    REQUIRE(typical.addresses[0] == 2);
  } while (std::next_permutation(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
    return std::pair(a.block, a.warp) < std::pair(b.block, b.warp);
  }));
}

TEST_CASE("typical request: none without requests") {
  CHECK(typical_of({}).requests == 0);
}
