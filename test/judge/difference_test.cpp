#include "judge/difference.h"
#include "judge/threshold.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <cmath>

using namespace warplens;
using namespace warplens::judge;

namespace {

const FigureChange& figure(const std::vector<FigureChange>& changes, std::string_view name) {
  const auto found = std::ranges::find(changes, name, &FigureChange::figure);
  REQUIRE(found != changes.end());
  return *found;
}

const SiteChange* change_of(const Difference& difference, const SiteResult& after) {
  for (const SiteChange& site : difference.kernels.at(0).sites)
    if (site.after == &after)
      return &site;
  return nullptr;
}

std::vector<Failure> failures(const Difference& difference, const Threshold& threshold) {
  static std::vector<Threshold> kept;
  kept = {threshold};
  const auto found = failures_in(difference, kept);
  REQUIRE(found.has_value());
  return *found;
}

std::string error_of(const std::string& text) {
  const auto threshold = parse_threshold(text);
  REQUIRE_FALSE(threshold.has_value());
  return threshold.error().message;
}

} // namespace

TEST_CASE("diff: a result and itself do not differ") {
  const Result result = test::sample_page_result();
  const Difference difference = compare(result, result, {});
  REQUIRE(difference.kernels.size() == 1);
  CHECK(difference.kernels[0].sites.size() == 5);
  CHECK(difference.kernels[0].removed.empty());
  for (const SiteChange& site : difference.kernels[0].sites)
    for (const FigureChange& change : site.figures)
      CHECK_FALSE(change.is_beyond_interval());
}

TEST_CASE("diff: the interval of a difference joins those of both means") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].totals.l1_read_hit_rate = test::statistic(0.433, 0.0061 * 4 / 3); // half widths 3 : 4 : 5
  FigureChange change = figure(compare(before, after, {}).kernels[0].totals, "l1_read_hit_rate");
  CHECK(change.difference() == Approx(0.002));
  CHECK(change.interval == Approx(0.0061 / 4 * 5 / 3));
  CHECK_FALSE(change.is_beyond_interval());
  change.after = 0.45;
  CHECK(change.is_beyond_interval());
}

TEST_CASE("diff: sites correspond when lines and folders moved") {
  const Result before = test::sample_result();
  Result after = before;
  for (SiteResult& site : after.kernels[0].sites) {
    site.site.line += 3;
    site.site.id += 1000;
    if (site.site.file == "spmv.cu")
      site.site.file = std::string("/other/spmv.cu");
  }
  const Difference difference = compare(before, after, {});
  CHECK(difference.kernels[0].sites.size() == 5);
  CHECK(difference.kernels[0].added.empty());
}

TEST_CASE(
    "diff: equal expressions correspond by id, else by order; a changed expression keeps its place's id") {
  Result before, after;
  const auto add = [](Result& result, std::uint64_t id, std::uint32_t line, const char* expression) {
    if (result.kernels.empty())
      result.kernels.emplace_back().name = std::string("k");
    result.kernels[0].sites.push_back(test::site(id, line, 1, expression, expression)); // an array of its own
  };
  add(before, 1, 10, "a[i]");
  add(before, 2, 11, "a[i]");
  add(before, 5, 20, "b[i]");
  add(before, 6, 30, "gone");
  // The first statement moves down to the line where the second was, and so on: they pair in order, whatever
  // the ids.
  add(after, 2, 11, "a[i]");
  add(after, 3, 12, "a[i]");
  add(after, 5, 20, "b[2 * i]");
  add(after, 7, 31, "new");
  const Difference moved = compare(before, after, {});
  const auto& sites = after.kernels[0].sites;
  CHECK(change_of(moved, sites[0])->before->site.id == 1);
  CHECK(change_of(moved, sites[1])->before->site.id == 2);
  CHECK(change_of(moved, sites[2])->before->site.id == 5);
  REQUIRE(moved.kernels[0].removed.size() == 1);
  CHECK(moved.kernels[0].removed[0]->site.id == 6);
  CHECK(moved.kernels[0].added[0]->site.id == 7);

  Result fewer;
  add(fewer, 2, 11, "a[i]"); // the first one was removed
  CHECK(compare(before, fewer, {}).kernels[0].sites.at(0).before->site.id == 2);
}

TEST_CASE("diff: kernels correspond by name and GPU") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].gpu = std::string("a100");
  const Difference other = compare(before, after, {});
  CHECK(other.kernels.empty());
  CHECK(other.removed.size() == 1);
  CHECK(other.added.size() == 1);
  DifferenceOptions none;
  none.wants_kernel = [](const std::string&) { return false; };
  CHECK(compare(before, before, none).kernels.empty());
  DifferenceOptions costly;
  costly.min_share = 0.2;
  CHECK(compare(before, before, costly).kernels[0].sites.size() == 3); // two costly ones, one without a share
}

