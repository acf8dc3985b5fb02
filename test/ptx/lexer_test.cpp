// Tests the lexical rules of PTX, word by word.
#include "ptx/lexer.h"
#include "test/catch.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace warplens::ptx;

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (Lexer lexer(text); !lexer.at_end();)
    if (const auto word = lexer.find_word(); !word.empty())
      words.emplace_back(word);
  return words;
}

} // namespace

TEST_CASE("A word is a directive with its dot, a name or a number") {
  CHECK(words_of(".visible .entry _Z1kPi(.param .u64 p)") ==
        std::vector<std::string>{".visible", ".entry", "_Z1kPi", ".param", ".u64", "p"});
  CHECK(words_of("@%p1 mov.u32 %r1,%tid.x;$L__0:") ==
        std::vector<std::string>{"%p1", "mov.u32", "%r1", "%tid.x", "$L__0"});
  CHECK(words_of("table[12] = {0x1F, 0f3F800000, 1.5}") ==
        std::vector<std::string>{"table", "12", "0x1F", "0f3F800000", "1.5"});
}

TEST_CASE("Words are found outside comments and strings only") {
  CHECK(words_of("a // b \"\n c /* d // */ e \"f /* g\" h") == std::vector<std::string>{"a", "c", "e", "h"});
}

TEST_CASE("A dot separates words or joins them") {
  Lexer separate("  mov.u32 %tid.x"), join("  mov.u32 %tid.x");
  CHECK(separate.word(Dots::separate) == "mov");
  CHECK(separate.word(Dots::separate).empty());
  CHECK(separate.take('.'));
  CHECK(separate.word(Dots::separate) == "u32");
  CHECK(join.word(Dots::join) == "mov.u32");
  CHECK(join.word(Dots::join) == "%tid.x");
  CHECK(join.at_end());
}

TEST_CASE("Letters are taken behind blanks and comments, or directly") {
  Lexer lexer(" /* ; */ // ;\n ;::x");
  CHECK_FALSE(lexer.take_directly(";"));
  CHECK(lexer.take(';'));
  CHECK_FALSE(lexer.take_directly(":::"));
  CHECK(lexer.take_directly("::"));
  CHECK(lexer.next() == 'x');
  CHECK(lexer.next() == '\0');
  CHECK(lexer.at_end());
}

TEST_CASE("A comment is a blank") {
  CHECK(without_comments("add/* sum */.s32 r, // the result\n a") == "add .s32 r,   a");
  CHECK(without_comments("\"a // b\" /* c") == "\"a // b\"  ");
}

TEST_CASE("Integer literals are hexadecimal, octal, binary or decimal") {
  CHECK(integer_literal("0x1F") == 31);
  CHECK(integer_literal("0Xffffffffffffffff") == std::numeric_limits<std::uint64_t>::max());
  CHECK(integer_literal("017") == 15);
  CHECK(integer_literal("0b101") == 5);
  CHECK(integer_literal("19U") == 19);
  CHECK(integer_literal("0") == 0);
  for (const auto* wrong : {"", "U", "0x", "0b2", "08", "1.5", "12a", "-1", "0x10000000000000000", "%r1"})
    CHECK_FALSE(integer_literal(wrong));
}

TEST_CASE("Floating-point literals are decimal, or their bits in hexadecimal") {
  CHECK(floating_literal("1.5") == 1.5);
  CHECK(floating_literal("2e3") == 2000);
  CHECK(floating_literal("0f3F800000") == 1);
  CHECK(floating_literal("0FC0000000") == -2);
  CHECK(floating_literal("0d3FF8000000000000") == 1.5);
  CHECK(std::isnan(*floating_literal("0f7fc00000")));
  for (const auto* wrong : {"0f3F80000", "0f3F8000000", "0d3F800000", "0f", "1.5x", "%f1", "r"})
    CHECK_FALSE(floating_literal(wrong));
}
