// Textures and surfaces: the lanes' coordinates go to the launch's images, and what those say to the
// registers.
#include "machine/warp.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace warplens::machine {
namespace {

using sass::ImageShape;
using sass::TextureKind;

/// The inputs of an instruction, register by register: those of A, and then those of B.
class Inputs {
public:
  Inputs(const Warp& warp, const Operation& o)
      : a_(warp.row(o.a)), b_(warp.row(o.b)), of_a_(o.operands->a.words) {}

  std::uint32_t word(std::uint32_t input, std::uint32_t lane) const {
    return input < of_a_ ? a_[input * lane_count + lane] : b_[(input - of_a_) * lane_count + lane];
  }
  std::int32_t integer(std::uint32_t input, std::uint32_t lane) const {
    return static_cast<std::int32_t>(word(input, lane));
  }
  float number(std::uint32_t input, std::uint32_t lane) const {
    return std::bit_cast<float>(word(input, lane));
  }

private:
  const std::uint32_t *a_, *b_;
  std::uint32_t of_a_;
};

bool has_layers(ImageShape shape) {
  return shape >= ImageShape::lines;
}

TextureFetch fetch_of(const Warp& warp, const Operation& o, std::uint32_t lane) {
  const sass::ImageInputs& image = o.operands->image;
  const Inputs inputs(warp, o);
  TextureFetch fetch{.kind = image.kind, .shape = image.shape, .component = image.component};
  const bool has_gradients = image.kind == TextureKind::gradients;
  const bool has_handle = o.operands->c.kind == sass::Source::Kind::none;
  std::uint32_t next = has_gradients && has_handle ? 1 : 0;
  if (has_layers(image.shape) && !has_gradients)
    fetch.index = inputs.integer(next++, lane);
  if (image.kind == TextureKind::element)
    fetch.index = inputs.integer(next++, lane);
  else {
    const std::uint32_t numbers = image.coordinates - unsigned(has_layers(image.shape));
    float* const to[] = {&fetch.x, &fetch.y, &fetch.z};
    for (std::uint32_t i = 0; i < numbers; ++i)
      *to[i] = inputs.number(next++, lane);
  }
  if (has_layers(image.shape) && has_gradients)
    fetch.index = inputs.integer(next++, lane);
  fetch.handle = !has_handle ? warp.row(o.c)[lane] : inputs.word(has_gradients ? 0 : next, lane);
  if (has_gradients) // of each coordinate both gradients
    for (std::uint32_t i = 0; i < 2 && next + 2 * i + 1 < o.operands->a.words + o.operands->b.words; ++i) {
      fetch.along_x[i] = inputs.number(next + 2 * i, lane);
      fetch.along_y[i] = inputs.number(next + 2 * i + 1, lane);
    }
  else if (image.has_level)
    fetch.level = inputs.number(next + (has_handle ? 1 : 0), lane);
  return fetch;
}

/// Tells the sink of the texels, first each lane's first one, then each lane's second: corners of filters.
void observe_texels(Warp& warp, const std::array<TextureFetch, lane_count>& fetches, Mask mask) {
  constexpr std::uint32_t most = 8;
  std::array<std::array<std::uint64_t, lane_count>, most> addresses{};
  std::array<Mask, most> lanes{};
  std::uint32_t bytes = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_lane(left);
    std::array<std::uint64_t, most> texels{};
    bytes = std::max(bytes, warp.block->launch->launch->images->texels_of(fetches[lane], texels));
    for (std::uint32_t corner = 0; corner < most; ++corner) {
      addresses[corner][lane] = texels[corner];
      lanes[corner] |= texels[corner] != 0 ? Mask{1} << lane : 0;
    }
  }
  bool is_further = false;
  for (std::uint32_t corner = 0; corner < most; ++corner) {
    if (lanes[corner] == 0)
      continue;
    warp.block->launch->sink->on_access({warp.block->index, warp.index},
                                        {.instruction = warp.pc,
                                         .lanes = lanes[corner],
                                         .bytes = static_cast<std::uint8_t>(bytes),
                                         .is_further = is_further,
                                         .addresses = addresses[corner]});
    is_further = true;
  }
}

