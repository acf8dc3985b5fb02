#include "model/gpu/read_accuracy.h"

#include "result/names.h"

#include <fmt/format.h>

namespace warplens::model {
namespace {

/// Reads the mean and the worst error of a figure, where the table has it.
std::optional<ErrorOfFigure> read_error(TomlFigures& figures, const std::string& figure) {
  const std::string mean = "accuracy." + figure + "_mean_error",
                    worst = "accuracy." + figure + "_worst_error";
  if (!figures.has_key(mean) && !figures.has_key(worst))
    return std::nullopt;
  constexpr double any_error = 1'000;
  ErrorOfFigure error;
  figures.plain_number(mean, error.mean, 0, any_error);
  figures.plain_number(worst, error.worst, 0, any_error);
  figures.require(error.mean <= error.worst, worst, worst + " to be no less than the mean");
  return error;
}

/// Reads how far off times of a kind are, where the table has it.
std::optional<ErrorOfKind> read_error(TomlFigures& figures, LaunchKind kind) {
  const auto key = [&](std::string_view what) { return fmt::format("accuracy.{}_{}", name_of(kind), what); };
  if (!figures.has_key(key("within")))
    return std::nullopt;
  constexpr double any_error = 1'000, any_count = 1'000'000;
  ErrorOfKind error;
  double launches = 0;
  std::string kinds;
  figures.plain_number(key("within"), error.within, 0, any_error);
  figures.plain_number(key("launches"), launches, 1, any_count);
  figures.text(key("measured_on"), error.measured_on);
  figures.text(key("kinds"), kinds);
  figures.require(kinds == "its" || kinds == "all", key("kinds"), key("kinds") + " to be \"its\" or \"all\"");
  error.launches = std::uint64_t(launches);
  error.covers_all_kinds = kinds == "all";
  return error;
}

} // namespace

std::optional<Accuracy> read_accuracy(TomlFigures& figures) {
  if (!figures.has("accuracy"))
    return std::nullopt;
  Accuracy accuracy;
  figures.text("accuracy.gpu", accuracy.gpu);
  for (std::size_t kind = 0; kind < launch_kinds; ++kind)
    accuracy.time_by_kind[kind] = read_error(figures, LaunchKind(kind));
  if (!figures.has_key("accuracy.launches")) {
    if (figures.has_key("accuracy.date"))
      figures.text("accuracy.date", accuracy.date);
    return accuracy;
  }
  constexpr double any_count = 1'000'000;
  double launches = 0, kernels = 0;
  figures.plain_number("accuracy.launches", launches, 1, any_count);
  figures.plain_number("accuracy.kernels", kernels, 1, launches);
  accuracy.launches = std::uint64_t(launches);
  accuracy.kernels = std::uint64_t(kernels);
  accuracy.time = read_error(figures, "time");
  accuracy.l1_read_hit_rate = read_error(figures, "l1");
  accuracy.l2_read_hit_rate = read_error(figures, "l2");
  figures.texts("accuracy.without", accuracy.without);
  figures.text("accuracy.date", accuracy.date);
  return accuracy;
}

} // namespace warplens::model
