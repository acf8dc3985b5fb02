#include "power/training.h"

#include "power/kernel_power.h"
#include "result/names.h"
#include "support/pattern.h"
#include "support/terminal_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>

namespace warplens::power {
namespace {

/// An assumption: a kernel's power differs by this share from what its events say, above all by the values of
/// its operands.
constexpr double deviation_of_powers = 0.08;
constexpr double pj_of_joule = 1e12;
constexpr std::size_t first_kind = 3, first_event = first_kind + instruction_kind_count;

Expected<const KernelResult*> kernel_named(const std::string& name, const std::string& place,
                                           std::span<const KernelResult> kernels) {
  TRY_LET(pattern, Pattern::compile(name));
  for (const KernelResult& kernel : kernels)
    if (pattern->is_found_in(kernel.name))
      return &kernel;
  return fail("{}: no kernel of the results matches '{}'", place, name);
}

/// Puts measured times and events in the place of predicted ones.
Expected<void> put_measured(const CsvTable& table, std::size_t row, const KernelResult& kernel,
                            std::vector<double>& amounts) {
  const double predicted = kernel.time->microseconds.mean;
  TRY_LET(microseconds, table.number(row, "microseconds"));
  if (*microseconds && **microseconds <= 0)
    return fail("{}: the time is not above 0", table.place(row));
  const double time = microseconds->value_or(predicted);
  for (std::size_t term = first_kind; term < amounts.size(); ++term)
    amounts[term] *= predicted / time;
  for (std::size_t event = 0; event < memory_event_count; ++event) {
    TRY_LET(count, table.number(row, name_of(MemoryEvent(event))));
    if (*count)
      amounts[first_event + event] = **count / (time * 1e-6);
  }
  return {};
}

bool is_known(const Prior& prior) {
  return std::isfinite(prior.deviation);
}

/// Returns an error that names the energies of which neither the rows nor the priors say anything, or says
/// that these are fewer than the energies.
Expected<void> check_determined(std::span<const Observation> fitted, std::span<const Prior> priors) {
  std::vector<std::string> unknown;
  for (std::size_t term = 0; term < term_names().size(); ++term) {
    const bool has_prior = term < priors.size() && is_known(priors[term]);
    const auto has = [&](const Observation& one) { return one.amounts[term] > 0; };
    if (!has_prior && std::ranges::none_of(fitted, has))
      unknown.push_back(term_names()[term]);
  }
  if (!unknown.empty())
    return fail("no row has any of {}, and --prior says nothing of them", fmt::join(unknown, ", "));
  const auto known = std::size_t(std::ranges::count_if(priors, is_known));
  if (fitted.size() + known < term_names().size())
    return fail(
        "{} rows and {} priors are too few for {} energies: --prior says what is known of others before, or "
        "which GPU's [power]",
        fitted.size(), known, term_names().size());
  return {};
}

} // namespace

Expected<std::vector<MeasuredKernel>> read_measured(const CsvTable& table,
                                                    std::span<const KernelResult> kernels) {
  for (const char* column : {"kernel", "watts"})
    if (!table.has(column))
      return fail("{}: there is no column '{}'", table.name(), column);
  std::vector<MeasuredKernel> measured;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    MeasuredKernel one{table.cell(row, "kernel")};
    const std::string use = table.cell(row, "use");
    if (!use.empty() && use != "fit" && use != "held back")
      return fail("{}: use is '{}', neither 'fit' nor 'held back'", table.place(row), use);
    one.is_held_back = use == "held back";
    TRY_LET(kernel, kernel_named(one.kernel, table.place(row), kernels));
    TRY(check_power(**kernel));
    one.observation.amounts = event_amounts(**kernel);
    TRY(put_measured(table, row, **kernel, one.observation.amounts));
    TRY_LET(watts, table.number(row, "watts"));
    if (!*watts || **watts <= 0)
      return fail("{}: there are no watts above 0", table.place(row));
    one.observation.watts = **watts;
    measured.push_back(std::move(one));
  }
  return measured;
}

Expected<std::vector<Prior>> read_priors(const CsvTable& table) {
  for (const char* column : {"term", "value", "deviation"})
    if (!table.has(column))
      return fail("{}: there is no column '{}'", table.name(), column);
  const std::vector<std::string>& names = term_names();
  std::vector<Prior> priors(names.size(), {0, std::numeric_limits<double>::infinity()});
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto found = std::ranges::find(names, table.cell(row, "term"));
    if (found == names.end())
      return fail("{}: there is no term '{}'; there are {}", table.place(row), table.cell(row, "term"),
                  fmt::join(names, ", "));
    TRY_LET(value, table.number(row, "value"));
    TRY_LET(deviation, table.number(row, "deviation"));
    if (!*value || **value < 0 || !*deviation || **deviation <= 0)
      return fail("{}: value and deviation must be numbers, of 0 or more and above 0", table.place(row));
    const double unit = found->ends_with("_pj") ? 1 / pj_of_joule : 1;
    priors[std::size_t(found - names.begin())] = {**value * unit, **deviation * unit};
  }
  return priors;
}

