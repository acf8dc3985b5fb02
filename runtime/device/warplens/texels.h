// The texels that a fetch touches, and their addresses: one code for both back ends. Formulas: CUDA C++
// Programming Guide, "Texture Fetching".
//
// Linear memory and pitched rows lie where the program put them. CUDA does not document the layout of a CUDA
// array; this file assumes the block-linear layout of NVIDIA's own documents, for Fermi and later: "GOBs" of
// 64 bytes by 8 rows, in blocks of several GOBs, one above the other (Tegra X1 Technical Reference Manual,
// "Block Linear", with the order of the bytes in a GOB). The driver chooses the height of a block; this file
// follows Mesa's nouveau (nv50_tex_choose_tile_dims_helper). Arrays of one row are assumed to be linear.
//
// Needs C++14.
#pragma once

#include <math.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define WARPLENS_TEXELS __host__ __device__ inline
#else
#define WARPLENS_TEXELS inline
#endif

namespace warplens {
namespace texels {

/// The meaning of a fetch's coordinates: tex's 1d, 2d, 3d, a1d, a2d, cube and acube; tld4 (all four texels,
/// for any filter); tex with an integer coordinate.
enum class Shape : uint32_t { line, plane, volume, lines, planes, cube, cubes, gather, element };

/// The position of a fetch. `index` counts layers, or elements.
struct Coordinates {
  int32_t index;
  float x, y, z;
};

/// cudaTextureAddressMode
enum Mode : uint32_t { wrap = 0, clamp = 1, mirror = 2, border = 3 };

/// A bound texture or surface. Extents count texels.
struct View {
  uint64_t address;   ///< the first texel's address
  uint64_t row_bytes; ///< the distance of two rows, if linear
  uint32_t width, height, depth, layers;
  uint32_t texel_bytes;
  uint32_t modes[3]; ///< the Mode for x, y and z
  bool filters, is_normalised, is_cubemap, is_block_linear;
};

WARPLENS_TEXELS uint64_t divided_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit;
}

/// The number of a block's GOBs, above and behind one another, as powers of two.
struct BlockShape {
  unsigned high, deep;
};
WARPLENS_TEXELS BlockShape block_shape(const View& view) {
  BlockShape shape{0, 0};
  const unsigned highest = view.depth > 1 ? 2 : 4;
  while (shape.high < highest && (8u << shape.high) < view.height)
    ++shape.high;
  const unsigned deepest = shape.high < 2 ? 5 : 4;
  while (shape.deep < deepest && (1u << shape.deep) < view.depth)
    ++shape.deep;
  return shape;
}

enum : uint64_t { gob_width = 64, gob_rows = 8, gob_bytes = 512 };

/// Returns the bytes that the array takes in its own layout.
WARPLENS_TEXELS uint64_t bytes_of(const View& view) {
  if (!view.is_block_linear)
    return view.row_bytes * view.height * view.depth * view.layers;
  const BlockShape block = block_shape(view);
  return divided_up(uint64_t{view.width} * view.texel_bytes, gob_width) *
         divided_up(view.height, gob_rows << block.high) * divided_up(view.depth, 1u << block.deep) *
         view.layers * (gob_bytes << (block.high + block.deep));
}

/// Returns the address of byte `x` of row `y` of a slice, of a layer.
WARPLENS_TEXELS uint64_t address_of(const View& view, uint64_t x, uint64_t y, uint64_t z, uint64_t layer) {
  if (!view.is_block_linear)
    return view.address + ((layer * view.depth + z) * view.height + y) * view.row_bytes + x;
  const BlockShape shape = block_shape(view);
  const uint64_t wide = divided_up(uint64_t{view.width} * view.texel_bytes, gob_width);
  const uint64_t high = divided_up(view.height, gob_rows << shape.high);
  const uint64_t deep = divided_up(view.depth, 1u << shape.deep);
  const uint64_t row = y / gob_rows; // a row of GOBs
  const uint64_t block =
      ((layer * deep + (z >> shape.deep)) * high + (row >> shape.high)) * wide + x / gob_width;
  const uint64_t gob = (z & ((1u << shape.deep) - 1)) << shape.high | (row & ((1u << shape.high) - 1));
  const uint64_t in_gob = x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
  return view.address + ((block << (shape.high + shape.deep)) + gob) * gob_bytes + in_gob;
}

/// The texels along one dimension, and the weight of the second.
struct Span {
  int64_t first, second; ///< -1: outside, in border mode
  float second_part;
};

WARPLENS_TEXELS int64_t bounded(double place, uint32_t size, uint32_t mode) {
  const double texels = size;
  if (mode == wrap) {
    place -= floor(place / texels) * texels;
  } else if (mode == mirror) {
    const double period = place - floor(place / (2 * texels)) * 2 * texels;
    place = period < texels ? period : 2 * texels - 1 - period;
  } else if (mode == border && (place < 0 || place >= texels)) {
    return -1;
  }
  return static_cast<int64_t>(place < 0 ? 0 : place > texels - 1 ? texels - 1 : place);
}

/// Computes the span along `dimension`: 0 is x.
WARPLENS_TEXELS Span span(const View& view, float coordinate, uint32_t size, unsigned dimension,
                          bool filters) {
  const bool is_normalised = view.is_normalised || view.is_cubemap;
  uint32_t mode = view.modes[dimension];
  if (view.is_cubemap || (!is_normalised && (mode == wrap || mode == mirror)))
    mode = clamp;
  double place = coordinate - coordinate == 0 ? coordinate : 0; // neither infinite nor NaN
  if (is_normalised)
    place *= size;
  if (!filters)
    return {bounded(floor(place), size, mode), 0, 0};
  place -= 0.5;
  const double first = floor(place);
  // The fraction has 8 bits and holds 1.0 ("Linear Filtering").
  const double fraction = round((place - first) * 256) / 256;
  return {bounded(first, size, mode), bounded(first + 1, size, mode), static_cast<float>(fraction)};
}

/// Returns the face that a direction points to ("Cubemap Textures"); x and y become the point where it meets
/// the face, in [0, 1].
WARPLENS_TEXELS int32_t enter_face(Coordinates& at) {
  const float x = at.x, y = at.y, z = at.z;
  const float ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
  float s, t, m;
  int32_t face;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    m = ax;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    m = ay;
  } else {
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    m = az;
  }
  at.x = (s / m + 1) / 2;
  at.y = (t / m + 1) / 2;
  return face;
}