void fetch_texture(Warp& warp, const Operation& o, Mask mask) {
  const LaunchState& launch = *warp.block->launch;
  if (launch.launch->images == nullptr)
    return warp.stop(Outcome::Kind::refused, "the launch has no textures");
  std::array<TextureFetch, lane_count> fetches;
  for (Mask left = mask; left != 0; left &= left - 1)
    fetches[first_lane(left)] = fetch_of(warp, o, first_lane(left));
  if (launch.sink != nullptr)
    observe_texels(warp, fetches, mask);
  const sass::ImageInputs& image = o.operands->image;
  std::uint32_t* const first = warp.destination(o);
  std::uint32_t* const second =
      o.operands->second_destination == sass::zero_register
          ? nullptr
          : reinterpret_cast<std::uint32_t*>(warp.rows + sizeof(Row) * o.operands->second_destination);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_lane(left);
    std::array<std::uint32_t, 4> texel{};
    if (!launch.launch->images->fetch(fetches[lane], texel))
      return warp.stop(Outcome::Kind::fault, fmt::format("there is no texture {:#x}", fetches[lane].handle),
                       fetches[lane].handle);
    std::uint32_t written = 0;
    for (std::uint32_t channel = 0; channel < 4; ++channel) {
      if ((image.channels >> channel & 1) == 0)
        continue;
      if (written < 2)
        first[written * lane_count + lane] = texel[channel];
      else if (second != nullptr)
        second[(written - 2) * lane_count + lane] = texel[channel];
      ++written;
    }
  }
}

SurfaceAccess access_of(const Warp& warp, const Operation& o, std::uint32_t lane) {
  const sass::Operands& x = *o.operands;
  const Inputs inputs(warp, o);
  SurfaceAccess access{.handle = warp.row(o.c)[lane],
                       .x = inputs.integer(0, lane),
                       .boundary = x.image.boundary,
                       .bytes = x.bytes};
  std::uint32_t next = 1;
  if (x.image.shape == ImageShape::plane || x.image.shape == ImageShape::planes ||
      x.image.shape == ImageShape::volume)
    access.y = inputs.integer(next++, lane);
  if (x.image.shape == ImageShape::volume)
    access.z = inputs.integer(next++, lane);
  if (has_layers(x.image.shape))
    access.layer = inputs.integer(next, lane);
  return access;
}

void access_surface(Warp& warp, const Operation& o, Mask mask) {
  LaunchState& launch = *warp.block->launch;
  if (launch.launch->images == nullptr)
    return warp.stop(Outcome::Kind::refused, "the launch has no surfaces");
  const sass::Operands& x = *o.operands;
  const bool stores = x.opcode == sass::Opcode::sust;
  const std::uint32_t words = (x.bytes + 3u) / 4u;
  std::array<std::uint64_t, lane_count> on_gpu{};
  Mask observed = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_lane(left);
    const SurfacePlace place = launch.launch->images->place_of(access_of(warp, o, lane));
    if (place.kind == SurfacePlace::Kind::fault)
      return warp.stop(Outcome::Kind::fault, "an access outside of a surface, or of one that does not exist");
    std::array<std::uint32_t, 4> value{};
    if (place.kind == SurfacePlace::Kind::inside) {
      std::byte* const to = stores ? launch.memory->write(place.address, x.bytes, warp.pc) : nullptr;
      const std::byte* const from = stores ? to : launch.memory->read(place.address, x.bytes);
      if (from == nullptr)
        return fault(warp, o, place.address);
      on_gpu[lane] = place.on_gpu;
      observed |= place.on_gpu != 0 ? Mask{1} << lane : 0;
      if (stores) {
        for (std::uint32_t word = 0; word < words; ++word)
          value[word] = warp.row(o.b)[word * lane_count + lane];
        std::memcpy(to, value.data(), x.bytes);
        continue;
      }
      std::memcpy(value.data(), from, x.bytes);
    }
    if (stores)
      continue;
    value[0] = extended(x, value[0]);
    for (std::uint32_t word = 0; word < words; ++word)
      warp.destination(o)[word * lane_count + lane] = value[word];
  }
  if (launch.sink != nullptr && observed != 0)
    launch.sink->on_access({warp.block->index, warp.index}, {.instruction = warp.pc,
                                                             .lanes = observed,
                                                             .bytes = x.bytes,
                                                             .is_store = stores,
                                                             .addresses = on_gpu});
}

} // namespace

Handler select_image_operation(sass::Opcode opcode) {
  return opcode == sass::Opcode::texture ? fetch_texture : access_surface;
}

} // namespace warplens::machine