TEST_CASE("diff: launches of one kernel correspond in order") {
  Result before = test::sample_result();
  before.kernels.push_back(before.kernels[0]);
  const Result after = before;
  const Difference difference = compare(before, after, {});
  REQUIRE(difference.kernels.size() == 2);
  for (std::size_t launch = 0; launch < 2; ++launch) {
    CHECK(difference.kernels[launch].before == &before.kernels[launch]);
    CHECK(difference.kernels[launch].after == &after.kernels[launch]);
  }
}

TEST_CASE("diff: several accesses of a line together, by hand") {
  // 100 executions of 4 sectors and 300 of 10 make 8.5; intervals of the sum add in quadrature.
  SiteResult few = test::site(1, 5, 1, "a[i]", "a"), many = test::site(2, 5, 9, "b[i]", "b");
  few.executions = 100;
  few.sectors_per_request = 4;
  few.latency_ns = test::statistic(100, 12); // ±3
  many.executions = 300;
  many.sectors_per_request = 10;
  many.latency_ns = test::statistic(200, 16); // ±4
  const std::vector<const SiteResult*> line = {&few, &many};
  const auto value = [&](std::string_view name) { return together(site_metric(name), line); };
  CHECK(value("sectors_per_request")->mean == Approx(8.5));
  CHECK(value("executions")->mean == Approx(400));
  CHECK(value("latency_ns")->mean == Approx(175));
  CHECK(value("latency_ns")->half_width == Approx(std::hypot(0.25 * 3, 0.75 * 4)));
  CHECK_FALSE(value("bank_conflicts").has_value());
  many.latency_ns = std::nullopt; // only one has it: the result is its own value
  CHECK(value("latency_ns")->mean == Approx(100));
}

TEST_CASE("--fail-if: the accepted syntax") {
  const Threshold rate = *parse_threshold("l1_hit_rate<-0.05");
  CHECK(rate.figure == "l1_hit_rate");
  CHECK_FALSE(rate.total);
  CHECK_FALSE(rate.relative);
  CHECK(rate.limit == -0.05);
  CHECK(rate.comparison == Threshold::Comparison::less);
  const Threshold bytes = *parse_threshold(" total.dram_read_bytes >= +1e1 % ");
  CHECK(bytes.total);
  CHECK(bytes.relative);
  CHECK(bytes.limit == 10);
  CHECK(bytes.comparison == Threshold::Comparison::at_least);
}

TEST_CASE("--fail-if: a syntax error is reported with its place") {
  CHECK(error_of("l1_hit_rate<<1") == "'l1_hit_rate<<1', character 13: expected a number");
  CHECK(error_of("latency_ns") == "'latency_ns', character 11: expected <, <=, > or >=");
  CHECK(error_of("latency_ns=1") == "'latency_ns=1', character 11: expected <, <=, > or >=");
  CHECK(error_of("latency_ns>1%%") == "'latency_ns>1%%', character 14: expected the end");
  CHECK(error_of("latency_ns>1ns") == "'latency_ns>1ns', character 13: expected % or the end");
  CHECK(error_of("latency_ns>inf") == "'latency_ns>inf', character 12: expected a number");
  CHECK(error_of(" l1_read_hit_rate<0") ==
        "' l1_read_hit_rate<0', character 2: l1_read_hit_rate is a total: write total.l1_read_hit_rate");
  for (const char* text : {"", "speed>1", "total.latency_ns>1", "<1"})
    CHECK(error_of(text).find("character 1: expected a figure") != std::string::npos);
}

TEST_CASE("--fail-if: beyond the threshold and beyond the interval, or nothing") {
  const Result before = test::sample_result();
  Result after = before;
  after.kernels[0].sites[3].l1_hit_rate = test::statistic(0.72, 0.004); // 0.82 before
  after.kernels[0].sites[3].latency_ns = test::statistic(1206, 30);     // within its interval
  const Difference difference = compare(before, after, {});
  CHECK(failures(difference, *parse_threshold("l1_hit_rate<-0.05")).size() == 1);
  CHECK(failures(difference, *parse_threshold("l1_hit_rate<-0.15")).empty());
  CHECK(failures(difference, *parse_threshold("l1_hit_rate<-10%")).size() == 1); // 12.2 % less
  CHECK(failures(difference, *parse_threshold("l1_hit_rate<-15%")).empty());
  CHECK(failures(difference, *parse_threshold("latency_ns>0.1")).empty());
  CHECK(failures(difference, *parse_threshold("l1_hit_rate>0")).empty());

  const std::vector<Threshold> unseen = {*parse_threshold("total.l2_write_hit_rate<0")};
  const auto nothing =
      failures_in(difference, unseen); // it was never observed: the condition would never fail
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().message.find("total.l2_write_hit_rate<0") != std::string::npos);
}