/// A fetch's texels, dimension by dimension.
struct Place {
  Span columns, rows, slices;
  uint32_t layer;
};
WARPLENS_TEXELS Place place_of(const View& view, Shape shape, Coordinates at) {
  int64_t layer = 0;
  if (shape == Shape::cube || shape == Shape::cubes)
    layer = enter_face(at) + (shape == Shape::cubes ? int64_t{6} * at.index : 0);
  else if (shape == Shape::lines || shape == Shape::planes)
    layer = at.index;
  const int64_t last = int64_t{view.layers} - 1;
  const bool filters = view.filters || shape == Shape::gather;
  const bool one_row = shape == Shape::line || shape == Shape::lines;
  const Span none{0, 0, 0};
  return {span(view, at.x, view.width, 0, filters),
          one_row ? none : span(view, at.y, view.height, 1, filters),
          shape == Shape::volume ? span(view, at.z, view.depth, 2, filters) : none,
          static_cast<uint32_t>(layer < 0      ? 0
                                : layer > last ? last
                                               : layer)};
}

/// Returns the maximum number of texels that a fetch touches.
WARPLENS_TEXELS constexpr unsigned max_texels(Shape shape) {
  return shape == Shape::element                         ? 1
         : shape == Shape::line || shape == Shape::lines ? 2
         : shape == Shape::volume                        ? 8
                                                         : 4;
}

/// Returns the touched texel of one side along one dimension, else -1. Texels that have no part in the result
/// do not count as touched, nor does a texel twice that both sides share.
WARPLENS_TEXELS int64_t touched(const Span& span, bool second, bool all) {
  if (span.first == span.second && second)
    return -1;
  if (!all && span.first != span.second && span.second_part == (second ? 0.0f : 1.0f))
    return -1;
  return second ? span.second : span.first;
}

/// Returns the address of the texel that a fetch touches at one of its corners, below max_texels(shape): bit
/// 0 of `corner` is the side along x, bit 1 along y, bit 2 along z. Returns 0 if it touches none there.
WARPLENS_TEXELS uint64_t texel(const View& view, Shape shape, const Coordinates& at, unsigned corner) {
  if (shape == Shape::element)
    return at.index < 0 || static_cast<uint32_t>(at.index) >= view.width
               ? 0
               : address_of(view, uint64_t(at.index) * view.texel_bytes, 0, 0, 0);
  const bool all = shape == Shape::gather;
  if (!view.filters && !all && corner != 0)
    return 0;
  const Place place = place_of(view, shape, at);
  const int64_t x = touched(place.columns, corner & 1, all), y = touched(place.rows, corner & 2, all),
                z = touched(place.slices, corner & 4, all);
  if (x < 0 || y < 0 || z < 0)
    return 0;
  return address_of(view, uint64_t(x) * view.texel_bytes, uint64_t(y), uint64_t(z), place.layer);
}

/// Returns the address of a surface access of `bytes` bytes, with x in bytes; 0 if it lies outside and
/// touches nothing.
WARPLENS_TEXELS uint64_t surface_address(const View& view, int64_t x, int64_t y, int64_t z, int64_t layer,
                                         bool clamps, uint32_t bytes) {
  const int64_t last[] = {int64_t{view.width} * view.texel_bytes - bytes, int64_t{view.height} - 1,
                          int64_t{view.depth} - 1, int64_t{view.layers} - 1};
  int64_t place[] = {x, y, z, layer};
  for (int i = 0; i < 4; ++i) {
    if (last[i] < 0 || (!clamps && (place[i] < 0 || place[i] > last[i])))
      return 0;
    place[i] = place[i] < 0 ? 0 : place[i] > last[i] ? last[i] : place[i];
  }
  return address_of(view, uint64_t(place[0]), uint64_t(place[1]), uint64_t(place[2]), uint64_t(place[3]));
}

} // namespace texels
} // namespace warplens

#undef WARPLENS_TEXELS
