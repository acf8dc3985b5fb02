#include "toolchain/resources.h"

#include "support/process.h"
#include "toolchain/cache/stage_cache.h"
#include "toolchain/version.h"

namespace warplens::toolchain {

namespace fs = std::filesystem;

const Resources& resources() {
  static const Resources found = [] {
    const auto root = executable_directory().parent_path();
    const auto share = root / "share/warplens";
    std::error_code error;
    return Resources{root / "libexec/warplens/warplens-compile",
                     fs::exists(clang, error) ? fs::path(clang) : program_in_path("c++"),
                     root / "libexec/warplens/warplens-measure",
                     root / "libexec/warplens/warplens-launch",
                     root / "lib/warplens",
                     root / "lib/warplens/libwarplens_gpu.so",
                     share / "include",
                     share / "compatibility",
                     share / "gpus",
                     share / "groups",
                     share / "report.html",
                     share / "redirected_symbols.txt",
                     share / "variant_symbols.txt",
                     share / "ncu_report_pages.py",
                     share / "addressing.toml",
                     share / "measure_pairs.cu"};
  }();
  return found;
}

} // namespace warplens::toolchain
