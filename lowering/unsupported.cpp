#include "lowering/unsupported.h"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace warplens::lowering {

std::string explanation(llvm::StringRef instruction) {
  using Feature = std::pair<const char*, const char*>;
  static constexpr std::array features{
      Feature{"wmma.", "tensor cores"},
      Feature{"mma.", "tensor cores"},
      Feature{"ldmatrix.", "tensor cores"},
      Feature{"stmatrix.", "tensor cores"},
      Feature{"movmatrix.", "tensor cores"},
      Feature{"wgmma.", "tensor cores of sm_90a"},
      Feature{"tcgen05.", "tensor cores of sm_100"},
      Feature{"cp.async.bulk.tensor.", "tensor memory accelerator"},
      Feature{"cp.async.bulk.prefetch.tensor.", "tensor memory accelerator"},
      Feature{"cp.reduce.async.bulk.", "tensor memory accelerator"},
      Feature{"tensormap.", "tensor memory accelerator"},
      Feature{"st.async.", "memory of other blocks of a cluster"},
      Feature{"red.async.", "memory of other blocks of a cluster"},
      Feature{"multimem.", "memory of several GPUs"},
  };
  constexpr const char* advice = "choose a way of the program's without it, or a GPU: --backend gpu";
  for (const auto& [prefix, name] : features)
    if (instruction.starts_with(prefix))
      return fmt::format(" ({}; {})", name, advice);
  return fmt::format(" ({})", advice);
}

} // namespace warplens::lowering
