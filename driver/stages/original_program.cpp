#include "driver/stages/original_program.h"

#include "driver/stages/build_program.h"
#include "support/files.h"
#include "support/process.h"

#include <algorithm>

namespace warplens::driver {

/// Builds the program without probes, runs it, and returns what it prints.
Expected<std::string> OriginalProgram::output_of(const SourceOptions& source) const {
  TRY_LET(directory, TemporaryDirectory::create());
  SourceOptions plain = source;
  plain.no_probes = true;
  TRY_LET(program, build_program(plain, {}, gpus_, directory->path(), true));
  Command command;
  command.arguments = {program->string()};
  command.arguments.insert(command.arguments.end(), arguments_.begin(), arguments_.end());
  command.capture_output = true;
  TRY_LET(finished, run(command));
  if (finished->exit_code != 0)
    return fail("the program ended with code {}", finished->exit_code);
  return finished->output;
}

Expected<TraceInFolder> OriginalProgram::trace_with(const std::string& file, const std::string& edited) {
  const auto replaced = std::ranges::find(source_.files, file);
  if (replaced == source_.files.end())
    return fail("{} is none of the sources named", file);
  if (!output_) {
    TRY_LET(output, output_of(source_));
    output_ = std::move(*output);
  }
  TRY_LET(directory, TemporaryDirectory::create());
  const auto copy = directory->path() / std::filesystem::path(file).filename();
  TRY(write_file(copy, edited));
  SourceOptions changed = source_;
  changed.files[std::size_t(replaced - source_.files.begin())] = copy.string();
  const auto folder = std::filesystem::absolute(file).parent_path().string();
  changed.nvcc += (changed.nvcc.empty() ? "" : " ") + quote({"-I" + folder});
  TRY_LET(after, output_of(changed));
  if (*output_ != *after)
    return fail("the edited program prints something else");
  TRY_LET(trace, obtain_trace(changed, trace_, model_, gpus_, arguments_, directory->path(), true));
  return TraceInFolder{std::move(*directory), std::move(*trace)};
}

} // namespace warplens::driver
