// Signals that concern running kernels: an access to unmapped memory ends the kernel as it would on a GPU;
// Ctrl-C ends the kernels, keeps the trace up to then, and then ends the program.
#pragma once

namespace warplens::cpu {

/// Returns whether the program is to end. Kernels then stop where they are.
bool interrupted();

/// Makes the calling OS thread, during its lifetime, part of a launch, so that it cleans up before it is
/// ended.
class LaunchParticipation {
public:
  LaunchParticipation();
  ~LaunchParticipation();
  LaunchParticipation(const LaunchParticipation&) = delete;
  LaunchParticipation& operator=(const LaunchParticipation&) = delete;
};

/// Waits, after an interrupted launch, for the program's end once the other launches are done too.
[[noreturn]] void wait_for_program_end();

} // namespace warplens::cpu

extern "C" {
/// Registers the address range of an object file's lowered code, in which a lane can be stopped at any
/// instruction.
void __warplens_cpu_register_code(const void* begin, const void* end);
}
