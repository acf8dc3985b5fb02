// The lexical grammar of C++ that decides where lines end: comments, literals, raw strings, and lines joined
// by a backslash ([lex.phases] in the C++ standard, phases 2 and 3).
#include "report/comment_places.h"

#include <algorithm>
#include <string>

namespace warplens::report {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_blank(char character) {
  return character == ' ' || character == '\t' || character == '\v' || character == '\f' || character == '\r';
}

bool is_word(char character) {
  return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z') || character == '_' || character == '$' ||
         static_cast<unsigned char>(character) >= 0x80;
}

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<CommentPlace> scan() {
    while (at_ < text_.size()) {
      if (const std::size_t newline = end_of_splice(at_); newline != npos)
        splice(newline);
      else if (text_[at_] == '\n')
        end_line();
      else
        step(text_[at_++]);
    }
    if (line_start_ < text_.size())
      end_line();
    return std::move(places_);
  }

private:
  enum class State { code, line_comment, block_comment, string, character };

  /// Returns the newline of a backslash at `at` that joins two lines; Clang and gcc let blanks stand between.
  std::size_t end_of_splice(std::size_t at) const {
    if (text_[at] != '\\')
      return npos;
    const std::size_t next = static_cast<std::size_t>(
        std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at) + 1, text_.end(), is_blank) -
        text_.begin());
    return next < text_.size() && text_[next] == '\n' ? next : npos;
  }

  void add(CommentPlace::Form form, std::size_t at) { places_.push_back({form, at - line_start_}); }

  /// Handles a joined line. A comment counts as a blank: before the backslash it may only stand if no token
  /// goes on in the next line. Not every compiler takes a backslash with blanks behind it for a splice.
  void splice(std::size_t newline) {
    const bool plain = newline == at_ + 1 || (newline == at_ + 2 && text_[at_ + 1] == '\r');
    const bool apart = (at_ > line_start_ && is_blank(text_[at_ - 1])) ||
                       (newline + 1 < text_.size() && is_blank(text_[newline + 1]));
    const bool free = state_ == State::code && plain && apart;
    add(free ? CommentPlace::Form::block : CommentPlace::Form::none, at_);
    at_ = line_start_ = newline + 1;
  }

  void end_line() {
    std::size_t end = at_;
    if (end > line_start_ && text_[end - 1] == '\r')
      --end;
    const std::string_view line = text_.substr(line_start_, end - line_start_);
    const bool joined =
        line.ends_with('\\') || line.ends_with("?\?/"); // at the end of the file; before C++17
    const bool free = (state_ == State::code || state_ == State::line_comment) && !joined;
    add(free ? CommentPlace::Form::line : CommentPlace::Form::none, end);
    if (state_ != State::block_comment)
      state_ = State::code; // a literal that is not closed ends with its line
    word_.clear();
    previous_ = '\n';
    line_start_ = ++at_;
  }

  void step(char character) {
    switch (state_) {
    case State::code: code(character); return;
    case State::line_comment: return;
    case State::block_comment:
      if (previous_ == '*' && character == '/')
        enter(State::code);
      else
        previous_ = character;
      return;
    case State::string: literal(character, '"'); return;
    case State::character: literal(character, '\''); return;
    }
  }

  void enter(State state) {
    state_ = state;
    previous_ = ' ';
    word_.clear();
  }

  void literal(char character, char quote) {
    if (previous_ == '\\')
      previous_ = ' '; // this one is escaped
    else if (character == quote)
      enter(State::code);
    else
      previous_ = character;
  }

  void code(char character) {
    if (previous_ == '/' && (character == '/' || character == '*'))
      return enter(character == '/' ? State::line_comment : State::block_comment);
    if (character == '"')
      return is_raw_prefix() ? raw_string() : enter(State::string);
    if (character == '\'' && !separates_digits())
      return enter(State::character);
    if (is_word(character) || character == '\'')
      word_ += character;
    else
      word_.clear();
    previous_ = character;
  }

  bool is_raw_prefix() const {
    return word_ == "R" || word_ == "u8R" || word_ == "uR" || word_ == "UR" || word_ == "LR";
  }

  bool separates_digits() const {
    return !word_.empty() && word_.front() >= '0' && word_.front() <= '9' && at_ < text_.size() &&
           is_word(text_[at_]);
  }

  /// Reads from behind the opening quote to behind the closing one. Lines are not joined in between.
  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    std::string close(1, ')');
    if (open != npos)
      close.append(text_.substr(at_, open - at_)).append(1, '"');
    const std::size_t found = open == npos ? npos : text_.find(close, open + 1);
    const std::size_t end = found == npos ? text_.size() : found + close.size();
    for (std::size_t newline = text_.find('\n', at_); newline < end;
         newline = text_.find('\n', newline + 1)) {
      add(CommentPlace::Form::none, newline);
      line_start_ = newline + 1;
    }
    at_ = end;
    enter(State::code);
  }

  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  State state_ = State::code;
  char previous_ =
      '\n'; // the last character of the joined lines; a blank if it must not be combined with the next
  std::string word_; // the current identifier or number
  std::vector<CommentPlace> places_;
};

} // namespace

std::vector<CommentPlace> comment_places(std::string_view text) {
  return Scanner(text).scan();
}

} // namespace warplens::report
