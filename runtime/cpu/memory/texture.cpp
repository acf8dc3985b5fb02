// Texture fetches and surface accesses: the values computed from the texels of a coordinate
// (runtime/device/warplens/texels.h).
#include "runtime/cpu/memory/texture.h"

#include "runtime/abi/intrinsics.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

namespace warplens::cpu {
namespace {

using texels::Shape;

constexpr std::size_t max_objects = 1 << 16;
std::atomic<const TextureObject*> objects[max_objects];

const TextureObject& bound(std::uint64_t handle, bool is_surface) {
  if (const TextureObject* object = find_object(handle, is_surface))
    return *object;
  __warplens_cpu_abort_kernel(is_surface ? "a surface object that does not exist is used"
                                         : "a texture object that does not exist is fetched from");
}

class Sampler {
public:
  explicit Sampler(const TextureObject& object)
      : image_(object.image), texture_(object.texture), view_(object.view) {}

  Texel fetch(Shape shape, const texels::Coordinates& coordinates) const {
    const texels::Place place = texels::place_of(view_, shape, coordinates);
    const auto& [columns, rows, slices, layer] = place;
    if (!view_.filters)
      return result(at(columns.first, rows.first, slices.first, layer));
    std::array<float, 4> sum{};
    for (int corner = 0; corner < 8; ++corner) {
      const auto part = [](const texels::Span& span, bool second) {
        return second ? span.second_part : 1 - span.second_part;
      };
      const bool right = corner & 1, below = corner & 2, behind = corner & 4;
      const float weight = part(columns, right) * part(rows, below) * part(slices, behind);
      if (weight == 0)
        continue;
      const auto values = floats(at(right ? columns.second : columns.first, below ? rows.second : rows.first,
                                    behind ? slices.second : slices.first, layer));
      for (std::size_t channel = 0; channel < 4; ++channel)
        sum[channel] += weight * values[channel];
    }
    return std::bit_cast<Texel>(sum);
  }

  Texel gather(std::uint32_t component, float x, float y) const {
    const texels::Place place = texels::place_of(view_, Shape::gather, {0, x, y, 0});
    const texels::Span &columns = place.columns, &rows = place.rows;
    const auto one = [&](std::int64_t column, std::int64_t row) {
      return result(at(column, row, 0, 0))[component];
    };
    return {one(columns.first, rows.second), one(columns.second, rows.second),
            one(columns.second, rows.first), one(columns.first, rows.first)};
  }

  Texel element(std::int64_t x) const {
    const bool inside = x >= 0 && static_cast<std::size_t>(x) < image_.width;
    return result(inside ? image_.element(static_cast<std::size_t>(x), 0, 0, 0) : nullptr);
  }

private:
  /// Returns null for a position outside.
  const char* at(std::int64_t x, std::int64_t y, std::int64_t z, std::uint32_t layer) const {
    if (x < 0 || y < 0 || z < 0)
      return nullptr;
    return image_.element(static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                          static_cast<std::size_t>(z), layer);
  }

  std::array<float, 4> floats(const char* element) const {
    if (!element)
      return std::bit_cast<std::array<float, 4>>(std::bit_cast<Texel>(texture_.borderColor));
    auto values = read_normalised(image_, element);
    if (texture_.sRGB != 0 && image_.format.x == 8 && image_.format.f == cudaChannelFormatKindUnsigned)
      std::for_each_n(values.begin(), 3, [](float& value) { value = linear_of_srgb(value); }); // not alpha
    return values;
  }
  /// The inverse of sRGB's transfer function (IEC 61966-2-1).
  static float linear_of_srgb(float value) {
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
  }

  Texel result(const char* element) const {
    const bool as_float =
        image_.format.f == cudaChannelFormatKindFloat || texture_.readMode == cudaReadModeNormalizedFloat;
    return !element || as_float ? std::bit_cast<Texel>(floats(element)) : read_element(image_, element);
  }

  const Image& image_;
  const cudaTextureDesc& texture_;
  const texels::View& view_;
};

/// Returns the level of a mipmap that a fetch asks for, as the texture bounds it.
float level_of(const TextureObject& texture, const Detail& detail) {
  float level = detail.level;
  if (detail.has_gradients) {
    const bool is_normalised = texture.texture.normalizedCoords != 0;
    const float sizes[] = {float(texture.image.width), float(texture.image.height),
                           float(texture.image.depth)};
    float texels_apart = 0;
    for (const auto& gradient : {detail.along_x, detail.along_y}) {
      float square = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i)
        square += std::pow(gradient[i] * (is_normalised ? sizes[i] : 1), 2.0f);
      texels_apart = std::max(texels_apart, std::sqrt(square));
    }
    level = std::log2(texels_apart);
  }
  level = std::clamp(level + texture.texture.mipmapLevelBias, texture.texture.minMipmapLevelClamp,
                     std::max(texture.texture.minMipmapLevelClamp, texture.texture.maxMipmapLevelClamp));
  return std::clamp(level, 0.0f, float(texture.levels.size() - 1));
}

/// Returns the address of the program's own access; null if it has no effect.
char* surface_place(std::uint64_t handle, std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t layer,
                    std::uint32_t mode, std::uint32_t bytes) {
  const TextureObject& surface = bound(handle, true);
  if (x % bytes != 0)
    __warplens_cpu_abort_kernel(
        "a surface is accessed at an x, in bytes, that is no multiple of the element's size");
  const std::uint64_t address =
      place_in_surface(surface, x, y, z, layer, mode == cudaBoundaryModeClamp, bytes);
  if (address == 0 && mode == cudaBoundaryModeTrap)
    __warplens_cpu_abort_kernel("a surface is accessed outside of its bounds (cudaBoundaryModeTrap)");
  return reinterpret_cast<char*>(address);
}

} // namespace

