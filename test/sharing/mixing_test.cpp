// The cases were worked out by hand, but where a comment says otherwise.
#include "sharing/mixing.h"
#include "test/catch.h"

#include <random>

using namespace warplens::sharing;

namespace {

constexpr double rate_digits = 1e-6;

PipeUse pipe_of_test() {
  return {.share = 1, .interval = 1, .latency = 20, .distances = {0, .3, .2, 0, .1}};
}
double rate(double warps, Form form) {
  const std::vector<MixedKernel> one{{{pipe_of_test()}, warps, 0}};
  return mixed_rates(one, 1, form)[0];
}

} // namespace

TEST_CASE("Distances to the instruction that waits") {
  // Instructions 1 to 7, of which 1 and 3 are loads.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> uses{{0, 1}, {0, 2}, {1, 3}, {2, 5},
                                                                  {2, 6}, {4, 5}, {5, 6}};
  const bool memory[] = {true, false, true, false, false, false, false};
  CHECK(critical_distances(uses, memory) == std::vector<std::uint32_t>{1, 2, 3, 0, 0, 1, 0});
}

TEST_CASE("Waits within some instructions") {
  const PipeUse pipe = pipe_of_test();
  CHECK(needed_within(pipe, 1) == Approx(.3).epsilon(rate_digits));
  CHECK(needed_within(pipe, 2) == Approx(.5).epsilon(rate_digits));
  CHECK(needed_within(pipe, 3) == Approx(.5).epsilon(rate_digits));
  CHECK(needed_within(pipe, 4) == Approx(.6).epsilon(rate_digits));
  CHECK(wait_within(pipe, 1) == Approx(20).epsilon(rate_digits));
  CHECK(wait_within(pipe, 2) == Approx(52.0 / 3).epsilon(rate_digits));
  CHECK(wait_within(pipe, 3) == Approx(18).epsilon(rate_digits));
  CHECK(wait_within(pipe, 4) == Approx(50.0 / 3).epsilon(rate_digits));
}

TEST_CASE("The rate of one kernel by its warps") {
  // A small script's figures, to the last digit that it printed.
  const double warps[] = {1, 2, 4, 8};
  const double literal[] = {1, 1, 1, .978}, summed[] = {.122, .244, .488, .977},
               corrected[] = {.116, .233, .465, .931};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(rate(warps[i], Form::literal) == Approx(literal[i]).margin(5.1e-4));
    CHECK(rate(warps[i], Form::summed) == Approx(summed[i]).margin(5.1e-4));
    CHECK(rate(warps[i], Form::corrected) == Approx(corrected[i]).margin(5.1e-4));
  }
}

TEST_CASE("Two kernels at a full pipe") {
  // Nothing waits, so that all warps are active.
  const auto beside = [](double first, double second, double first_warps, double second_warps) {
    const std::vector<MixedKernel> both{{{{.share = first, .interval = 2}}, first_warps, 0},
                                        {{{.share = second, .interval = 2}}, second_warps, 0}};
    return mixed_rates(both, 100);
  };
  const auto equal = beside(.5, .5, 3, 1);
  CHECK(equal[0] == Approx(.75).epsilon(rate_digits));
  CHECK(equal[1] == Approx(.25).epsilon(rate_digits));
  const auto unequal = beside(.8, .4, 2, 2);
  CHECK(unequal[0] == Approx(.33677).margin(5.1e-6));
  CHECK(unequal[1] == Approx(.57646).margin(5.1e-6));
}

TEST_CASE("A kernel that waits for its results is not faster beside one that fills the pipe") {
  const PipeUse waits{.share = 1, .interval = 2, .latency = 100, .distances = {0, 1}};
  const PipeUse fills{.share = 1, .interval = 2, .latency = 4, .distances = {}};
  const std::vector<MixedKernel> both{{{waits}, 8, 0}, {{fills}, 8, 0}};
  const double alone = mixed_rates(std::span(both.data(), 1), 1)[0];
  const std::vector<double> beside = mixed_rates(both, 1);
  CHECK(beside[0] <= alone);
  CHECK(beside[0] > 0);
  CHECK(beside[0] + beside[1] == Approx(.5));
}

