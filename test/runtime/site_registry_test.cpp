#include "runtime/host/site_registry.h"
#include "test/catch.h"

using namespace warplens;

namespace {
constexpr unsigned long long dependences[] = {11, 12};
constexpr SiteRecord load{.id = 10,
                          .file = "a.cuh",
                          .line = 3,
                          .column = 9,
                          .expression = "y[ind]",
                          .kind = 0,
                          .space = 1,
                          .cache_operator = 8,
                          .element_bytes = 4,
                          .sequence = 2,
                          .object = "y",
                          .depends_on = dependences,
                          .depends_on_count = 2,
                          .macro = "LOAD",
                          .in_template = true,
                          .copies = 4,
                          .is_reduction = true,
                          .aggregation = 2,
                          .is_floating = true,
                          .waits = true};
} // namespace

TEST_CASE("A record becomes a site") {
  runtime::SiteRegistry registry;
  REQUIRE(registry.add({&load, 1}));
  const auto sites = registry.take_new();
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].id == 10);
  CHECK(sites[0].file == "a.cuh");
  CHECK(sites[0].line == 3);
  CHECK(sites[0].column == 9);
  CHECK(sites[0].expression == "y[ind]");
  CHECK(sites[0].kind == AccessKind::load);
  CHECK(sites[0].space == Space::global);
  CHECK(sites[0].cache_operator == CacheOperator::nc);
  CHECK(sites[0].element_bytes == 4);
  CHECK(sites[0].sequence == 2);
  CHECK(sites[0].object == "y");
  CHECK(sites[0].depends_on == std::vector<std::uint64_t>{11, 12});
  CHECK(sites[0].macro == "LOAD");
  CHECK(sites[0].in_template);
  CHECK(sites[0].copies == 4);
  CHECK(sites[0].is_reduction);
  CHECK(sites[0].aggregation == LaneAggregation::reduced);
  CHECK(sites[0].is_floating);
  CHECK(sites[0].waits);
}

TEST_CASE("A header of two files is one site") {
  runtime::SiteRegistry registry;
  SiteRecord other_instantiation = load;
  other_instantiation.element_bytes = 8;
  REQUIRE(registry.add({&load, 1}));
  REQUIRE(registry.add({&other_instantiation, 1}));
  CHECK(registry.take_new().size() == 1);
  REQUIRE(registry.add({&load, 1}));
  CHECK(registry.take_new().empty());
}

TEST_CASE("Two places with one id are refused") {
  runtime::SiteRegistry registry;
  SiteRecord elsewhere = load;
  elsewhere.line = 4;
  REQUIRE(registry.add({&load, 1}));
  const auto added = registry.add({&elsewhere, 1});
  REQUIRE_FALSE(added);
  CHECK(added.error().message.find("a.cuh:3:9 (y[ind]) and a.cuh:4:9 (y[ind])") == 0);
}
