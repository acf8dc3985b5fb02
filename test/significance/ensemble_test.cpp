// The ensemble on unit vectors, worked out by hand; and against its definition.

#include "numeric/random.h"
#include "significance/belief.h"
#include "significance/ensemble.h"
#include "significance/prepare.h"
#include "test/catch.h"
#include "test/significance/reference_ensemble.h"

#include <tbb/global_control.h>

using namespace warplens;
using namespace warplens::significance;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr std::size_t draws = 5000;

SelectionOptions plain(std::size_t support, std::size_t candidates) {
  SelectionOptions options;
  options.support = support;
  options.candidates = candidates;
  options.intercept = false;
  options.fidelity = 1e-9;
  return options;
}

VectorXd figures_of(const Problem& problem, const VectorXd& coefficients, Measure measure) {
  return measure_columns(problem, coefficients, measure);
}

double together(const Problem& problem, const VectorXd& coefficients, Measure measure) {
  const std::vector<Index> one_group(static_cast<std::size_t>(coefficients.size()), 0);
  return measure_groups(problem, coefficients, measure, one_group, 1)(0);
}

/// The standard error of the mean of a figure that is `value` with probability p, else 0.
double error_of(double value, double p) {
  return value * std::sqrt(p * (1 - p) / double{draws});
}

MatrixXd random_columns(Random& random, Index rows, Index columns) {
  MatrixXd made = MatrixXd::NullaryExpr(rows, columns, [&] { return random.fraction() - 0.5; });
  made.colwise().normalize();
  return made;
}

} // namespace

TEST_CASE("without a choice, the pursuit takes the best column and then the next") {
  const Problem problem(MatrixXd::Identity(2, 2), Vector2d(3, 4));
  const SelectionOptions options = plain(2, 1);
  const Selection none = Selection::start(problem, options);
  CHECK(none.residual() == 5);
  REQUIRE(none.candidates().size() == 1);
  CHECK(none.candidates()[0].column == 1);
  const Selection one = none.with(1, problem, options);
  CHECK(one.residual() == Approx(3));
  REQUIRE(one.candidates().size() == 1);
  CHECK(one.candidates()[0].column == 0);
  const Selection both = one.with(0, problem, options);
  CHECK(both.residual() == 0);
  CHECK(both.candidates().empty());

  const VectorXd mean = draw_ensemble(problem, options, draws, {}).coefficients;
  CHECK(mean(0) == Approx(3));
  CHECK(mean(1) == Approx(4));
  const VectorXd reductions = figures_of(problem, mean, Measure::reduction);
  CHECK(reductions(0) == Approx(0.2));
  CHECK(reductions(1) == Approx(0.4));
  CHECK(together(problem, mean, Measure::reduction) == Approx(1));
  const VectorXd beliefs = figures_of(problem, mean, Measure::literal_belief);
  CHECK(beliefs(0) == Approx(0.527292).margin(5e-7));
  CHECK(beliefs(1) == Approx(0.697676).margin(5e-7));
  CHECK(together(problem, mean, Measure::literal_belief) == Approx(0.857089).margin(5e-7));
  CHECK(together(problem, mean, Measure::corrected_belief) == Approx(0.642345).margin(5e-7));
}

TEST_CASE("columns are drawn in proportion to their products with the residual") {
  const Problem problem(MatrixXd::Identity(2, 2), Vector2d(3, 4));
  const VectorXd one = draw_ensemble(problem, plain(1, 2), draws, {}).coefficients;
  CHECK(std::abs(one(0) - 9.0 / 7) < 4 * error_of(3, 3.0 / 7));
  CHECK(std::abs(one(1) - 16.0 / 7) < 4 * error_of(4, 4.0 / 7));
  const VectorXd two = draw_ensemble(problem, plain(2, 2), draws, {}).coefficients;
  CHECK(two(0) == Approx(3));
  CHECK(two(1) == Approx(4));
}

TEST_CASE("of two equal columns a draw takes one, and never both") {
  MatrixXd columns = MatrixXd::Zero(2, 2);
  columns.row(0).setOnes();
  const Problem problem(columns, Vector2d(1, 0));
  const Ensemble ensemble = draw_ensemble(problem, plain(2, 2), draws, {});
  CHECK(std::abs(ensemble.coefficients(0) - 0.5) < 4 * error_of(1, 0.5));
  CHECK(ensemble.coefficients.sum() == Approx(1));
  CHECK(ensemble.frequencies.sum() == Approx(1)); // never both
  const VectorXd half = Vector2d(0.5, 0.5);
  CHECK(figures_of(problem, half, Measure::literal_belief)(0) == Approx(0.778801).margin(5e-7));
  CHECK(figures_of(problem, half, Measure::corrected_belief)(0) == Approx(0.650068).margin(5e-7));
  CHECK(figures_of(problem, half, Measure::reduction)(0) == Approx(0.5));
  CHECK(together(problem, half, Measure::reduction) == Approx(1));
}

