// Tests that the instructions of textures and surfaces take each input from its register, and put each
// channel into its own, for what ptxas makes on each architecture.
#include "test/machine/run_kernel.h"

#include <fmt/format.h>

using namespace warplens;
using namespace warplens::machine;
using sass::Boundary;
using sass::ImageShape;
using sass::TextureKind;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

constexpr u64 handle = 0x2a;
constexpr std::uint64_t first_texel = 0x1000;

/// A geometry of images; each lane's coordinates follow from its number.
struct Geometry {
  const char* ptx;
  ImageShape shape;
  unsigned coordinates;
  bool has_layers;
};
constexpr Geometry geometries[] = {{"1d", ImageShape::line, 1, false},   {"2d", ImageShape::plane, 2, false},
                                   {"3d", ImageShape::volume, 3, false}, {"cube", ImageShape::cube, 3, false},
                                   {"a1d", ImageShape::lines, 1, true},  {"a2d", ImageShape::planes, 2, true},
                                   {"acube", ImageShape::cubes, 3, true}};

float coordinate(unsigned dimension, u32 lane) {
  return 1.25f * static_cast<float>(lane + 1) + 100 * static_cast<float>(dimension);
}
std::int32_t layer_of(u32 lane) {
  return static_cast<std::int32_t>(lane % 5 + 3);
}

