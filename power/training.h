// From a table of measured powers, and the results of the same kernels, to the energies of their board.
#pragma once

#include "power/fit.h"
#include "result/result.h"
#include "support/csv_table.h"
#include "support/expected.h"

#include <span>
#include <string>
#include <vector>

namespace warplens::power {

/// A kernel whose power was measured.
struct MeasuredKernel {
  std::string kernel;        ///< as the table names it
  bool is_held_back = false; ///< no energy is chosen by it
  Observation observation;   ///< by term_names()
};

/// Returns the rows of a table with the columns `kernel`, a regular expression for the name of a kernel in
/// the results, and `watts`. A column `use` says `fit` or `held back` of each row. Where a row has
/// `microseconds`, or a number of an event of the memory hierarchy ("dram_read"), of the whole launch, it
/// takes the place of the predicted one. The error names the row.
Expected<std::vector<MeasuredKernel>> read_measured(const CsvTable& table,
                                                    std::span<const KernelResult> kernels);

/// Returns what is known of each term before, from a table with the columns `term`, `value` and `deviation`;
/// nothing is known of terms that it lacks.
Expected<std::vector<Prior>> read_priors(const CsvTable& table);

/// Returns what a board's energies say before a fit: of each term its figure, with the deviation of its
/// interval. Those of another board are known to their own size at most.
std::vector<Prior> priors_of(const Energies& energies, bool is_other_board);

/// Energies that were fitted, and how far off they are.
struct Training {
  Fit fit;
  std::vector<Estimate> predicted; ///< watts of each measured kernel
  std::vector<double> errors;      ///< of each measured kernel: predicted over measured, less 1
  double mean_error = 0;           ///< the mean of the magnitudes of those that were fitted to
  double mean_error_held_back = 0; ///< and of the others; 0 without any
  std::size_t fitted = 0, held_back = 0;
  std::size_t priors = 0; ///< energies of which something was known before
};

/// Fits energies to the rows that are not held back. The error says if there are none, or if these and the
/// priors do not determine all energies.
Expected<Training> train(std::span<const MeasuredKernel> measured, std::span<const Prior> priors);

/// Returns [power] of a GPU file, with this source for each figure.
std::string power_section(const Training& training, double clock_mhz, const std::string& source);

/// Returns what a fit of energies says of each measured kernel, and what the rows and the priors determine,
/// as the comments above [power]. `prior`: where the priors come from.
std::string training_comments(std::span<const MeasuredKernel> measured, const Training& training,
                              const std::string& prior);

} // namespace warplens::power
