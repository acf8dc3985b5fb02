// Textures and surfaces as a launch sees them: who launches has their objects, and knows their texels.
#pragma once

#include "sass/operands.h"

#include <array>
#include <cstdint>

namespace warplens::machine {

/// A fetch from a texture by one lane.
struct TextureFetch {
  std::uint64_t handle = 0;
  sass::TextureKind kind = sass::TextureKind::sample;
  sass::ImageShape shape = sass::ImageShape::plane; ///< that of a line is also written as a plane with y = 0
  std::uint8_t component = 0;                       ///< that is gathered
  std::int32_t index = 0;                           ///< the layer, or the element
  float x = 0, y = 0, z = 0;
  float level = 0;                           ///< of a mipmap
  std::array<float, 2> along_x{}, along_y{}; ///< with gradients: how far neighbours' coordinates are apart
};

/// An access of a surface by one lane; x counts bytes.
struct SurfaceAccess {
  std::uint64_t handle = 0;
  std::int32_t x = 0, y = 0, z = 0, layer = 0;
  sass::Boundary boundary = sass::Boundary::trap;
  std::uint32_t bytes = 0;
};

struct SurfacePlace {
  enum class Kind : std::uint8_t { inside, outside, fault };
  Kind kind = Kind::fault;
  std::uint64_t address = 0; ///< in the launch's memory
  std::uint64_t on_gpu = 0;  ///< in the layout that a GPU's image has, for who observes; 0: not known
};

class Images {
public:
  virtual ~Images() = default;
  /// Sets the four channels, as integers or the bits of floats. Returns false if there is no such texture.
  virtual bool fetch(const TextureFetch& fetch, std::array<std::uint32_t, 4>& texel) const = 0;
  /// Sets the addresses of the texels that a fetch reads, in the layout that a GPU's image has; those that
  /// are not read are 0. Returns the bytes of each.
  virtual std::uint32_t texels_of(const TextureFetch& fetch,
                                  std::array<std::uint64_t, 8>& addresses) const = 0;
  virtual SurfacePlace place_of(const SurfaceAccess& access) const = 0;
};

} // namespace warplens::machine