u32 mixed(u64 number) {
  number = (number ^ number >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<u32>(number >> 32);
}

/// Textures whose every texel is a hash of what was asked for, and surfaces that lie in an array.
class RecordedImages : public Images {
public:
  bool fetch(const TextureFetch& fetch, std::array<u32, 4>& texel) const override {
    if (fetch.handle != handle)
      return false;
    for (u32 channel = 0; channel < 4; ++channel)
      texel[channel] = hash_of(fetch, channel);
    return true;
  }
  u32 texels_of(const TextureFetch& fetch, std::array<u64, 8>& addresses) const override {
    addresses[0] = first_texel + 16 * static_cast<u64>(fetch.x);
    addresses[2] = addresses[0] + 0x1000;
    return 16;
  }
  SurfacePlace place_of(const SurfaceAccess& access) const override {
    if (access.handle != handle)
      return {};
    if (access.x < 0)
      return {.kind = access.boundary == Boundary::trap ? SurfacePlace::Kind::fault
                                                        : SurfacePlace::Kind::outside};
    const auto place =
        static_cast<u64>(access.x) + 1024 * static_cast<u64>(access.y + 2 * access.z + 4 * access.layer);
    REQUIRE(place + access.bytes <= bytes.size());
    return {SurfacePlace::Kind::inside, reinterpret_cast<u64>(bytes.data()) + place, first_texel + place};
  }

  static u32 hash_of(const TextureFetch& fetch, u32 channel) {
    u64 hash = channel;
    for (const u64 part : {u64(fetch.kind), u64(fetch.shape), u64(fetch.component), u64(u32(fetch.index)),
                           u64(std::bit_cast<u32>(fetch.x)), u64(std::bit_cast<u32>(fetch.y)),
                           u64(std::bit_cast<u32>(fetch.z))})
      hash = hash * 0x100000001b3 ^ mixed(hash + part);
    return mixed(hash);
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(64 * 1024);
};

/// Keeps the accesses.
struct Accesses : Sink {
  struct One {
    Mask lanes;
    bool is_further, is_store;
    u32 bytes;
    u64 first;
  };
  std::vector<One> all;
  void on_run(WarpId, u32, u32, Mask) override {}
  void on_access(WarpId, const Access& access) override {
    if (access.space == sass::Space::global && access.addresses[0] < 0x1'0000'0000)
      all.push_back({access.lanes, access.is_further, access.is_store, access.bytes, access.addresses[0]});
  }
};

/// Returns a module of one kernel. The handle is a parameter, or loaded from memory: then it is no constant.
std::string module_of(int architecture, bool is_loaded, const std::string& body) {
  return fmt::format(
      ".version 8.{}\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 handle, .param .u64 "
      "handles, "
      ".param .u64 out) {{\n.reg .u64 %h, %out, %at, %l<4>; .reg .b32 %r<16>, %i; .reg .f32 %x, %y, %z, %v, "
      "%lod; "
      ".reg .s32 %layer, %xi, %yi, %zi; .reg .b16 %s<4>;\nld.param.u64 %h, [handle]; ld.param.u64 %out, "
      "[out]; "
      "mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 16; add.u64 %out, %out, %at;\n{}{}\nret; }}\n",
      architecture >= 100 ? 8 : 0, architecture,
      is_loaded ? "ld.param.u64 %h, [handles]; ld.global.u64 %h, [%h];\n" : "", body);
}

/// Sets %x, %y, %z and %layer as `coordinate` and `layer_of` have them.
const std::string set_coordinates =
    "add.u32 %r5, %i, 1; cvt.rn.f32.u32 %v, %r5; mul.f32 %x, %v, 0f3FA00000; add.f32 %y, %x, 0f42C80000; "
    "add.f32 %z, %x, 0f43480000; rem.u32 %layer, %i, 5; add.s32 %layer, %layer, 3; mov.f32 %lod, "
    "0f3F800000;\n";

std::string vector_of(const Geometry& geometry) {
  std::vector<std::string> all;
  if (geometry.has_layers)
    all.push_back("%layer");
  for (unsigned i = 0; i < geometry.coordinates; ++i)
    all.push_back(std::string("%") + "xyz"[i]);
  while (all.size() == 3) // vectors have two registers or four
    all.push_back(all.back());
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

template <class F> void for_each_architecture(F f) {
  if (!has_toolkit())
    return;
  for (const int architecture : {75, 80, 90, 100, 120})
    for (const bool is_loaded : {false, true}) {
      INFO("sm_" << architecture << (is_loaded ? ", handle from memory" : ", handle as parameter"));
      f(architecture, is_loaded);
    }
}

std::vector<u32> run_images(int architecture, bool is_loaded, const std::string& body,
                            const RecordedImages& images, Sink* sink = nullptr) {
  INFO(body);
  const Program program = load(assemble(module_of(architecture, is_loaded, body), architecture));
  REQUIRE(program.find("k")->unsupported().empty());
  std::vector<u32> out(32 * 4);
  std::vector<u64> handles{handle};
  Parameters parameters;
  parameters << handle << handles << out;
  Launch launch{.grid = {1}, .block = {32}, .parameters = parameters.bytes(), .images = &images};
  std::vector<Range> ranges = parameters.ranges();
  ranges.push_back({reinterpret_cast<u64>(images.bytes.data()), images.bytes.size(), images.bytes.data()});
  Memory memory(ranges);
  const Outcome outcome = execute(program, *program.find("k"), launch, memory, sink);
  INFO(outcome.reason);
  REQUIRE(outcome.is_finished());
  for (const Range& range : ranges)
    memory.copy_from(range.address, std::span(const_cast<std::byte*>(range.host), range.bytes));
  return out;
}

} // namespace

TEST_CASE("each input of a texture comes from its register, each channel goes to its own") {
  for_each_architecture([](int architecture, bool is_loaded) {
    const RecordedImages images;
    for (const Geometry& geometry : geometries)
      for (const std::string& level : {std::string(), std::string(".level")})
        for (const unsigned channels : {0xfu, 0x5u, 0x8u, 0xeu}) {
          if (channels != 0xf && geometry.coordinates != 2)
            continue;
          std::string body = set_coordinates;
          if (geometry.shape == ImageShape::cube ||
              geometry.shape == ImageShape::cubes) // ptxas divides by the largest
            body += "mov.f32 %z, 0f3F800000; div.rn.f32 %x, %x, 0f44FA0000; div.rn.f32 %y, %y, 0f44FA0000;\n";
          body += fmt::format("tex{}.{}.v4.u32.f32 {{%r0, %r1, %r2, %r3}}, [%h, {}]{};\n", level,
                              geometry.ptx, vector_of(geometry), level.empty() ? "" : ", %lod");
          for (unsigned channel = 0; channel < 4; ++channel)
            if ((channels >> channel & 1) != 0)
              body += fmt::format("st.global.u32 [%out+{}], %r{};\n", 4 * channel, channel);
          const std::vector<u32> out = run_images(architecture, is_loaded, body, images);
          for (u32 lane = 0; lane < 32; ++lane) {
            TextureFetch expected{.handle = handle, .shape = geometry.shape, .x = coordinate(0, lane)};
            if (geometry.shape == ImageShape::line) // ptxas writes it as a plane with y = 0
              expected.shape = ImageShape::plane;
            if (geometry.coordinates > 1)
              expected.y = coordinate(1, lane);
            if (geometry.coordinates > 2)
              expected.z = coordinate(2, lane);
            if (geometry.has_layers)
              expected.index = layer_of(lane);
            if (geometry.shape == ImageShape::cube || geometry.shape == ImageShape::cubes) {
              expected.x /= 2000;
              expected.y /= 2000;
              expected.z = 1;
            }
            for (u32 channel = 0; channel < 4; ++channel) {
              INFO(geometry.ptx << level << ", lane " << lane << ", channel " << channel << " of "
                                << channels);
              REQUIRE(out[4 * lane + channel] ==
                      ((channels >> channel & 1) != 0 ? RecordedImages::hash_of(expected, channel) : 0));
            }
          }
        }
  });
}

TEST_CASE("gathers, elements and gradients") {
  for_each_architecture([](int architecture, bool is_loaded) {
    const RecordedImages images;
    const std::string store = "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n";
    const auto check = [&](const std::string& instruction, const auto& expected_of) {
      const std::vector<u32> out =
          run_images(architecture, is_loaded, set_coordinates + instruction + store, images);
      for (u32 i = 0; i < out.size(); ++i) {
        INFO(instruction << ", lane " << i / 4 << ", channel " << i % 4);
        REQUIRE(out[i] == RecordedImages::hash_of(expected_of(i / 4), i % 4));
      }
    };
    for (u32 component = 0; component < 4; ++component)
      check(
          fmt::format("tld4.{}.2d.v4.u32.f32 {{%r0, %r1, %r2, %r3}}, [%h, {{%x, %y}}];\n", "rgba"[component]),
          [&](u32 lane) {
            return TextureFetch{.kind = TextureKind::gather,
                                .component = static_cast<std::uint8_t>(component),
                                .x = coordinate(0, lane),
                                .y = coordinate(1, lane)};
          });
    check("sub.s32 %xi, %i, 3; tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%h, {%xi}];\n", [](u32 lane) {
      return TextureFetch{.kind = TextureKind::element,
                          .shape = ImageShape::line,
                          .index = static_cast<std::int32_t>(lane) - 3};
    });
    check("tex.grad.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}], {%v, %z}, {%z, %v};\n", [](u32 lane) {
      return TextureFetch{.kind = TextureKind::gradients, .x = coordinate(0, lane), .y = coordinate(1, lane)};
    });
    check("tex.grad.a2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%h, {%layer, %x, %y, %y}], {%v, %z}, {%z, %v};\n",
          [](u32 lane) {
            return TextureFetch{.kind = TextureKind::gradients,
                                .shape = ImageShape::planes,
                                .index = layer_of(lane),
                                .x = coordinate(0, lane),
                                .y = coordinate(1, lane)};
          });
  });
}

TEST_CASE("surfaces are read and written in each geometry and width") {
  struct Surface {
    const char* ptx;
    const char* place;
    u32 rows_before; ///< of lane 0's bytes
  };
  // The row is 1, the slice 1, the layer 2.
  const Surface surfaces[] = {{"1d", "{%xi}", 0},
                              {"2d", "{%xi, %yi}", 1},
                              {"3d", "{%xi, %yi, %zi, %zi}", 3},
                              {"a1d", "{%layer, %xi}", 8},
                              {"a2d", "{%layer, %xi, %yi, %yi}", 9}};
  for_each_architecture([&](int architecture, bool is_loaded) {
    for (const Surface& surface : surfaces)
      for (const auto& [type, bytes] :
           {std::pair("b8", 1u), {"b16", 2u}, {"b32", 4u}, {"v2.b32", 8u}, {"v4.b32", 16u}}) {
        RecordedImages images;
        for (std::size_t i = 0; i < images.bytes.size(); ++i)
          images.bytes[i] = std::byte(mixed(i) & 0xff);
        const std::string_view registers = bytes == 1 || bytes == 2 ? "{%s0}"
                                           : bytes == 4             ? "{%r0}"
                                           : bytes == 8             ? "{%r0, %r1}"
                                                                    : "{%r0, %r1, %r2, %r3}";
        std::string body =
            fmt::format("mul.lo.u32 %xi, %i, {}; mov.b32 %yi, 1; mov.b32 %zi, 1; mov.b32 %layer, 2; mov.b32 "
                        "%r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n",
                        bytes);
        body += fmt::format("suld.b.{}.{}.trap {}, [%h, {}];\n", surface.ptx, type, registers, surface.place);
        if (bytes <= 2)
          body += "cvt.u32.u16 %r0, %s0;\n";
        body += "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; add.s32 %yi, %yi, 1;\n";
        body += fmt::format("add.s32 %xi, %xi, 512; sust.b.{}.{}.trap [%h, {}], {};\n", surface.ptx, type,
                            surface.place, registers);
        const std::vector<std::byte> before = images.bytes;
        Accesses accesses;
        const std::vector<u32> out = run_images(architecture, is_loaded, body, images, &accesses);
        const bool has_rows = std::string_view(surface.place).find("%yi") != std::string_view::npos;
        for (u32 lane = 0; lane < 32; ++lane) {
          INFO(surface.ptx << " " << type << ", lane " << lane);
          std::array<u32, 4> expected{};
          const std::size_t at = surface.rows_before * 1024 + lane * bytes;
          std::memcpy(expected.data(), &before[at], bytes);
          for (u32 word = 0; word < 4; ++word)
            REQUIRE(out[4 * lane + word] == expected[word]);
          REQUIRE(std::memcmp(&images.bytes[at + 512 + (has_rows ? 1024 : 0)], &before[at], bytes) == 0);
        }
        REQUIRE(accesses.all.size() == 2);
        REQUIRE(accesses.all[0].first == first_texel + surface.rows_before * 1024);
        REQUIRE((!accesses.all[0].is_store && accesses.all[1].is_store));
        REQUIRE((accesses.all[0].bytes == bytes && accesses.all[0].lanes == all_lanes));
      }
  });
}

TEST_CASE("outside of a surface reads give zero, writes have no effect, and .trap ends the kernel") {
  if (!has_toolkit())
    return;
  for (const int architecture : architectures) {
    INFO("sm_" << architecture);
    RecordedImages images;
    images.bytes[0] = std::byte{7};
    const std::string body = "sub.s32 %xi, %i, 1; shl.b32 %xi, %xi, 2; mov.b32 %r0, 9;\n";
    const std::vector<u32> out =
        run_images(architecture, false,
                   body + "suld.b.1d.b32.zero {%r0}, [%h, {%xi}]; st.global.u32 [%out], %r0;\n", images);
    REQUIRE(out[0] == 0);
    REQUIRE(out[4] == 7);
    const Program program = load(assemble(
        module_of(architecture, false, body + "sust.b.1d.b32.trap [%h, {%xi}], {%r0};\n"), architecture));
    std::vector<u32> nothing(4);
    Parameters parameters;
    parameters << handle << nothing << nothing;
    const Outcome outcome = run(program, "k", {1}, {32}, parameters, {.images = &images});
    REQUIRE(outcome.kind == Outcome::Kind::fault);
    REQUIRE(run(program, "k", {1}, {32}, parameters).reason == "the launch has no surfaces");
  }
}

TEST_CASE("a filter's texels are observed corner by corner, the first as the access") {
  if (!has_toolkit())
    return;
  const RecordedImages images;
  Accesses accesses;
  run_images(80, false,
             set_coordinates +
                 "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %y}]; st.global.u32 [%out], %r0;\n",
             images, &accesses);
  REQUIRE(accesses.all.size() == 2);
  REQUIRE((!accesses.all[0].is_further && accesses.all[1].is_further));
  REQUIRE(accesses.all[1].first == accesses.all[0].first + 0x1000);
  REQUIRE(accesses.all[0].bytes == 16);
}
