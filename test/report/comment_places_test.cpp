#include "report/comment_places.h"
#include "test/catch.h"

using namespace warplens::report;
using Form = CommentPlace::Form;

namespace {

/// Returns one letter per line: l(ine), b(lock) or - (none).
std::string forms(std::string_view text) {
  std::string letters;
  for (const CommentPlace& place : comment_places(text))
    letters += place.form == Form::line ? 'l' : place.form == Form::block ? 'b' : '-';
  return letters;
}

} // namespace

TEST_CASE("plain lines take a comment, with or without a last newline") {
  CHECK(forms("") == "");
  CHECK(forms("a;\n\nb;") == "lll");
  CHECK(forms("a; // already\nb; /* whole */\n") == "ll");
  const auto places = comment_places("ab;\r\nc;\n");
  CHECK(places[0].at == 3); // before the CR
  CHECK(places[1].at == 2);
}

TEST_CASE("comments that go on") {
  CHECK(forms("a; /* from\n here\n to */ b;\nc;\n") == "--ll");
  CHECK(forms("/*/ still\n*/\n") == "-l");
  CHECK(forms("a; // goes on \\\n still comment\nb;\n") == "-ll");
  CHECK(forms("a / b; // x\n") == "l");
  CHECK(forms("a; /\\\n* spliced\n*/\n") == "--l");
}

TEST_CASE("lines joined by a backslash") {
  CHECK(forms("#define A(x) \\\n  (x + \\\n   1)\nb;\n") == "bbll");
  CHECK(comment_places("#define A \\\n 1\n")[0].at == 10); // before the backslash
  CHECK(forms("#define AB(x) ab\\\ncd\n") == "-l");        // in the middle of a name
  CHECK(forms("#define A x \\ \n 1\n") == "-l");           // not a splice to every compiler
  CHECK(forms("a;\\") == "-");
  CHECK(forms("a; // what?\?/\nb;\n") == "-l");
}

TEST_CASE("strings and characters") {
  CHECK(forms("s = \"// no /* comment\"; b;\nc;\n") == "ll");
  CHECK(forms("s = \"a\\\"b /* \";\nc;\n") == "ll");
  CHECK(forms("s = \"goes \\\non\";\nc;\n") == "-ll");
  CHECK(forms("c = '\"'; d = '\\''; /* x */\ne;\n") == "ll");
  CHECK(forms("n = 1'000'000 / 0x1'f; // it's\nc;\n") == "ll");
  CHECK(forms("#error don't\nc;\n") == "-l");
}

TEST_CASE("raw strings") {
  CHECK(forms("s = R\"(a\n // b \\\n \" /* )\" c\";\nd;\n") == "---l");
  CHECK(forms("s = u8R\"x(a\n)\" still\n)x\"; b;\nd;\n") == "--ll");
  CHECK(forms("s = FOOR\"(a\";\nd;\n") == "ll"); // a name, then a string
  CHECK(forms("s = R\"(never\nclosed\n") == "--");
}
