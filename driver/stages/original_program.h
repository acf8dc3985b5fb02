// A program as it is, for programs with an edited source to be held against.
#pragma once

#include "driver/options.h"
#include "driver/stages/obtain_trace.h"
#include "support/temporary.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::driver {

/// A trace in a folder that lives as long.
struct TraceInFolder {
  TemporaryDirectory folder;
  trace::Reader trace;
};

class OriginalProgram {
public:
  /// References must outlive it.
  OriginalProgram(const SourceOptions& source, const TraceOptions& trace, const ModelOptions& model,
                  const std::vector<model::Gpu>& gpus, const std::vector<std::string>& arguments)
      : source_(source), trace_(trace), model_(model), gpus_(gpus), arguments_(arguments) {}

  /// Builds, runs and traces the program with another text in the place of a source. The edited source
  /// includes what the original one does. The error says what failed, or that the program prints something
  /// else.
  Expected<TraceInFolder> trace_with(const std::string& file, const std::string& edited);

private:
  Expected<std::string> output_of(const SourceOptions& source) const;

  const SourceOptions& source_;
  const TraceOptions& trace_;
  const ModelOptions& model_;
  const std::vector<model::Gpu>& gpus_;
  const std::vector<std::string>& arguments_;
  std::optional<std::string> output_; ///< of the program as it is
};

} // namespace warplens::driver
