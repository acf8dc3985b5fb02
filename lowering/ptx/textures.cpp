// PTX ISA, "Texture Instructions": lowers tex and tld4 to calls of the runtime (runtime/abi/intrinsics.h).
#include "lowering/ptx/instructions.h"
#include "lowering/runtime_calls.h"
#include "runtime/device/warplens/texels.h"

#include <llvm/IR/Function.h>

namespace warplens::lowering::ptx {

using namespace llvm;

namespace {

using texels::Shape;

std::optional<Shape> shape_of(Modifiers& modifiers) {
  static const std::map<StringRef, Shape> shapes = {
      {"1d", Shape::line},    {"2d", Shape::plane},  {"3d", Shape::volume},  {"a1d", Shape::lines},
      {"a2d", Shape::planes}, {"cube", Shape::cube}, {"acube", Shape::cubes}};
  for (const auto& [name, shape] : shapes)
    if (modifiers.take(name))
      return shape;
  return std::nullopt;
}

/// Allocates a texel in the lane's own memory.
Value* allocate_texel(IRBuilder<>& builder) {
  BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> first(&entry, entry.begin());
  return first.CreateAlloca(ArrayType::get(first.getInt32Ty(), 4));
}

bool write_texel(Block& block, const Operand& targets, Value* texel) {
  IRBuilder<>& b = block.builder();
  if (targets.parts.size() != 4)
    return false;
  for (unsigned i = 0; i < 4; ++i) {
    Value* channel = b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), texel, i));
    if (!block.write(targets.parts[i], channel, *type_of("b32")))
      return false;
  }
  return true;
}

/// The operand [texture, {coordinates}]: the address is parsed as far as its object, the coordinates are its
/// parts.
struct Place {
  Value* texture;
  std::vector<Value*> coordinates; ///< the coordinates' bits
};

std::optional<Place> place_of(Block& block, const Operand& operand) {
  if (operand.kind != Operand::Kind::address || operand.parts.empty())
    return std::nullopt;
  Operand object;
  object.name = operand.name;
  Place place{block.read(object, 64), {}};
  for (const Operand& coordinate : operand.parts)
    place.coordinates.push_back(block.read(coordinate, 32));
  for (Value* value : place.coordinates)
    if (!value)
      return std::nullopt;
  return place.texture ? std::optional(place) : std::nullopt;
}

/// Returns the two vectors of a gradient in memory: three numbers along x, and then along y. Null if they are
/// no vectors of that many.
Value* gradients_of(Block& block, const Operands& operands) {
  IRBuilder<>& b = block.builder();
  Value* numbers = nullptr;
  {
    const IRBuilderBase::InsertPointGuard guard(b);
    BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    numbers = b.CreateAlloca(ArrayType::get(b.getFloatTy(), 6));
  }
  for (unsigned vector = 0; vector < 2; ++vector) {
    const Operand& given = operands[2 + vector];
    for (unsigned i = 0; i < 3; ++i) {
      Value* number = ConstantFP::get(b.getFloatTy(), 0.0);
      if (given.parts.empty() ? i == 0 : i < given.parts.size()) {
        Value* const bits = block.read(given.parts.empty() ? given : given.parts[i], 32);
        if (!bits)
          return nullptr;
        number = b.CreateBitCast(bits, b.getFloatTy());
      }
      b.CreateStore(number, b.CreateConstInBoundsGEP1_32(b.getFloatTy(), numbers, 3 * vector + i));
    }
  }
  return numbers;
}

bool texture(Block& block, Modifiers& modifiers, const Operands& operands) {
  IRBuilder<>& b = block.builder();
  const StringRef detail = modifiers.take_one({"level", "grad"});
  modifiers.take("base");
  const auto shape = shape_of(modifiers);
  const bool is_vector = modifiers.take("v4");
  const auto result = modifiers.type();
  const bool same = !modifiers.empty();
  const auto coordinate = same ? modifiers.type() : result;
  if (!shape || !is_vector || !result || result->bits != 32 || !coordinate || coordinate->bits != 32 ||
      operands.size() != (detail.empty()      ? 2u
                          : detail == "level" ? 3u
                                              : 4u))
    return false;
  auto place = place_of(block, operands[1]);
  if (!place)
    return false;
  Value* texel = allocate_texel(b);
  auto& given = place->coordinates;
  if (!coordinate->is_float()) {
    if (*shape != Shape::line)
      return false;
    call_runtime(b, "__warplens_cpu_texel", Effects::acts, b.getVoidTy(), {place->texture, given[0], texel});
    return write_texel(block, operands[0], texel);
  }
  Value* layer = b.getInt32(0);
  if (*shape == Shape::lines || *shape == Shape::planes || *shape == Shape::cubes) {
    layer = given.front();
    given.erase(given.begin());
  }
  const auto at = [&](unsigned i) -> Value* {
    return i < given.size() ? b.CreateBitCast(given[i], b.getFloatTy())
                            : ConstantFP::get(b.getFloatTy(), 0.0);
  };
  SmallVector<Value*, 8> arguments{
      place->texture, b.getInt32(static_cast<std::uint32_t>(*shape)), layer, at(0), at(1), at(2)};
  if (!detail.empty()) {
    Value* level = nullptr;
    if (detail == "grad")
      level = gradients_of(block, operands);
    else if (Value* const bits = block.read(operands[2], 32))
      level = b.CreateBitCast(bits, b.getFloatTy());
    if (!level)
      return false;
    arguments.push_back(level);
  }
  arguments.push_back(texel);
  call_runtime(b,
               detail.empty()      ? "__warplens_cpu_texture"
               : detail == "level" ? "__warplens_cpu_texture_level"
                                   : "__warplens_cpu_texture_gradients",
               Effects::acts, b.getVoidTy(), arguments);
  return write_texel(block, operands[0], texel);
}

bool gather(Block& block, Modifiers& modifiers, const Operands& operands) {
  IRBuilder<>& b = block.builder();
  const StringRef component = modifiers.take_one({"r", "g", "b", "a"});
  const bool is_plane = modifiers.take("2d") && modifiers.take("v4");
  const auto result = modifiers.type();
  const auto coordinate = modifiers.type();
  if (component.empty() || !is_plane || !result || result->bits != 32 || !coordinate ||
      !coordinate->is_float() || operands.size() != 2)
    return false;
  const auto place = place_of(block, operands[1]);
  if (!place || place->coordinates.size() < 2)
    return false;
  Value* texel = allocate_texel(b);
  call_runtime(b, "__warplens_cpu_texture_gather", Effects::acts, b.getVoidTy(),
               {place->texture, b.getInt32(static_cast<std::uint32_t>(StringRef("rgba").find(component))),
                b.CreateBitCast(place->coordinates[0], b.getFloatTy()),
                b.CreateBitCast(place->coordinates[1], b.getFloatTy()), texel});
  return write_texel(block, operands[0], texel);
}

} // namespace

const Rules& texture_rules() {
  static const Rules rules = {{"tex", texture}, {"tld4", gather}};
  return rules;
}

} // namespace warplens::lowering::ptx
