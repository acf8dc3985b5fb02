#include "toolchain/nvcc/checks.h"

namespace warplens::toolchain {

std::vector<std::string> options_of(cpu::Checks checks) {
  std::vector<std::string> options;
  for (const cpu::CheckName& check : cpu::check_names)
    if (checks.has(check.check))
      options.push_back(std::string("--") + check.name);
  return options;
}

std::string on_a_gpu(cpu::Check check) {
  return check == cpu::Check::lock_step ? "; a GPU runs warps in lock step by itself"
                                        : "; on a GPU NVIDIA's compute-sanitizer does the same";
}

} // namespace warplens::toolchain
