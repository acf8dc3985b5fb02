// Stage: sources → result, by a `warplens profile` of its own, for servers: a program that crashes or never
// ends must not end them.
#pragma once

#include "result/result.h"
#include "support/expected.h"
#include "support/process.h"

#include <chrono>
#include <string>
#include <vector>

namespace warplens::driver {

struct ProfileRequest {
  std::vector<std::string> sources;
  std::string gpu = "a100", nvcc, kernel; ///< as --gpu, --nvcc and --kernel have them
  std::string budget; ///< as --budget has it; empty: modelling ends when figures are known
  std::vector<std::string> program_arguments;
};

/// The grace of a cancellation, in which the child ends its own children and removes its files.
constexpr std::chrono::seconds grace_of_profile{3};

/// Profiles the program on the CPU back end; the cancellation ends it. A SIGINT, SIGTERM or SIGHUP that
/// reaches us meanwhile ends the child and then this process. The error has the end of what
/// compilers and the program printed.
Expected<Result> profile_in_child(const ProfileRequest& request, Cancellation& cancellation);

} // namespace warplens::driver