std::vector<Prior> priors_of(const Energies& energies, bool is_other_board) {
  std::vector<Prior> priors;
  for (const Estimate& known : coefficients_of(energies)) {
    const double deviation = (known.high - known.value) / normal95;
    priors.push_back({known.value, is_other_board ? std::max(known.value, deviation) : deviation});
    if (priors.back().deviation <= 0) // a figure without an interval
      priors.back().deviation = known.value > 0 ? known.value : std::numeric_limits<double>::infinity();
  }
  return priors;
}

Expected<Training> train(std::span<const MeasuredKernel> measured, std::span<const Prior> priors) {
  std::vector<Observation> fitted;
  for (const MeasuredKernel& one : measured)
    if (!one.is_held_back)
      fitted.push_back(one.observation);
  if (fitted.empty())
    return fail("all measured kernels are held back: there are none to fit energies to");
  TRY(check_determined(fitted, priors));
  Training training{.fit = fit(fitted, priors, {deviation_of_powers, true})};
  if (training.fit.determined < term_names().size())
    return fail("the {} rows and what --prior says determine {} of {} energies: others would be arbitrary",
                fitted.size(), training.fit.determined, term_names().size());
  training.priors = std::size_t(std::ranges::count_if(priors, is_known));
  for (const MeasuredKernel& one : measured) {
    training.predicted.push_back(power_of(one.observation, training.fit));
    const double error = training.predicted.back().value / one.observation.watts - 1;
    training.errors.push_back(error);
    (one.is_held_back ? training.mean_error_held_back : training.mean_error) += std::abs(error);
    ++(one.is_held_back ? training.held_back : training.fitted);
  }
  training.mean_error /= double(training.fitted);
  if (training.held_back != 0)
    training.mean_error_held_back /= double(training.held_back);
  return training;
}

std::string power_section(const Training& training, double clock_mhz, const std::string& source) {
  std::string text =
      fmt::format("[power]\nclock_mhz = {{ value = {:g}, source = \"{}\" }}\n"
                  "error = {{ value = {:.3f}, source = \"{}\" }} # of kernels left out of the fit\n",
                  clock_mhz, source, training.fit.error_left_out, source);
  for (std::size_t term = 0; term < term_names().size(); ++term) {
    const Estimate& found = training.fit.coefficients[term];
    const double unit = term_names()[term].ends_with("_pj") ? pj_of_joule : 1;
    text += fmt::format("{} = {{ value = {:.4g}, interval = [{:.4g}, {:.4g}], source = \"{}\" }}\n",
                        term_names()[term], found.value * unit, found.low * unit, found.high * unit, source);
  }
  return text;
}

std::string training_comments(std::span<const MeasuredKernel> measured, const Training& training,
                              const std::string& prior) {
  std::string text;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const MeasuredKernel& one = measured[i];
    const Estimate& predicted = training.predicted[i];
    text += fmt::format("# {}  {:6.1f} W ({:.0f} to {:.0f}), measured {:6.1f}, {:+6.1f} %  {}\n",
                        pad_right(cut(printable(one.kernel), 30), 30), predicted.value, predicted.low,
                        predicted.high, one.observation.watts, 100 * training.errors[i],
                        one.is_held_back ? "held back" : "fit");
  }
  text += fmt::format(
      "# mean error of {} kernels that were fitted to: {:.1f} %; each left out of its fit: {:.1f} % (root "
      "mean square)\n",
      training.fitted, 100 * training.mean_error, 100 * training.fit.error_left_out);
  text +=
      fmt::format("# {} of {} energies{}\n",
                  training.fitted == 1
                      ? fmt::format("1 row by itself determines {}", training.fit.determined_by_observations)
                      : fmt::format("{} rows by themselves determine {}", training.fitted,
                                    training.fit.determined_by_observations),
                  training.fit.coefficients.size(),
                  training.priors == 0
                      ? std::string()
                      : fmt::format("; {} priors hold the others: {}", training.priors, printable(prior)));
  if (training.held_back != 0)
    text += fmt::format("# mean error of {} kernels that were held back: {:.1f} %\n", training.held_back,
                        100 * training.mean_error_held_back);
  return text;
}

} // namespace warplens::power
