#include "lowering/ptx/text.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace warplens::lowering::ptx {

namespace {

std::string without_comments(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line = text.compare(i, 2, "//") == 0, block = text.compare(i, 2, "/*") == 0;
    if (!line && !block) {
      result += text[i];
      continue;
    }
    const auto end = text.find(line ? "\n" : "*/", i + 2);
    if (end == std::string::npos)
      break;
    i = line ? end : end + 1;
    result += ' ';
  }
  return result;
}

class Parser {
public:
  explicit Parser(const std::string& text) : text_(without_comments(text)) {}

  Expected<Text> run() {
    scopes_.emplace_back();
    for (skip_blanks(); at_ < text_.size(); skip_blanks())
      if (!statement())
        return fail("{}", problem_.empty() ? "its syntax is not understood" : problem_);
    if (scopes_.size() != 1)
      return fail("a brace is not closed");
    return std::move(result_);
  }

private:
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }
  static bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
  }

  /// Reads a word; with `dots`, %tid.x is one name.
  std::string word(bool dots) {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (in_name(text_[at_]) || (dots && text_[at_] == '.')))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

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
      return word(false) == "reg" ? declaration() : complain("only the directive .reg is understood");
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
    const std::string type = word(false);
    do {
      const std::string name = word(false);
      if (name.empty())
        return false;
      if (!take('<')) {
        declare(name, type);
        continue;
      }
      const auto count = integer(word(false));
      if (!count || *count > 1024 || !take('>'))
        return false;
      for (std::uint64_t i = 0; i < *count; ++i)
        declare(name + std::to_string(i), type);
    } while (take(','));
    return take(';');
  }

  bool instruction() {
    Instruction instruction;
    const std::size_t begin = at_;
    if (take('@')) {
      instruction.guard_negated = take('!');
      instruction.guard = resolved(word(false));
    }
    instruction.opcode = word(false);
    if (instruction.opcode.empty())
      return false;
    if (take(':'))
      return complain("labels and branches are not understood");
    while (take('.')) { // ".mbarrier::complete_tx::bytes" is one modifier
      std::string modifier = word(false);
      while (text_.compare(at_, 2, "::") == 0) {
        at_ += 2;
        modifier += "::" + word(false);
      }
      instruction.modifiers.push_back(std::move(modifier));
    }
    skip_blanks();
    if (!at_end()) {
      do {
        auto operand = parse_operand();
        if (!operand)
          return false;
        instruction.operands.push_back(std::move(*operand));
      } while (take(','));
    }
    instruction.text = text_.substr(begin, at_ - begin);
    while (!instruction.text.empty() && std::isspace(static_cast<unsigned char>(instruction.text.back())))
      instruction.text.pop_back();
    if (!at_end())
      return false;
    take(';');
    result_.instructions.push_back(std::move(instruction));
    return true;
  }

  /// Returns whether the text has ended: the last instruction may lack its semicolon.
  bool at_end() {
    skip_blanks();
    return at_ == text_.size() || text_[at_] == ';' || text_[at_] == '}';
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
      operand.name = resolved(word(false));
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
    skip_blanks();
    const char next = at_ < text_.size() ? text_[at_] : ' ';
    if (next == '-' || std::isdigit(static_cast<unsigned char>(next)))
      return literal();
    operand.name = word(true);
    if (operand.name.empty())
      return std::nullopt;
    operand.name = resolved(operand.name);
    return operand;
  }

  std::optional<std::uint64_t> signed_integer() {
    const bool minus = take('-');
    const auto value = integer(word(false));
    return value && minus ? std::optional(-*value) : value;
  }

  std::optional<Operand> literal() {
    Operand operand{.kind = Operand::Kind::integer};
    const bool minus = take('-');
    const std::string digits = word(true);
    if (const auto value = integer(digits)) {
      operand.number = minus ? -*value : *value;
      return operand;
    }
    operand.kind = Operand::Kind::floating;
    const bool single = digits.starts_with("0f") || digits.starts_with("0F");
    if (single || digits.starts_with("0d") || digits.starts_with("0D")) { // the bits, in hexadecimal
      const auto bits = integer("0x" + digits.substr(2));
      if (!bits || digits.size() != (single ? 10 : 18))
        return std::nullopt;
      operand.real =
          single ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits)) : std::bit_cast<double>(*bits);
    } else {
      const auto end = digits.data() + digits.size();
      if (std::from_chars(digits.data(), end, operand.real).ptr != end)
        return std::nullopt;
    }
    if (minus)
      operand.real = -operand.real;
    return operand;
  }

  static std::optional<std::uint64_t> integer(std::string digits) {
    if (!digits.empty() && digits.back() == 'U')
      digits.pop_back();
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X"))
      base = 16;
    else if (digits.starts_with("0b") || digits.starts_with("0B"))
      base = 2;
    else if (digits.size() > 1 && digits.front() == '0')
      base = 8;
    const char* begin = digits.data() + (base == 16 || base == 2 ? 2 : 0);
    const char* end = digits.data() + digits.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value, base);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
  }

  std::string resolved(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end())
        return found->second;
    return name;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::vector<std::map<std::string, std::string>> scopes_;
  std::string problem_;
  Text result_;
};

} // namespace

Expected<Text> parse(const std::string& text) {
  return Parser(text).run();
}

} // namespace warplens::lowering::ptx
