// One inline PTX statement during its translation to IR: its registers' values, and their accesses.
#pragma once

#include "ptx/body.h"

#include <llvm/IR/IRBuilder.h>
#include <map>
#include <optional>

namespace warplens::lowering::ptx {

using warplens::ptx::Body;
using warplens::ptx::Instruction;
using warplens::ptx::Operand;
using warplens::ptx::Register;

/// An instruction's type, as written in ".f16x2" or ".u32".
struct Type {
  enum class Kind { bits, unsigned_, signed_, floating, brain, predicate };
  Kind kind = Kind::bits;
  unsigned bits = 0;  ///< width of one element
  unsigned lanes = 1; ///< 2: f16x2 and its like

  unsigned width() const { return bits * lanes; }
  bool is_float() const { return kind == Kind::floating || kind == Kind::brain; }
  bool is_signed() const { return kind == Kind::signed_; }
};
constexpr Type b32{Type::Kind::bits, 32}, truth{Type::Kind::predicate, 1};
std::optional<Type> type_of(llvm::StringRef name);

/// The modifiers after an opcode. A rule takes those that it understands; the instruction is refused if any
/// is left.
class Modifiers {
public:
  explicit Modifiers(const std::vector<std::string>& all) : left_(all) {}
  bool take(llvm::StringRef modifier);
  /// Takes the one of these that is present; returns an empty string if none is.
  llvm::StringRef take_one(std::initializer_list<llvm::StringRef> choices);
  /// Takes the first type that is left.
  std::optional<Type> type();
  void take_any() { left_.pop_back(); }
  bool empty() const { return left_.empty(); }

private:
  std::vector<std::string> left_;
};

/// The registers of a statement. Values are integers of their register's width: PTX's registers are typed
/// loosely.
class Block {
public:
  Block(llvm::IRBuilder<>& builder, const Body& body);

  llvm::IRBuilder<>& builder() { return builder_; }
  void set(const std::string& name, unsigned bits, llvm::Value* value) { registers_[name] = {bits, value}; }
  llvm::Value* value(const std::string& name) const;
  const auto& values() const { return registers_; }

  /// Returns the operand as an integer of the given width, cut or extended with zeros; null if it cannot be
  /// read so.
  llvm::Value* read(const Operand& operand, unsigned bits);
  llvm::Value* read(const Operand& operand, const Type& type);
  /// Writes the value, cut to the register's width or extended as its type requires. Returns false if the
  /// operand is no register.
  bool write(const Operand& operand, llvm::Value* value, const Type& type);
  /// Returns the pointer of an address operand; null if it is none.
  llvm::Value* address(const Operand& operand);
  unsigned width(const Operand& operand) const;

  /// The carry flag of add.cc and the like; null before the first of them.
  llvm::Value* carry = nullptr;

private:
  struct Content {
    unsigned bits;
    llvm::Value* value;
  };
  llvm::IRBuilder<>& builder_;
  std::map<std::string, Content> registers_;
};

/// Convert between a value's bits and its type's own arithmetic (half, float, double; bfloat16 as float). The
/// conversion back to bfloat16 is for values that it represents exactly.
llvm::Value* to_floating(llvm::IRBuilder<>& builder, llvm::Value* bits, const Type& type);
llvm::Value* to_bits(llvm::IRBuilder<>& builder, llvm::Value* value);

} // namespace warplens::lowering::ptx
