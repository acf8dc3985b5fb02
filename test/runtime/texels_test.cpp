// The texels that a fetch touches, and their addresses, against slow and obvious references.
#include "test/catch.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <warplens/texels.h>
#include <warplens/texture_table.h>

using namespace warplens;
using texels::Shape;

namespace {

texels::View array(std::uint32_t width, std::uint32_t height, std::uint32_t depth, std::uint32_t layers,
                   std::uint32_t texel_bytes) {
  texels::View view{};
  view.address = 1 << 20;
  view.row_bytes = std::uint64_t{width} * texel_bytes;
  view.width = width;
  view.height = height;
  view.depth = depth;
  view.layers = layers;
  view.texel_bytes = texel_bytes;
  view.is_block_linear = true;
  return view;
}

std::uint64_t offset(const texels::View& view, unsigned x, unsigned y, unsigned z = 0, unsigned layer = 0) {
  return texels::address_of(view, x, y, z, layer) - view.address;
}

/// Returns, along one dimension, the texels that have a part in a linearly filtered value, by the formulas of
/// the CUDA C++ Programming Guide.
std::set<int> filtered(double place, int size, std::uint32_t mode, bool is_normalised) {
  const auto bounded = [&](int i) {
    if (mode == texels::border)
      return i < 0 || i >= size ? -1 : i;
    if (mode == texels::wrap && is_normalised)
      return (i % size + size) % size;
    if (mode == texels::mirror && is_normalised) {
      const int period = (i % (2 * size) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    return std::clamp(i, 0, size - 1);
  };
  place = (is_normalised ? place * size : place) - 0.5;
  const int first = int(std::floor(place));
  const double part = std::round((place - first) * 256) / 256;
  std::set<int> touched;
  if (part < 1)
    touched.insert(bounded(first));
  if (part > 0)
    touched.insert(bounded(first + 1));
  touched.erase(-1);
  return touched;
}

} // namespace

TEST_CASE("Bytes of a block-linear array have the published layout") {
  // One GOB: 16 bytes of a row, the same of the next, then 16 bytes on; two rows down after 64.
  const texels::View one = array(64, 8, 1, 1, 1);
  CHECK(texels::bytes_of(one) == 512);
  CHECK(offset(one, 15, 0) == 15);
  CHECK(offset(one, 0, 1) == 16);
  CHECK(offset(one, 16, 0) == 32);
  CHECK(offset(one, 0, 2) == 64);
  CHECK(offset(one, 32, 0) == 256);
  CHECK(offset(one, 63, 7) == 511);
  // GOBs lie one above the other, up to 16 in a block; blocks side by side.
  const texels::View high = array(128, 200, 1, 2, 1);
  CHECK(offset(high, 0, 8) == 512);
  CHECK(offset(high, 64, 0) == 16 * 512);
  CHECK(offset(high, 0, 128) == 2 * 16 * 512);
  CHECK(offset(high, 0, 0, 0, 1) == 4 * 16 * 512);
  // In three dimensions blocks are less high, and deep.
  const texels::View deep = array(64, 64, 8, 1, 1);
  CHECK(offset(deep, 0, 0, 1) == 4 * 512);
  CHECK(offset(deep, 0, 32, 0) == 8 * 4 * 512);
}

TEST_CASE("No two bytes of an array share a place, and none lies outside") {
  for (const auto& view :
       {array(5, 4, 1, 1, 4), array(33, 9, 1, 1, 4), array(100, 130, 1, 1, 2), array(17, 1, 1, 3, 16),
        array(20, 20, 20, 1, 4), array(9, 40, 3, 1, 8), array(16, 16, 1, 6, 4), array(70, 7, 33, 1, 1)}) {
    INFO(view.width << " x " << view.height << " x " << view.depth << " x " << view.layers);
    std::set<std::uint64_t> places;
    std::uint64_t bytes = 0;
    for (unsigned layer = 0; layer < view.layers; ++layer)
      for (unsigned z = 0; z < view.depth; ++z)
        for (unsigned y = 0; y < view.height; ++y)
          for (unsigned x = 0; x < view.row_bytes; ++x, ++bytes)
            places.insert(offset(view, x, y, z, layer));
    CHECK(places.size() == bytes);
    CHECK(*places.rbegin() < texels::bytes_of(view));
  }
}

TEST_CASE("A fetch touches the texels that have a part in its value") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> anywhere(-2, 3);
  unsigned differences = 0, touched_in_all = 0;
  for (int i = 0; i < 20'000; ++i) {
    texels::View view = array(5, 4, 3, 1, 4);
    view.is_block_linear = i % 2;
    view.filters = true;
    view.is_normalised = random() % 2;
    for (std::uint32_t& mode : view.modes)
      mode = random() % 4;
    float at[3];
    const int size[] = {5, 4, 3};
    for (int dimension = 0; dimension < 3; ++dimension) {
      at[dimension] = anywhere(random);
      if (random() % 3 == 0) // a texel's middle
        at[dimension] = (std::floor(at[dimension] * float(size[dimension])) + 0.5f) / float(size[dimension]);
      if (!view.is_normalised)
        at[dimension] *= float(size[dimension]);
    }
    const Shape shape = std::array{Shape::line, Shape::plane, Shape::volume}[random() % 3];
    const auto along = [&](int dimension, bool counts) {
      return counts ? filtered(at[dimension], size[dimension], view.modes[dimension], view.is_normalised)
                    : std::set{0};
    };
    std::multiset<std::uint64_t> expected, found;
    for (const int x : along(0, true))
      for (const int y : along(1, shape != Shape::line))
        for (const int z : along(2, shape == Shape::volume))
          expected.insert(texels::address_of(view, unsigned(x) * 4, unsigned(y), unsigned(z), 0));
    for (unsigned corner = 0; corner < texels::max_texels(shape); ++corner)
      if (const std::uint64_t address = texels::texel(view, shape, {0, at[0], at[1], at[2]}, corner))
        found.insert(address);
    differences += found != expected;
    touched_in_all += unsigned(found.size());
  }
  CHECK(differences == 0);
  CHECK(touched_in_all > 20'000);
}

TEST_CASE("Without a filter a fetch touches one texel, a gather four, an element outside none") {
  texels::View view = array(8, 8, 1, 1, 4);
  const auto count = [&](Shape shape, texels::Coordinates at) {
    unsigned touched = 0;
    for (unsigned corner = 0; corner < texels::max_texels(shape); ++corner)
      touched += texels::texel(view, shape, at, corner) != 0;
    return touched;
  };
  view.modes[0] = view.modes[1] = texels::clamp;
  CHECK(count(Shape::plane, {0, 1, 1, 0}) == 1);
  CHECK(count(Shape::gather, {0, 1.5f, 1.5f, 0}) == 4);
  CHECK(count(Shape::gather, {0, 0, 0, 0}) == 1); // clamped to one
  CHECK(count(Shape::element, {7, 0, 0, 0}) == 1);
  CHECK(count(Shape::element, {8, 0, 0, 0}) == 0);
  CHECK(count(Shape::element, {-1, 0, 0, 0}) == 0);
  view.modes[0] = texels::border;
  CHECK(count(Shape::plane, {0, -1, 1, 0}) == 0);
}

TEST_CASE("Surface accesses outside are dropped, or clamped") {
  const texels::View view = array(8, 4, 1, 2, 4);
  CHECK(texels::surface_address(view, 28, 3, 0, 1, false, 4) == texels::address_of(view, 28, 3, 0, 1));
  CHECK(texels::surface_address(view, 32, 0, 0, 0, false, 4) == 0);
  CHECK(texels::surface_address(view, 0, -1, 0, 0, false, 4) == 0);
  CHECK(texels::surface_address(view, 100, 9, 0, 7, true, 8) == texels::address_of(view, 24, 3, 0, 1));
  CHECK(texels::surface_address(view, 0, 0, 0, 0, true, 64) == 0); // wider than the surface
}

TEST_CASE("The table finds its entries, textures and surfaces separately") {
  const auto table = std::make_unique<TextureTable>();
  for (std::uint64_t handle = 1; handle <= TextureTable::most / 2; ++handle)
    for (const bool is_surface : {false, true}) {
      const std::uint64_t key = texture_key(handle, is_surface);
      table->entries[texture_place(*table, key)] = {key,
                                                    array(1 + unsigned(handle), 1 + is_surface, 1, 1, 4)};
    }
  unsigned wrong = 0;
  for (std::uint64_t handle = 1; handle <= TextureTable::most / 2; ++handle)
    for (const bool is_surface : {false, true}) {
      const texels::View& view = table->entries[texture_place(*table, texture_key(handle, is_surface))].view;
      wrong += view.width != 1 + handle || view.height != 1u + is_surface;
    }
  CHECK(wrong == 0);
  CHECK(table->entries[texture_place(*table, texture_key(5000, false))].key == 0);
}
