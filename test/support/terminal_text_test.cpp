#include "support/html_text.h"
#include "support/terminal_text.h"
#include "test/catch.h"

#include <cmath>

using namespace warplens;

TEST_CASE("nothing in a source can steer the terminal") {
  CHECK(printable("a\x1b[31mb") == "a␛[31mb");
  CHECK(printable("\x07\x7f\r") == "␇␡␍");
  CHECK(printable(std::string_view("\0", 1)) == "␀");
  CHECK(printable("\u009b31m") == "\uFFFD31m");         // the one-character CSI
  CHECK(printable("\u202ex\u2066") == "\uFFFDx\uFFFD"); // reordering
  CHECK(printable("caf\xe9!") == "caf\uFFFD!");
  CHECK(printable("\xc0\xaf\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"); // overlong, surrogate
  CHECK(printable("\xf0\x9f") == "\uFFFD\uFFFD");
  CHECK(printable("naïve 行") == "naïve 行");
}

TEST_CASE("tabs go to stops of four") {
  CHECK(printable("\ta") == "    a");
  CHECK(printable("abc\ta") == "abc a");
  CHECK(printable("行\ta") == "行  a");
}

TEST_CASE("width, cut and padding count columns") {
  CHECK(width_of("naïve") == 5);
  CHECK(width_of("行列") == 4);
  CHECK(width_of("e\u0301") == 1);
  CHECK(cut("abcdef", 6) == "abcdef");
  CHECK(cut("abcdef", 5) == "abcd…");
  CHECK(cut("行列行列", 4) == "行…");
  CHECK(cut("abc", 0).empty());
  CHECK(pad_right("é", 3) == "é  ");
  CHECK(pad_left("12", 4) == "  12");
  CHECK(pad_left("12345", 4) == "123…");
}

TEST_CASE("text is wrapped at blanks, and a word that is too long is cut") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("one two three", 13) == Lines{"one two three"});
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("行列 行 abcdefg", 7) == Lines{"行列 行", "abcdefg"});
  CHECK(wrapped("a bcdefghi j", 4) == Lines{"a", "bcd…", "j"});
  CHECK(wrapped("", 4) == Lines{""});
}

TEST_CASE("colours only on request") {
  CHECK(Style(false).hot("x") == "x");
  CHECK(Style(true).hot("x") == "\x1b[1;31mx\x1b[0m");
  CHECK(Style(true).hot("").empty());
}

TEST_CASE("a text cannot end its element or attribute of HTML") {
  CHECK(html_text("<b title=\"a&b\">") == "&lt;b title=&quot;a&amp;b&quot;&gt;");
  CHECK(html_text("\x1b[31m") == "␛[31m");
}

TEST_CASE("bars stay in their bounds") {
  CHECK(bar(0, 3) == "   ");
  CHECK(bar(1, 3) == "███");
  CHECK(bar(0.5, 3) == "█▌ ");
  CHECK(bar(9, 2) == "██");
  CHECK(bar(std::nan(""), 2) == "  ");
}