TEST_CASE("--fail-if: totals of snapshots of different size are compared per launch") {
  // A transpose of 16384 blocks: the first snapshot has 3456 of them, the second all. The second reads less.
  Result before = test::sample_result();
  before.kernels[0].grid = {128, 128, 1};
  before.kernels[0].snapshot.blocks = 3456;
  before.kernels[0].totals.dram_read_bytes = 3456 * 8192.0;
  SiteResult& value = before.kernels[0].sites[3];
  value.executions = 3456 * 8;
  value.bytes_used = 3456 * 1024;
  value.bytes_moved = 3456 * 8192;
  Result after = before;
  after.kernels[0].snapshot.blocks = 16384;
  after.kernels[0].totals.dram_read_bytes = 16384 * 6000.0;
  after.kernels[0].sites[3].executions = 16384 * 8;
  after.kernels[0].sites[3].bytes_used = 16384 * 1024;
  after.kernels[0].sites[3].bytes_moved = 16384 * 6000;

  const Difference difference = compare(before, after, {});
  for (const char* condition : {"total.dram_read_bytes>5%", "executions>0", "bytes_used>0", "bytes_moved>5%"})
    CHECK(failures(difference, *parse_threshold(condition)).empty());
  CHECK(failures(difference, *parse_threshold("total.dram_read_bytes<-25%")).size() == 1);
  const FigureChange bytes = figure(difference.kernels[0].totals, "dram_read_bytes");
  CHECK(bytes.before == Approx(16384 * 8192.0));
  CHECK(bytes.after == Approx(16384 * 6000.0));

  // A larger launch does more, whatever its snapshot.
  after.kernels[0].grid = {256, 128, 1};
  CHECK(failures(compare(before, after, {}), *parse_threshold("executions>99%")).size() == 1);
}

TEST_CASE("diff: times, shares of the time and waits") {
  const Result before = test::sample_time();
  Result after = before;
  KernelResult& kernel = after.kernels[0];
  kernel.time->microseconds = test::statistic(140, 2);
  kernel.sites[3].time->waited = test::statistic(600, 8);
  const Difference difference = compare(before, after, {});
  CHECK(failures(difference, *parse_threshold("total.microseconds>+5%")).size() == 1);
  CHECK(failures(difference, *parse_threshold("total.microseconds>20%")).empty());
  CHECK(failures(difference, *parse_threshold("total.cycles>0")).empty());
  CHECK(failures(difference, *parse_threshold("waited_cycles>10%")).size() == 1);
  CHECK(failures(difference, *parse_threshold("time_share>0.01")).empty());
  const FigureChange time = figure(difference.kernels[0].totals, "microseconds");
  CHECK(time.is_worse());
  CHECK_FALSE(time.per_launch); // it is the launch's in the result
  CHECK(time.interval == Approx(std::hypot(0.5, 0.5)));

  // The line of both accesses: shares add up, waits are averaged.
  const auto& line = difference.kernels[0].lines.at(0).figures;
  CHECK(figure(line, "time_share").before == Approx(0.9));
  CHECK(figure(line, "waited_cycles").before == Approx((512 + 231.5) / 2));

  DifferenceOptions costly;
  costly.min_share = 0.15;
  CHECK(compare(before, after, costly).kernels[0].sites.size() == 3); // by time: two, and one without a share
}

TEST_CASE("--fail-if: percent of zero") {
  Result before = test::sample_result(), after = before;
  before.kernels[0].sites[1].bank_conflicts = 0;
  const Difference difference = compare(before, after, {});
  CHECK(failures(difference, *parse_threshold("bank_conflicts>1000%")).size() == 1);
  CHECK(failures(difference, *parse_threshold("bank_conflicts<-1%")).empty());
}

TEST_CASE("diff: an access whose index has changed corresponds by its array, if there is one on each side") {
  const Result before = test::sample_result();
  Result after = before;
  SiteResult& site = after.kernels[0].sites[3]; // val[j]
  site.site.id = 0x99;
  site.site.line = 20;
  site.site.expression = std::string("val[j * 32]");
  const Difference difference = compare(before, after, {});
  REQUIRE(change_of(difference, site) != nullptr);
  CHECK(change_of(difference, site)->before->site.expression == "val[j]");

  SiteResult second = site;
  second.site.id = 0x9a;
  second.site.expression = std::string("val[j * 64]");
  after.kernels[0].sites.push_back(second);
  const Difference ambiguous = compare(before, after, {});
  CHECK(ambiguous.kernels[0].added.size() == 2);
  CHECK(ambiguous.kernels[0].removed.size() == 1);
}
