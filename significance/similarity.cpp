// How alike a resource's counters behave in two programs, such as a proxy and its parent: the angles between
// the spaces that their runs span, and the distances of the runs in them. After the authors' tool, which
// follows Gong, Shi, Sha and Grauman, "Geodesic flow kernel for unsupervised domain adaptation", CVPR 2012.
#include "significance/common_counters.h"
#include "significance/compare.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace warplens::significance {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double largest_mean_sine = 0.4; ///< of directions that the two have in common with their union
constexpr double min_singular = 1e-10;    ///< relative to the largest: of a direction that is there

MatrixXd scaled_to_unit(MatrixXd values) {
  for (Index j = 0; j < values.cols(); ++j) {
    const double least = values.col(j).minCoeff(), range = values.col(j).maxCoeff() - least;
    values.col(j) = (values.col(j).array() - least) / (range > 0 ? range : 1);
  }
  return values;
}

/// Returns an orthonormal basis of the rows' space, the strongest direction first.
MatrixXd row_space(const MatrixXd& rows) {
  const Eigen::JacobiSVD<MatrixXd> svd(rows, Eigen::ComputeThinV);
  const VectorXd& values = svd.singularValues();
  Index rank = 0;
  while (rank < values.size() && values(rank) > min_singular * values(0))
    ++rank;
  return svd.matrixV().leftCols(rank);
}

/// Returns the cosines of the principal angles between two spaces, the largest first.
VectorXd principal_cosines(const MatrixXd& a, const MatrixXd& b) {
  return Eigen::JacobiSVD<MatrixXd>(a.transpose() * b).singularValues().cwiseMin(1);
}

double sine_of(double cosine) {
  return std::sqrt(std::max(0.0, 1 - cosine * cosine));
}

/// Returns the number of directions to compare: all, or where the runs do not fill the space, those that both
/// share with the space of all runs.
Index directions(const MatrixXd& a, const MatrixXd& b, const MatrixXd& joint, Index counters, Index runs) {
  const Index most = std::min(a.cols(), b.cols());
  if (counters < runs)
    return most;
  const VectorXd to_a = principal_cosines(a, joint), to_b = principal_cosines(b, joint);
  Index count = 0;
  while (count < most && (sine_of(to_a(count)) + sine_of(to_b(count))) / 2 <= largest_mean_sine)
    ++count;
  return std::max<Index>(count, 1);
}

/// Returns the symmetric Kullback-Leibler divergence of two normal distributions with the means and
/// deviations of the values; where a deviation is 0, the sum of the differences.
double divergence(const VectorXd& a, const VectorXd& b) {
  const double a_mean = a.mean(), b_mean = b.mean();
  const auto count = static_cast<double>(a.size());
  const double a_variance = (a.array() - a_mean).square().sum() / count,
               b_variance = (b.array() - b_mean).square().sum() / count;
  const double apart = a_mean - b_mean;
  if (a_variance < 1e-20 || b_variance < 1e-20)
    return std::abs(apart) + std::abs(std::sqrt(a_variance) - std::sqrt(b_variance));
  return (a_variance + apart * apart) / (2 * b_variance) + (b_variance + apart * apart) / (2 * a_variance) -
         1;
}

Similarity::Figure compare_group(const MatrixXd& a, const MatrixXd& b) {
  const MatrixXd x = scaled_to_unit(a), y = scaled_to_unit(b);
  const MatrixXd x_space = row_space(x), y_space = row_space(y);
  Similarity::Figure figure;
  const Index most = std::max(x_space.cols(), y_space.cols());
  if (most == 0) // neither varies
    return {"", 1, 1, 0};
  if (std::min(x_space.cols(), y_space.cols()) == 0)
    return figure;
  MatrixXd both(x.rows() + y.rows(), x.cols());
  both << x, y;
  const Index count = directions(x_space, y_space, row_space(both), x.cols(), x.rows());
  // Directions that only one of them has count as different.
  const Index of = x.cols() < x.rows() ? most : count;
  const MatrixXd x_basis = x_space.leftCols(count), y_basis = y_space.leftCols(count);
  const Eigen::JacobiSVD<MatrixXd> svd(x_basis.transpose() * y_basis,
                                       Eigen::ComputeFullU | Eigen::ComputeFullV);
  const MatrixXd x_directions = x_basis * svd.matrixU(), y_directions = y_basis * svd.matrixV();
  double distance = 0;
  for (Index i = 0; i < count; ++i) {
    const double cosine = std::min(1.0, svd.singularValues()(i));
    const double apart = divergence(x * x_directions.col(i), y * y_directions.col(i));
    distance += std::acos(cosine) * apart / static_cast<double>(count);
    figure.similarity += cosine * std::exp(-apart) / static_cast<double>(of);
  }
  figure.tool_similarity = 1 - distance;
  return figure;
}

} // namespace

Similarity similarity_of(const Region& a, const Region& b, const ResourceGroups& groups,
                         const ExplainOptions& options, const RegionSignificance* significances) {
  Similarity similarity{a.name, b.name, {}};
  const auto common = common_counters(a, b, groups, options.target);
  if (!common || common->runs.size() < 2)
    return similarity;
  std::vector<std::string> seen;
  for (const std::string& resource : common->resources) {
    if (std::ranges::find(seen, resource) != seen.end())
      continue;
    seen.push_back(resource);
    std::vector<Index> columns;
    for (std::size_t j = 0; j < common->resources.size(); ++j)
      if (common->resources[j] == resource)
        columns.push_back(static_cast<Index>(j));
    if (columns.size() < 2)
      continue;
    Similarity::Figure figure = compare_group(common->a(Eigen::all, columns), common->b(Eigen::all, columns));
    figure.resource = resource;
    if (significances != nullptr)
      for (const ResourceFigures& one : significances->resources)
        if (one.name == resource)
          figure.rsm = one.rsm;
    similarity.figures.push_back(figure);
  }
  return similarity;
}

} // namespace warplens::significance
