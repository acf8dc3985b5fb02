// Fetches: which elements a coordinate stands for, and what is made of them. Formulas: CUDA C++ Programming
// Guide, "Texture Fetching".
#include "runtime/cpu/texture.h"

#include "runtime/cpu/intrinsics.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

namespace warplens::cpu {
namespace {

constexpr std::size_t most_objects = 1 << 16;
std::atomic<const TextureObject*> objects[most_objects];

const TextureObject& bound(std::uint64_t handle, bool is_surface) {
  if (const TextureObject* object = find_object(handle, is_surface))
    return *object;
  __warplens_cpu_abort_kernel(is_surface ? "a surface object that does not exist is used"
                                         : "a texture object that does not exist is fetched from");
}

/// Elements along one dimension and how much the second counts.
struct Span {
  std::int64_t first = 0, second = 0; ///< -1: outside, in border mode
  float second_part = 0;
};

std::int64_t bounded(double place, std::size_t size, cudaTextureAddressMode mode) {
  const auto elements = static_cast<double>(size);
  switch (mode) {
  case cudaAddressModeWrap: place -= std::floor(place / elements) * elements; break;
  case cudaAddressModeMirror: {
    const double period = place - std::floor(place / (2 * elements)) * 2 * elements;
    place = period < elements ? period : 2 * elements - 1 - period;
    break;
  }
  case cudaAddressModeBorder:
    if (place < 0 || place >= elements)
      return -1;
    break;
  default: break;
  }
  return static_cast<std::int64_t>(std::clamp(place, 0.0, elements - 1));
}

class Sampler {
public:
  explicit Sampler(const TextureObject& object)
      : image_(object.image), texture_(object.texture),
        linear_(object.texture.filterMode == cudaFilterModeLinear) {}