std::uint64_t add_object(const TextureObject& object) {
  auto made = std::make_unique<const TextureObject>(object);
  for (std::size_t place = 0; place < max_objects; ++place) {
    const TextureObject* none = nullptr;
    if (objects[place].compare_exchange_strong(none, made.get())) {
      made.release();
      return place + 1;
    }
  }
  return 0;
}

const TextureObject* find_object(std::uint64_t handle, bool is_surface) {
  if (handle == 0 || handle > max_objects)
    return nullptr;
  const TextureObject* object = objects[handle - 1].load(std::memory_order_acquire);
  return object && object->is_surface == is_surface ? object : nullptr;
}

bool remove_object(std::uint64_t handle, bool is_surface) {
  if (!find_object(handle, is_surface))
    return false;
  delete objects[handle - 1].exchange(nullptr);
  return true;
}

Texel sample(const TextureObject& texture, Shape shape, const texels::Coordinates& at, const Detail& detail) {
  if (texture.levels.empty())
    return Sampler(texture).fetch(shape, at);
  const float level = level_of(texture, detail);
  const bool blends = texture.texture.mipmapFilterMode == cudaFilterModeLinear;
  const auto first = static_cast<std::size_t>(blends ? level : level + 0.5f);
  const float part = blends ? level - float(first) : 0;
  const Texel of_first = Sampler(texture.levels[first]).fetch(shape, at);
  if (part == 0)
    return of_first;
  auto mean = std::bit_cast<std::array<float, 4>>(of_first);
  const auto further =
      std::bit_cast<std::array<float, 4>>(Sampler(texture.levels[first + 1]).fetch(shape, at));
  for (std::size_t channel = 0; channel < mean.size(); ++channel)
    mean[channel] += part * (further[channel] - mean[channel]);
  return std::bit_cast<Texel>(mean);
}

Texel gather(const TextureObject& texture, std::uint32_t component, float x, float y) {
  return Sampler(texture).gather(component, x, y);
}

Texel element(const TextureObject& texture, std::int64_t x) {
  return Sampler(texture).element(x);
}

std::uint64_t place_in_surface(const TextureObject& surface, std::int64_t x, std::int64_t y, std::int64_t z,
                               std::int64_t layer, bool clamps, std::uint32_t bytes) {
  texels::View rows = surface.view;
  rows.is_block_linear = false; // this memory has rows
  return texels::surface_address(rows, x, y, z, layer, clamps, bytes);
}

} // namespace warplens::cpu

using namespace warplens::cpu;
namespace texels = warplens::texels;

void __warplens_cpu_texture(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x, float y,
                            float z, std::uint32_t* texel) {
  const Texel found =
      sample(bound(texture, false), static_cast<Shape>(shape), {static_cast<std::int32_t>(layer), x, y, z});
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texture_level(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x,
                                  float y, float z, float level, std::uint32_t* texel) {
  const Texel found = sample(bound(texture, false), static_cast<Shape>(shape),
                             {static_cast<std::int32_t>(layer), x, y, z}, {.level = level});
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texture_gradients(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer,
                                      float x, float y, float z, const float* gradients,
                                      std::uint32_t* texel) {
  Detail detail{.has_gradients = true};
  std::copy_n(gradients, 3, detail.along_x.begin());
  std::copy_n(gradients + 3, 3, detail.along_y.begin());
  const Texel found = sample(bound(texture, false), static_cast<Shape>(shape),
                             {static_cast<std::int32_t>(layer), x, y, z}, detail);
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texel(std::uint64_t texture, std::int32_t x, std::uint32_t* texel) {
  const Texel found = element(bound(texture, false), x);
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texture_gather(std::uint64_t texture, std::uint32_t component, float x, float y,
                                   std::uint32_t* texel) {
  const Texel found = gather(bound(texture, false), component, x, y);
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_surface_read(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                 std::int32_t layer, std::uint32_t mode, void* value, std::uint32_t bytes) {
  if (const char* place = surface_place(surface, x, y, z, layer, mode, bytes))
    std::memcpy(value, place, bytes);
  else
    std::memset(value, 0, bytes);
}

void __warplens_cpu_surface_write(std::uint64_t surface, std::int32_t x, std::int32_t y, std::int32_t z,
                                  std::int32_t layer, std::uint32_t mode, const void* value,
                                  std::uint32_t bytes) {
  if (char* place = surface_place(surface, x, y, z, layer, mode, bytes))
    std::memcpy(place, value, bytes);
}

std::uint64_t __warplens_texel_address(std::uint64_t texture, std::uint32_t shape, std::int32_t index,
                                       float x, float y, float z, std::uint32_t corner) {
  const TextureObject* object = find_object(texture, false);
  return object ? texels::texel(object->view, static_cast<Shape>(shape), {index, x, y, z}, corner) : 0;
}

std::uint32_t __warplens_texel_bytes(std::uint64_t texture) {
  const TextureObject* object = find_object(texture, false);
  return object ? object->view.texel_bytes : 0;
}

std::uint64_t __warplens_surface_address(std::uint64_t surface, std::int32_t x, std::int32_t y,
                                         std::int32_t z, std::int32_t layer, std::uint32_t mode,
                                         std::uint32_t bytes) {
  const TextureObject* object = find_object(surface, true);
  return object ? texels::surface_address(object->view, x, y, z, layer, mode == cudaBoundaryModeClamp, bytes)
                : 0;
}
