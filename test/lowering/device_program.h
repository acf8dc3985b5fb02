// Compiles and lowers a CUDA source and loads it into the test.
#pragma once

#include "lowering/lower.h"
#include "runtime/cpu/execution/run_grid.h"
#include "support/expected.h"
#include "support/temporary.h"

#include <mutex>
#include <string>
#include <vector>

namespace warplens::test {

/// Compiles the device half of `source` as Warplens does and lowers it. The error is the lowering's, or names
/// Clang's. Headers in the folder `system` beside it are not the user's.
Expected<void> compile_and_lower(const std::string& source, const std::filesystem::path& folder,
                                 const std::filesystem::path& object, lowering::Output options = {});

/// One access of a warp, with its block and warp.
struct Seen {
  std::uint64_t block;
  std::uint32_t warp;
  ring::Line line;
};

class DeviceProgram {
public:
  /// Fails the test if it does not compile, lower or load.
  explicit DeviceProgram(const std::string& source, const lowering::Output& options = {});
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;

  /// Returns the kernel or variable whose name contains `name`.
  const cpu::KernelRecord& kernel(const std::string& name) const;
  void* variable(const std::string& name) const;

  template <class... Arguments>
  cpu::GridResult run(const std::string& name, trace::Dim3 grid, trace::Dim3 block,
                      std::uint32_t dynamic_shared, Arguments... arguments) const {
    void* pointers[] = {&arguments..., nullptr};
    return cpu::run_grid({&kernel(name), grid, block, dynamic_shared, pointers}, nullptr);
  }

  /// Runs all blocks traced, and returns each warp's accesses in order.
  template <class... Arguments>
  cpu::GridResult trace(std::vector<Seen>& seen, const std::string& name, trace::Dim3 grid, trace::Dim3 block,
                        std::uint32_t dynamic_shared, Arguments... arguments) const {
    void* pointers[] = {&arguments..., nullptr};
    return run_traced({&kernel(name), grid, block, dynamic_shared, pointers}, seen);
  }

private:
  static cpu::GridResult run_traced(const cpu::Grid& grid, std::vector<Seen>& seen);

  TemporaryDirectory folder_;
  void* library_ = nullptr;
  std::size_t first_kernel_, first_variable_;
};

} // namespace warplens::test