  Texel fetch(TextureShape shape, std::uint32_t layer, float x, float y, float z) const {
    if (shape == TextureShape::cube || shape == TextureShape::cubes)
      layer = face(x, y, z) + 6 * (shape == TextureShape::cubes ? layer : 0);
    layer = static_cast<std::uint32_t>(std::min<std::size_t>(layer, image_.layers - 1));
    const bool normalised = texture_.normalizedCoords || image_.is_cubemap;
    const Span columns = span(x, image_.width, 0, linear_, normalised);
    const bool one = shape == TextureShape::line || shape == TextureShape::lines;
    const Span rows = one ? Span{} : span(y, image_.height, 1, linear_, normalised);
    const Span slices =
        shape == TextureShape::volume ? span(z, image_.depth, 2, linear_, normalised) : Span{};
    if (!linear_)
      return result(at(columns.first, rows.first, slices.first, layer));
    std::array<float, 4> sum{};
    for (int corner = 0; corner < 8; ++corner) {
      const auto part = [](const Span& span, bool second) {
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
    const Span columns = span(x, image_.width, 0, true, texture_.normalizedCoords);
    const Span rows = span(y, image_.height, 1, true, texture_.normalizedCoords);
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
  /// "Cubemap Textures": the face that the direction points to, and where it meets it, in [0, 1].
  static std::uint32_t face(float& x, float& y, float z) {
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float s, t, m;
    std::uint32_t face;
    if (ax >= ay && ax >= az) {
      face = x >= 0 ? 0 : 1;
      s = x >= 0 ? -z : z, t = -y, m = ax;
    } else if (ay >= az) {
      face = y >= 0 ? 2 : 3;
      s = x, t = y >= 0 ? z : -z, m = ay;
    } else {
      face = z >= 0 ? 4 : 5;
      s = z >= 0 ? x : -x, t = -y, m = az;
    }
    x = (s / m + 1) / 2;
    y = (t / m + 1) / 2;
    return face;
  }

  Span span(float coordinate, std::size_t size, int dimension, bool linear, bool normalised) const {
    auto mode = texture_.addressMode[dimension];
    if (image_.is_cubemap || (!normalised && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)))
      mode = cudaAddressModeClamp;
    double place = coordinate;
    if (!std::isfinite(place))
      place = 0;
    if (normalised)
      place *= static_cast<double>(size);
    if (!linear)
      return {bounded(std::floor(place), size, mode), 0, 0};
    place -= 0.5;
    const double first = std::floor(place);
    // The fraction has 8 bits and holds 1.0 ("Linear Filtering").
    const double fraction = std::round((place - first) * 256) / 256;
    return {bounded(first, size, mode), bounded(first + 1, size, mode), static_cast<float>(fraction)};
  }

  /// Null: outside.
  const char* at(std::int64_t x, std::int64_t y, std::int64_t z, std::uint32_t layer) const {
    if (x < 0 || y < 0 || z < 0)
      return nullptr;
    return image_.element(static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                          static_cast<std::size_t>(z), layer);
  }

  std::array<float, 4> floats(const char* element) const {
    if (!element)
      return std::bit_cast<std::array<float, 4>>(std::bit_cast<Texel>(texture_.borderColor));
    return read_normalised(image_, element);
  }

  Texel result(const char* element) const {
    const bool as_float =
        image_.format.f == cudaChannelFormatKindFloat || texture_.readMode == cudaReadModeNormalizedFloat;
    return !element || as_float ? std::bit_cast<Texel>(floats(element)) : read_element(image_, element);
  }

  const Image& image_;
  const cudaTextureDesc& texture_;
  bool linear_;
};

/// Where a surface access goes; null: nowhere.
char* surface_place(std::uint64_t handle, std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t layer,
                    std::uint32_t mode, std::uint32_t bytes) {
  const Image& image = bound(handle, true).image;
  const auto last = [](std::size_t size) { return static_cast<std::int64_t>(size) - 1; };
  const std::int64_t width = static_cast<std::int64_t>(image.width * image.element_bytes());
  const std::int64_t last_x = width - bytes;
  const bool inside = x >= 0 && x <= last_x && y >= 0 && y <= last(image.height) && z >= 0 &&
                      z <= last(image.depth) && layer >= 0 && layer <= last(image.layers);
  if (x % bytes != 0)
    __warplens_cpu_abort_kernel(
        "a surface is accessed at an x, in bytes, that is no multiple of the element's size");
  if (!inside && mode == cudaBoundaryModeTrap)
    __warplens_cpu_abort_kernel("a surface is accessed outside of its bounds (cudaBoundaryModeTrap)");
  if (!inside && (mode != cudaBoundaryModeClamp || last_x < 0))
    return nullptr;
  const auto clamp = [](std::int64_t value, std::int64_t highest) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, highest));
  };
  return image.element(0, clamp(y, last(image.height)), clamp(z, last(image.depth)),
                       clamp(layer, last(image.layers))) +
         clamp(x, last_x);
}

} // namespace

std::uint64_t add_object(const TextureObject& object) {
  auto made = std::make_unique<const TextureObject>(object);
  for (std::size_t place = 0; place < most_objects; ++place) {
    const TextureObject* none = nullptr;
    if (objects[place].compare_exchange_strong(none, made.get())) {
      made.release();
      return place + 1;
    }
  }
  return 0;
}

const TextureObject* find_object(std::uint64_t handle, bool is_surface) {
  if (handle == 0 || handle > most_objects)
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

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_texture(std::uint64_t texture, std::uint32_t shape, std::uint32_t layer, float x, float y,
                            float z, std::uint32_t* texel) {
  const Texel found = Sampler(bound(texture, false)).fetch(static_cast<TextureShape>(shape), layer, x, y, z);
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texel(std::uint64_t texture, std::int32_t x, std::uint32_t* texel) {
  const Texel found = Sampler(bound(texture, false)).element(x);
  std::memcpy(texel, found.data(), sizeof found);
}

void __warplens_cpu_texture_gather(std::uint64_t texture, std::uint32_t component, float x, float y,
                                   std::uint32_t* texel) {
  const Texel found = Sampler(bound(texture, false)).gather(component, x, y);
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