TEST_CASE("the probabilities of the first draw") {
  MatrixXd columns = MatrixXd::Identity(3, 3);
  columns.col(2) = Vector3d(1, 1, 0.2) / std::sqrt(2.04);
  const Problem problem(columns, Vector3d(1, 1, 0));
  const Selection first = Selection::start(problem, plain(3, 3));
  REQUIRE(first.candidates().size() == 3);
  CHECK(first.candidates()[0].column == 2);
  CHECK(first.candidates()[0].up_to == Approx(0.411813).margin(5e-7));
  CHECK(first.candidates()[1].column == 0);
  CHECK(first.candidates()[1].up_to - first.candidates()[0].up_to == Approx(0.294093).margin(1e-6));
  CHECK(first.candidates()[2].up_to == Approx(1));
  const Selection third = first.with(2, problem, plain(3, 1));
  CHECK(third.coefficients()(0) == Approx(1.400280).margin(5e-7));
  CHECK(third.residual() * third.residual() == Approx(0.039216).margin(5e-7));
}

TEST_CASE("what lowers the target has no coefficient, unless signs are allowed") {
  const Problem problem(MatrixXd::Identity(2, 2), Vector2d(1, -1));
  SelectionOptions options = plain(2, 2);
  const VectorXd nonnegative = draw_ensemble(problem, options, draws, {}).coefficients;
  CHECK(nonnegative == Vector2d(1, 0));
  CHECK((problem.target - nonnegative).norm() == Approx(1));
  CHECK(figures_of(problem, nonnegative, Measure::reduction)(0) == Approx(0.292893).margin(5e-7));
  options.nonnegative = false;
  const VectorXd either_sign = draw_ensemble(problem, options, draws, {}).coefficients;
  CHECK(either_sign(0) == Approx(1));
  CHECK(either_sign(1) == Approx(-1));
}

TEST_CASE("the ensemble on products is the ensemble as it is defined") {
  Random random(5, 0, 0);
  for (std::uint32_t round = 0; round < 24; ++round) {
    const MatrixXd columns = random_columns(random, 12, 9);
    const VectorXd target =
        columns * random_columns(random, 9, 1).cwiseAbs() + 0.1 * random_columns(random, 12, 1);
    SelectionOptions options;
    options.support = 1 + round % 6;
    options.candidates = 1 + round % 4;
    options.nonnegative = round % 3 != 0;
    options.intercept = round % 2 == 0;
    const EnsembleName name{7, round, 0, 0};
    const VectorXd mean = draw_ensemble(Problem(columns, target), options, 300, name).coefficients;
    INFO("round " << round);
    CHECK((mean - test::reference_ensemble(columns, target, options, 300, name)).norm() < 1e-9);
  }
}

TEST_CASE("draws beyond what the tree keeps are the same") {
  Random random(6, 0, 0);
  const Problem problem(random_columns(random, 40, 30), random_columns(random, 40, 1));
  SelectionOptions options = plain(14, 5);
  options.independence = 1e-6;
  std::vector<std::vector<Index>> chosen[2];
  for (const std::size_t max_bytes : {std::size_t{5'000}, std::size_t{100'000'000}}) {
    const SelectionTree tree(problem, options, max_bytes);
    for (std::uint32_t draw = 0; draw < 100; ++draw)
      tree.draw(
          [&](unsigned step) { return drawn_fraction({3, 0, 0, 0}, draw, step); },
          [&](const Selection& selection) { chosen[max_bytes == 5'000].push_back(selection.chosen()); });
  }
  CHECK(chosen[0] == chosen[1]);
  CHECK(chosen[0].size() == 100);
  CHECK(chosen[0][0].size() == 14);
}

TEST_CASE("any number of threads gives the same bits") {
  Random random(8, 0, 0);
  const Problem problem(random_columns(random, 29, 60), random_columns(random, 29, 1));
  SelectionOptions options = plain(8, 4);
  std::vector<Ensemble> found;
  for (const std::size_t threads : {1, 2, 16}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    found.push_back(draw_ensemble(problem, options, 3000, {9, 1, 2, 0}));
  }
  for (const Ensemble& one : found) {
    CHECK(one.coefficients == found[0].coefficients);
    CHECK(one.batch_means == found[0].batch_means);
    CHECK(one.frequencies == found[0].frequencies);
  }
}

TEST_CASE("drawing ends once every half width is small") {
  const Problem certain(MatrixXd::Identity(2, 2), Vector2d(3, 4));
  const Figures figures = [](const VectorXd& coefficients) { return coefficients; };
  CHECK(draw_ensemble(certain, plain(2, 2), draws, {}, figures).draws == 1024);
  CHECK(draw_ensemble(certain, plain(1, 2), draws, {}, figures).draws == draws);
  const Ensemble wide = draw_ensemble(certain, plain(1, 2), draws, {}, figures);
  // The spread of the batches' means is that of a coin: within a factor of 2 with 19 degrees of freedom.
  const VectorXd errors = standard_errors(wide, figures);
  CHECK(errors(0) > error_of(3, 3.0 / 7) / 2);
  CHECK(errors(0) < error_of(3, 3.0 / 7) * 2);
}
