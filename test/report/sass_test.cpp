#include "report/report.h"
#include "result/no_time.h"
#include "support/terminal_text.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <sstream>

using namespace warplens;

namespace {

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("machine code: by function and address, with what is known of each instruction") {
  const std::string text = report::print_sass(test::sample_code(), {});
  INFO(text);
  CHECK(has_part(text, "code       sm_75, 4 instructions, executed beside the program\n"));
  CHECK(has_part(text, "executed   2345678 warp instructions in the snapshot, which stand for 3.57M of the "
                       "launch; 10000 of\n           them are accesses whose instruction is not known\n"));
  CHECK(has_part(text, "source     1: spmv.cu\n           2: gone \"quoted\".h\n"));
  CHECK(has_part(text,
                 "0x0000  5678      -   1.0 selected               -        -    1:2  MOV R1, c[0x0][0x28]\n"
                 "0x0010  380k   28.5   5.0 barrier             28.0  1205±60   1:13  @!P0 LDG.E R4, "
                 "[R2.64+0x1234],\n"));
  CHECK(has_part(text,
                 "help␛[31mer\n"
                 "0x0000 1.95M   28.5  72.0 long_scoreboard        -        -    2:7  FFMA R7, R4, R5, R7\n"
                 "0x0010     0      -   0.0 -                      -        -      -  BRA 0x10\n"));
  CHECK_FALSE(has_part(text, "\x1b"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK(width_of(line) <= 100);
}

TEST_CASE("machine code by time, without a time, and where it is not known") {
  const report::Column* const time = *report::column_named("time");
  const std::string by_time = report::print_sass(test::sample_code(), {.sort = time});
  CHECK(by_time.find("FFMA R7") < by_time.find("LDG.E R4"));
  CHECK_FALSE(has_part(by_time, "help␛[31mer"));

  Result withheld = test::sample_code();
  withhold_time(withheld.kernels[0], "the snapshot was cut");
  const std::string text = report::print_sass(withheld, {.sort = time});
  CHECK(has_part(text, "time       not known, because the snapshot was cut\n"));
  CHECK(has_part(text, "0x0010  380k   28.5     - -                   28.0  1205±60   1:13  @!P0 LDG.E R4, "
                       "[R2.64+0x1234],\n"));

  Result inferred = test::sample_code();
  for (InstructionResult& instruction : inferred.kernels[0].code->instructions)
    instruction.active_lanes.reset();
  CHECK(has_part(report::print_sass(inferred, {}),
                 "4 instructions, the way of warps inferred from their accesses; lanes are not known\n"));

  Result unknown = test::sample_time();
  unknown.kernels[0].code_unknown = "the trace has no machine code of the kernel";
  CHECK(has_part(report::print_sass(unknown, {}),
                 "code       not known, because the trace has no machine code of the kernel\n"));
  CHECK(has_part(report::print_sass(test::sample_time(), {}),
                 "code       not known, because the result was made by"));
  CHECK(has_part(report::print_sass(Result{}, {}), "No kernel was traced.\n"));
}
