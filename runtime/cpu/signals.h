// Signals that concern running kernels: an access to memory that is not there ends the kernel as it would on
// a GPU; Ctrl-C ends the kernels, keeps what was traced, and then ends the program.
#pragma once

namespace warplens::cpu {

/// Has the program been told to end? Kernels then stop where they are.
bool interrupted();

/// While one lives, the calling OS thread has part in a launch, and is not ended before it has cleaned up.
class PartInLaunch {
public:
  PartInLaunch();
  ~PartInLaunch();
  PartInLaunch(const PartInLaunch&) = delete;
  PartInLaunch& operator=(const PartInLaunch&) = delete;
};

/// For a launch that was interrupted: the program ends once the others are done too.
[[noreturn]] void wait_for_the_end();

} // namespace warplens::cpu

extern "C" {
/// Where an object file's lowered code lies: a lane can be stopped there at any instruction.
void __warplens_cpu_register_code(const void* begin, const void* end);
}
