// One inline PTX statement on its way to IR: its registers' values, and how instructions read and write them.
#pragma once

#include "lowering/ptx/text.h"

#include <llvm/IR/IRBuilder.h>
#include <map>
#include <optional>

namespace warplens::lowering::ptx {

/// An instruction's type, as ".f16x2" or ".u32" says it.
struct Type {
  enum class Kind { bits, unsigned_, signed_, floating, brain, predicate };
  Kind kind = Kind::bits;
  unsigned bits = 0;  ///< of one element
  unsigned lanes = 1; ///< 2: f16x2 and its like

  unsigned width() const { return bits * lanes; }
  bool is_float() const { return kind == Kind::floating || kind == Kind::brain; }
  bool is_signed() const { return kind == Kind::signed_; }
};
std::optional<Type> type_of(llvm::StringRef name);

/// What stands after an opcode. A rule takes what it understands; the instruction is refused if any is left.
class Modifiers {
public:
  explicit Modifiers(const std::vector<std::string>& all) : left_(all) {}
  bool take(llvm::StringRef modifier);
  /// The one of these that is there; empty: none.
  llvm::StringRef take_one(std::initializer_list<llvm::StringRef> choices);
  /// The first type that is left.
  std::optional<Type> type();
  void take_any() { left_.pop_back(); }
  bool empty() const { return left_.empty(); }

private:
  std::vector<std::string> left_;
};

/// Values are integers of their register's width: PTX's registers are typed loosely.
class Block {
public:
  Block(llvm::IRBuilder<>& builder, const Text& text);

  llvm::IRBuilder<>& builder() { return builder_; }
  void set(const std::string& name, unsigned bits, llvm::Value* value) { registers_[name] = {bits, value}; }
  llvm::Value* value(const std::string& name) const;
  const auto& values() const { return registers_; }

  /// The operand as an integer of that many bits, cut or extended with zeros; null if it cannot be read so.
  llvm::Value* read(const Operand& operand, unsigned bits);
  llvm::Value* read(const Operand& operand, const Type& type);
  /// Cuts the value to the register's width, or extends it as its type says. False: not a register.
  bool write(const Operand& operand, llvm::Value* value, const Type& type);
  /// Address operands: the pointer; null if it is not one.
  llvm::Value* address(const Operand& operand);
  unsigned width(const Operand& operand) const;

  /// The carry flag of add.cc and its like; null before the first of them.
  llvm::Value* carry = nullptr;

private:
  struct Content {
    unsigned bits;
    llvm::Value* value;
  };
  llvm::IRBuilder<>& builder_;
  std::map<std::string, Content> registers_;
};

/// A value in the type's own arithmetic (half, float, double; bfloat16 as float) and back. Back to bfloat16
/// only what it can hold exactly.
llvm::Value* to_floating(llvm::IRBuilder<>& builder, llvm::Value* bits, const Type& type);
llvm::Value* to_bits(llvm::IRBuilder<>& builder, llvm::Value* value);

} // namespace warplens::lowering::ptx
