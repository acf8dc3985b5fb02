// Textures: of one dimension over the array as it lies, or of two, whose texels lie in blocks.
#include "placement/change/place.h"
#include "placement/change/source_loads.h"
#include "runtime/device/warplens/texels.h"
#include "vocabulary/round_up.h"

#include <bit>

namespace warplens::placement {
namespace {

constexpr std::uint64_t max_linear_texels = std::uint64_t{1} << 27; // CUDA C++ Programming Guide, Table 21
constexpr std::uint64_t max_width = 131072, max_height = 65536;     // likewise, 2D textures of CUDA arrays
constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20;

/// Returns what forbids a texture of any shape.
std::vector<Reason> objections(const Array& array, const ChangeContext& context) {
  if (array.space != Space::global)
    return {context.because(array.first_access, "it is not in global memory")};
  std::vector<Reason> reasons = context.written(array, "a texture");
  if (!std::has_single_bit(array.element_bytes) || array.element_bytes > 16)
    reasons.push_back(
        context.because(array.first_access, fmt::format("texels have 1, 2, 4, 8 or 16 bytes, its elements {}",
                                                        array.element_bytes)));
  return reasons;
}

class ToTexture final : public Transformation {
public:
  void change(Site& site) const override {
    site.space = Space::global;
    site.cache_operator = CacheOperator::tex;
  }
  void change(std::uint64_t, trace::WarpAccess& access) const override { access.space = Space::global; }
};

class ToTexture2d final : public Transformation {
public:
  ToTexture2d(const Array& array, const texels::View& view) : base_(array.base), view_(view) {}
  void change(Site& site) const override {
    site.space = Space::global;
    site.cache_operator = CacheOperator::tex;
  }
  void change(std::uint64_t, trace::WarpAccess& access) const override {
    access.space = Space::global;
    for (std::uint32_t lanes = access.active; lanes != 0; lanes &= lanes - 1) {
      std::uint64_t& address = access.addresses[unsigned(std::countr_zero(lanes))];
      const std::uint64_t element = (address - base_) / view_.texel_bytes;
      address =
          texels::address_of(view_, element % view_.width * view_.texel_bytes, element / view_.width, 0, 0);
    }
  }

private:
  std::uint64_t base_;
  texels::View view_;
};

Planned to_texture(const Array& array, const Move&, ChangeContext& context) {
  std::vector<Reason> reasons = objections(array, context);
  if (reasons.empty() && array.bytes / array.element_bytes > max_linear_texels)
    reasons.push_back(context.because(array.first_access,
                                      fmt::format("{} texels of at most {} in linear memory",
                                                  array.bytes / array.element_bytes, max_linear_texels)));
  if (!reasons.empty())
    return {nullptr, std::move(reasons)};
  return {std::make_unique<ToTexture>(), {}};
}

Expected<std::string> move_to_texture(const TracedKernel& kernel, const Suggested& suggested,
                                      const std::string& source) {
  return source_with_moved(source_with_texture, kernel, suggested.array, source);
}

bool has_own_texture_cache(const Array&, const model::Gpu& gpu) {
  return has_texture_cache(gpu);
}

std::string_view texture_memory(const model::Gpu&) {
  return "textures";
}

std::string texture_words(const TracedKernel&, const Suggested& suggested) {
  return fmt::format("fetch {} by tex1Dfetch() from a linear texture", suggested.array.name);
}

Planned to_texture_2d(const Array& array, const Move& move, ChangeContext& context) {
  std::vector<Reason> reasons = objections(array, context);
  if (!reasons.empty())
    return {nullptr, std::move(reasons)};
  const std::uint64_t width =
      move.texels_per_row != 0 ? move.texels_per_row : array.row_bytes / array.element_bytes;
  const std::uint64_t height = width == 0 ? 0 : (array.bytes / array.element_bytes + width - 1) / width;
  if (width == 0)
    reasons.push_back(context.because(array.first_access,
                                      "neither its accesses nor the launch tell its rows: "
                                      "name their length, as texture2d=1024"));
  else if (width > max_width || height > max_height)
    reasons.push_back(context.because(array.first_access, fmt::format("{} x {} texels of at most {} x {}",
                                                                      width, height, max_width, max_height)));
  if (!reasons.empty())
    return {nullptr, std::move(reasons)};
  texels::View view{};
  view.address = round_up(context.device_end, page_bytes);
  view.width = std::uint32_t(width);
  view.height = std::uint32_t(height);
  view.depth = view.layers = 1;
  view.texel_bytes = array.element_bytes;
  view.is_block_linear = true;
  context.device_end = view.address + texels::bytes_of(view);
  return {std::make_unique<ToTexture2d>(array, view), {}};
}

/// Texels that are near in both dimensions share a line.
bool has_blocks_of_texels(const Array&, const model::Gpu&) {
  return true;
}

std::string texture_2d_words(const TracedKernel&, const Suggested& suggested) {
  return fmt::format("fetch {} from a 2D texture", suggested.array.name);
}

} // namespace

constinit const PlaceTraits texture_place{
    .plan = to_texture,
    .words = texture_words,
    .edit = move_to_texture,
    .has_better_cache = has_own_texture_cache,
    .memory_behind = texture_memory,
};

constinit const PlaceTraits texture_2d_place{
    .plan = to_texture_2d,
    .words = texture_2d_words,
    .has_better_cache = has_blocks_of_texels,
    .memory_behind = texture_memory,
};

} // namespace warplens::placement