TEST_CASE("Rates of random kernels beside each other are above 0, no more than alone, and fall as warps do") {
  std::mt19937 draw(1);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(draw);
  };
  for (int round = 0; round < 300; ++round) {
    const auto kernel = [&] {
      MixedKernel made{{}, real(1, 16), round % 3 == 0 ? real(0, .5) : 0};
      double left = 1;
      for (int pipe = 0; pipe < 3; ++pipe) {
        PipeUse use{.share = real(0, left), .interval = real(.5, 8), .latency = real(2, 500)};
        left -= use.share;
        double of_distances = 1;
        use.distances.push_back(0);
        for (int d = 1; d < 6; ++d) {
          use.distances.push_back(real(0, of_distances));
          of_distances -= use.distances.back();
        }
        made.pipes.push_back(std::move(use));
      }
      return made;
    };
    const std::vector<MixedKernel> both{kernel(), kernel()};
    INFO("round " << round);
    const std::vector<double> rates = mixed_rates(both, 1);
    double issued = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const double alone = mixed_rates(std::span(&both[k], 1), 1)[0];
      CHECK(rates[k] > 0);
      CHECK(rates[k] <= alone * (1 + 1e-9));
      CHECK(active_warps(both[k], rates[k]) >= 0);
      CHECK(active_warps(both[k], rates[k]) <= active_warps(both[k], rates[k] / 2) + 1e-9);
      MixedKernel fewer = both[k];
      fewer.warps /= 2;
      CHECK(mixed_rates(std::span(&fewer, 1), 1)[0] <= alone * (1 + 1e-9));
      issued += rates[k];
    }
    CHECK(issued <= 1 + 1e-6);
    for (std::size_t pipe = 0; pipe < 3; ++pipe) {
      double busy = 0;
      for (std::size_t k = 0; k < 2; ++k)
        busy += rates[k] * both[k].pipes[pipe].share * both[k].pipes[pipe].interval;
      CHECK(busy <= 1 + 1e-6);
    }
  }
}

TEST_CASE("Kernels beside each other keep to each pipe and to the issue") {
  PipeUse idle;
  PipeUse slow{.share = .5, .interval = 4, .latency = 40, .distances = {0, .5, .5}};
  PipeUse fast{.share = 1, .interval = 1, .latency = 4, .distances = {0, 1}};
  const MixedKernel memory{{{.share = .5, .interval = 1, .latency = 4, .distances = {0, 1}}, slow}, 16, 0};
  const MixedKernel arithmetic{{fast, idle}, 16, 0};
  const std::vector<MixedKernel> both{memory, arithmetic};
  const std::vector<double> rates = mixed_rates(both, 1);
  CHECK(rates[0] + rates[1] <= 1 + 1e-6);
  CHECK(rates[0] * .5 * 4 <= 1 + 1e-6);
  CHECK(rates[0] > 0);
  CHECK(rates[1] > 0);
  // One that uses what the other one does not runs as if alone.
  const MixedKernel few{{idle, {.share = 1, .interval = 1, .latency = 100, .distances = {0, 1}}}, 4, 0};
  const std::vector<MixedKernel> apart{
      few, {{{.share = 1, .interval = 1, .latency = 50, .distances = {0, 1}}, idle}, 4, 0}};
  const std::vector<double> beside = mixed_rates(apart, 1);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(beside[k] == Approx(mixed_rates(std::span(&apart[k], 1), 1)[0]).epsilon(rate_digits));
}

TEST_CASE("Customers of one queue") {
  const double throughput[] = {.05, .09901, .14680, .19310};
  for (std::uint32_t n = 1; n <= 4; ++n)
    CHECK(mean_value_throughput(n, 2, 18) == Approx(throughput[n - 1]).margin(5.1e-6));
  CHECK(mean_value_throughput(16, 2, 18) == Approx(.49447).epsilon(5e-3));
}
