// The lexical rules of PTX (PTX ISA, "Syntax"): what is a comment, a string, a word or a literal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::ptx {

/// Says whether a dot is a letter of a word: it is in ".visible" and "%tid.x", and separates "add" from
/// "s32" in "add.s32".
enum class Dots { separate, join };

/// Reads PTX from left to right. A comment or string that is not closed extends to the end of the text, and
/// reading on from there yields nothing.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::size_t position() const { return at_; }
  std::string_view text_since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  /// Returns the next letter; '\0' at the end.
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  char next();

  /// Take the letters if they are next: behind blanks, or without any.
  bool take(char letter);
  bool take_directly(std::string_view letters);
  /// Returns the word behind blanks (a name, an opcode, a number), or an empty one.
  std::string_view word(Dots dots);
  /// Returns the next word with its dots, whatever letters, comments and strings stand before it; an empty
  /// one if none is left.
  std::string_view find_word();

  /// Skip a comment or a string; return whether there was one.
  bool skip_comment();
  bool skip_string();
  /// Skips whitespace and comments.
  void skip_blanks();
  /// Skip to the next place with these letters, or behind it; to the end if there is none.
  void skip_to(std::string_view letters);
  void skip_behind(std::string_view letters);

private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Returns the text with a blank in place of each comment.
std::string without_comments(std::string_view text);

/// Return the value of a word that is a literal; nothing for any other word. A sign is no part of a literal.
std::optional<std::uint64_t> integer_literal(std::string_view word);
std::optional<double> floating_literal(std::string_view word);

} // namespace warplens::ptx
