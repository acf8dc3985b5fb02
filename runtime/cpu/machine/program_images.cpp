#include "runtime/cpu/machine/program_images.h"

#include "runtime/cpu/memory/texture.h"

namespace warplens::cpu {
namespace {

using sass::ImageShape;
using sass::TextureKind;

texels::Shape shape_of(const machine::TextureFetch& fetch, const TextureObject& texture) {
  if (fetch.kind == TextureKind::element)
    return texels::Shape::element;
  if (fetch.kind == TextureKind::gather)
    return texels::Shape::gather;
  switch (fetch.shape) {
  case ImageShape::line: return texels::Shape::line;
  case ImageShape::plane: return texture.image.dimensions == 1 ? texels::Shape::line : texels::Shape::plane;
  case ImageShape::volume: return texels::Shape::volume;
  case ImageShape::cube: return texels::Shape::cube;
  case ImageShape::lines: return texels::Shape::lines;
  case ImageShape::planes: return texels::Shape::planes;
  case ImageShape::cubes: return texels::Shape::cubes;
  }
  return texels::Shape::plane;
}

texels::Coordinates coordinates_of(const machine::TextureFetch& fetch) {
  return {fetch.index, fetch.x, fetch.y, fetch.z};
}

} // namespace

bool ProgramImages::fetch(const machine::TextureFetch& fetch, std::array<std::uint32_t, 4>& texel) const {
  const TextureObject* const texture = find_object(fetch.handle, false);
  if (texture == nullptr)
    return false;
  switch (fetch.kind) {
  case TextureKind::element: texel = element(*texture, fetch.index); break;
  case TextureKind::gather: texel = gather(*texture, fetch.component, fetch.x, fetch.y); break;
  default:
    texel = sample(*texture, shape_of(fetch, *texture), coordinates_of(fetch),
                   {.level = fetch.level,
                    .has_gradients = fetch.kind == TextureKind::gradients,
                    .along_x = {fetch.along_x[0], fetch.along_x[1]},
                    .along_y = {fetch.along_y[0], fetch.along_y[1]}});
  }
  return true;
}

std::uint32_t ProgramImages::texels_of(const machine::TextureFetch& fetch,
                                       std::array<std::uint64_t, 8>& addresses) const {
  const TextureObject* const texture = find_object(fetch.handle, false);
  if (texture == nullptr)
    return 0;
  const texels::Shape shape = shape_of(fetch, *texture);
  for (unsigned corner = 0; corner < texels::max_texels(shape); ++corner)
    addresses[corner] = texels::texel(texture->view, shape, coordinates_of(fetch), corner);
  return texture->view.texel_bytes;
}

machine::SurfacePlace ProgramImages::place_of(const machine::SurfaceAccess& access) const {
  using Kind = machine::SurfacePlace::Kind;
  const TextureObject* const surface = find_object(access.handle, true);
  if (surface == nullptr || access.x % std::int64_t{access.bytes} != 0)
    return {};
  const bool clamps = access.boundary == sass::Boundary::clamp;
  const auto& [handle, x, y, z, layer, boundary, bytes] = access;
  const std::uint64_t address = place_in_surface(*surface, x, y, z, layer, clamps, bytes);
  if (address == 0)
    return {.kind = boundary == sass::Boundary::trap ? Kind::fault : Kind::outside};
  return {Kind::inside, address, texels::surface_address(surface->view, x, y, z, layer, clamps, bytes)};
}

} // namespace warplens::cpu
