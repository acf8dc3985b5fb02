#include "ptx/body.h"

#include "ptx/lexer.h"

#include <cctype>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace warplens::ptx {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.pop_back();
  return text;
}

class Parser {
public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Expected<Body> run() {
    scopes_.emplace_back();
    for (lexer_.skip_blanks(); !lexer_.at_end(); lexer_.skip_blanks())
      if (!statement())
        return fail("{}", problem_.empty() ? "its syntax is not understood" : problem_);
    if (scopes_.size() != 1)
      return fail("a brace is not closed");
    return std::move(result_);
  }

private:
  bool take(char wanted) { return lexer_.take(wanted); }
  std::string word(Dots dots = Dots::separate) { return std::string(lexer_.word(dots)); }

  bool statement() {
    if (take(';'))
      return true;
    if (take('{')) {
      scopes_.emplace_back();
      return true;
    }
    if (take('}')) {
      scopes_.pop_back();
      return !scopes_.empty();
    }
    if (take('.'))
      return word() == "reg" ? declaration() : complain("only the directive .reg is understood");
    return instruction();
  }

  bool complain(const char* problem) {
    problem_ = problem;
    return false;
  }

  void declare(const std::string& name, const std::string& type) {
    std::string unique = scopes_.size() > 1 ? fmt::format("{}@{}", name, result_.registers.size()) : name;
    scopes_.back()[name] = unique;
    result_.registers.push_back({std::move(unique), type});
  }

  bool declaration() {
    if (!take('.'))
      return false;
    const std::string type = word();
    do {
      const std::string name = word();
      if (name.empty())
        return false;
      if (!take('<')) {
        declare(name, type);
        continue;
      }
      const auto count = integer_literal(word());
      if (!count || *count > 1024 || !take('>'))
        return false;
      for (std::uint64_t i = 0; i < *count; ++i)
        declare(name + std::to_string(i), type);
    } while (take(','));
    return take(';');
  }

  bool instruction() {
    Instruction instruction;
    const auto begin = lexer_.position();
    if (take('@')) {
      instruction.guard_negated = take('!');
      instruction.guard = resolved(word());
    }
    instruction.opcode = word();
    if (instruction.opcode.empty())
      return false;
    if (take(':'))
      return complain("labels and branches are not understood");
    while (take('.')) { // ".mbarrier::complete_tx::bytes" is one modifier
      std::string modifier = word();
      while (lexer_.take_directly("::"))
        modifier += "::" + word();
      instruction.modifiers.push_back(std::move(modifier));
    }
    if (!at_end()) {
      do {
        auto operand = parse_operand();
        if (!operand)
          return false;
        instruction.operands.push_back(std::move(*operand));
      } while (take(','));
    }
    instruction.text = trimmed(without_comments(lexer_.text_since(begin)));
    if (!at_end())
      return false;
    take(';');
    result_.instructions.push_back(std::move(instruction));
    return true;
  }

  /// Returns whether the instruction has ended: the last one may lack its semicolon.
  bool at_end() {
    lexer_.skip_blanks();
    return lexer_.at_end() || lexer_.peek() == ';' || lexer_.peek() == '}';
  }

  std::optional<Operand> parse_operand() {
    auto first = simple_operand();
    if (!first || !take('|'))
      return first;
    auto second = simple_operand();
    if (!second)
      return std::nullopt;
    Operand pair{.kind = Operand::Kind::pair};
    pair.parts = {std::move(*first), std::move(*second)};
    return pair;
  }

  std::optional<Operand> simple_operand() {
    Operand operand;
    if (take('{')) {
      operand.kind = Operand::Kind::vector;
      do {
        auto part = simple_operand();
        if (!part)
          return std::nullopt;
        operand.parts.push_back(std::move(*part));
      } while (take(','));
      return take('}') ? std::optional(operand) : std::nullopt;
    }
    if (take('[')) {
      operand.kind = Operand::Kind::address;
      operand.name = resolved(word());
      if (take('+') || (take('-') && (operand.negated = true))) {
        const auto offset = signed_integer();
        if (!offset)
          return std::nullopt;
        operand.number = operand.negated ? -*offset : *offset;
        operand.negated = false;
      }
      if (take(',')) { // [texture, {x, y}]
        auto coordinates = simple_operand();
        if (!coordinates || coordinates->kind != Operand::Kind::vector)
          return std::nullopt;
        operand.parts = std::move(coordinates->parts);
      }
      return take(']') ? std::optional(operand) : std::nullopt;
    }
    operand.negated = take('!');
    lexer_.skip_blanks();
    const char next = lexer_.peek();
    if (next == '-' || std::isdigit(static_cast<unsigned char>(next)))
      return literal();
    operand.name = word(Dots::join);
    if (operand.name.empty())
      return std::nullopt;
    operand.name = resolved(operand.name);
    return operand;
  }

  std::optional<std::uint64_t> signed_integer() {
    const bool minus = take('-');
    const auto value = integer_literal(word());
    return value && minus ? std::optional(-*value) : value;
  }

  std::optional<Operand> literal() {
    Operand operand{.kind = Operand::Kind::integer};
    const bool minus = take('-');
    const auto digits = lexer_.word(Dots::join);
    if (const auto value = integer_literal(digits)) {
      operand.number = minus ? -*value : *value;
      return operand;
    }
    const auto value = floating_literal(digits);
    if (!value)
      return std::nullopt;
    operand.kind = Operand::Kind::floating;
    operand.real = minus ? -*value : *value;
    return operand;
  }

  std::string resolved(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end())
        return found->second;
    return name;
  }

  Lexer lexer_;
  std::vector<std::map<std::string, std::string>> scopes_;
  std::string problem_;
  Body result_;
};

} // namespace

Expected<Body> parse_body(std::string_view text) {
  return Parser(text).run();
}

} // namespace warplens::ptx
