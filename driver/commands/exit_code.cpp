#include "driver/commands/exit_code.h"

#include "driver/options.h"

namespace warplens::driver {

int exit_code_of(judge::SpeedVerdict verdict) {
  switch (verdict) {
  case judge::SpeedVerdict::same: return 0;
  case judge::SpeedVerdict::faster: return 3;
  case judge::SpeedVerdict::slower: return 4;
  case judge::SpeedVerdict::cannot_say: return 5;
  }
  return 1;
}

int exit_code_of(judge::GateOutcome outcome) {
  switch (outcome) {
  case judge::GateOutcome::holds: return 0;
  case judge::GateOutcome::outdated: return 3;
  case judge::GateOutcome::worse: return 4;
  case judge::GateOutcome::cannot_say: return 5;
  }
  return 1;
}

void add_exit_code_option(CLI::App& command, bool& exits_with_verdict) {
  command
      .add_option_function<std::string>(
          "--exit-code",
          [&exits_with_verdict](const std::string& word) { exits_with_verdict = word == "verdict"; },
          "verdict: exit with 0 if the program is as fast as before, 3 if faster, 4 if slower, 5 if that\n"
          "cannot be said; failure: only with 1, where something fails")
      ->check(CLI::IsMember({"failure", "verdict"}))
      ->option_text("WORD=failure");
}

void add_same_within_option(CLI::App& command, double& tolerance) {
  command.add_option("--same-within", tolerance, "changes of a time within this share are none")
      ->check(CLI::Validator(check_fraction, ""))
      ->type_name("FRACTION")
      ->capture_default_str();
}

} // namespace warplens::driver
