#include "placement/change/rewrite.h"

#include <array>
#include <cstddef>
#include <utility>

namespace warplens::placement {
namespace {

constexpr auto rewrites = std::to_array<const RewriteTraits*>({
#define WARPLENS_REWRITE(name) &name##_rewrite,
#include "placement/change/rewrites.def"
#undef WARPLENS_REWRITE
});

} // namespace

const RewriteTraits& traits_of(Rewrite rewrite) {
  return *rewrites[std::size_t(rewrite) - 1]; // `none` has no row
}

bool is_of_launch(Rewrite rewrite) {
  return rewrite != Rewrite::none && traits_of(rewrite).change_launch != nullptr;
}

LaunchChange refused_launch(std::string text) {
  return {nullptr, {{}, 0, std::move(text)}, 0};
}

} // namespace warplens::placement
