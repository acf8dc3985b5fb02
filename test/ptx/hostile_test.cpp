// Tests that modules and statements are taken apart by the same lexical rules, on text that would confuse
// others.
#include "ptx/body.h"
#include "ptx/module.h"
#include "test/catch.h"

#include <random>

using namespace warplens::ptx;

namespace {

/// Returns the instructions' texts, each with a semicolon; the error's message in brackets.
std::string statements_in(const std::string& text) {
  const auto body = parse_body(text);
  if (!body)
    return "(" + body.error().message + ")";
  std::string all;
  for (const Instruction& instruction : body->instructions)
    all += instruction.opcode + ";";
  return all;
}

/// Returns the functions' names, each with a semicolon; the error's message in brackets.
std::string functions_in(const std::string& text) {
  const auto items = items_of(text);
  if (!items)
    return "(" + items.error().message + ")";
  std::string all;
  for (const Item& item : *items)
    all += item.name + ";";
  return all;
}

/// Returns the text as two statements and as two functions, with `between` in front of the second.
std::string instructions(const std::string& between) {
  return statements_in("one a;" + between + "two b;");
}
std::string functions(const std::string& between) {
  return functions_in(".func one() { ret; }" + between + ".func two() { ret; }");
}

/// Runs each function of the component on the text, which may be anything.
void take_apart(const std::string& text) {
  (void)parse_body(text);
  if (const auto items = items_of(text))
    for (const Item& item : *items)
      (void)is_external(item);
  CHECK(with_suffix(text, {}, "_2") == text);
  CHECK(without_positions(text).size() <= text.size());
}

} // namespace

TEST_CASE("Comments are read the same in modules and in statements") {
  for (const std::string skipped :
       {"", " \t\r\n\v\f", "// }\n", "/* } */", "//\n", "/**/", "/***/", "/*/ } */", "// /*\n", "/* // */",
        "//* }\n", "/* \" */", "// \"\n", "/* one */ // two\n /* three */"}) {
    INFO(skipped);
    CHECK(instructions(skipped) == "one;two;");
    CHECK(functions(skipped) == "one;two;");
  }
}

TEST_CASE("A comment that is not closed extends to the end of modules and of statements") {
  for (const std::string unclosed : {"//", "// ", "/*", "/*/", "/* *", "/* //", "// */ ", "/* \" \""}) {
    INFO(unclosed);
    CHECK(instructions(unclosed) == "one;");
    CHECK(functions(unclosed) == "one;");
    CHECK(statements_in("one a" + unclosed) == "one;");
    CHECK(functions_in(".func one() { ret; " + unclosed) ==
          "(PTX: the item that starts with .func does not end)");
  }
}

TEST_CASE("There is no comment and no brace in a string") {
  for (const std::string string : {"\"//\"", "\"/*\"", "\"}\"", "\"{;\"", "\"\""}) {
    INFO(string);
    CHECK(functions(".pragma " + string + ";") == "one;;two;");
    CHECK(functions_in(".func one() { .pragma " + string + "; }") == "one;");
    // A statement has no strings: what follows one is not taken for a comment, either.
    CHECK(statements_in("one " + string) == "(its syntax is not understood)");
  }
  CHECK(functions_in(".func one() { .pragma \"}") == "(PTX: the item that starts with .func does not end)");
}

TEST_CASE("A slash is no comment, and a letter that PTX does not have is no word") {
  CHECK(instructions("/") == "(its syntax is not understood)");
  CHECK(instructions("/ /") == "(its syntax is not understood)");
  CHECK(instructions("\xff") == "(its syntax is not understood)");
}

TEST_CASE("A module ends at '\\0', a statement must not contain it") {
  const std::string zero(1, '\0');
  CHECK(functions(zero) == "one;");
  CHECK(functions_in(".func one() {" + zero + "}") == "one;");
  CHECK(instructions(zero) == "(its syntax is not understood)");
  CHECK(functions("/*" + zero + "*/") == "one;two;");
  CHECK(instructions("/*" + zero + "*/") == "one;two;");
}

TEST_CASE("A head that does not end has no name") {
  CHECK(functions_in(".func (.param .b32 r;") == ";");
  CHECK(functions_in(".global .attribute(.managed;") == ";");
  CHECK(functions_in(".func") == "(PTX: the item that starts with .func does not end)");
}

TEST_CASE("Any text is taken apart without an exception") {
  const std::string text =
      std::string(".version 9.0\n.visible .func (.param .b32 r) f(.param .b64 p) // {\n{ .loc 1 2 3\n"
                  "\t@!%p1 st.async.a::b [a+-4], {0f3F800000, -0x1FU}; /* \" */ .pragma \"/*\"; }\n"
                  ".global .attribute(.managed) .b8 s[2] = {1, 2}; .reg .b32 r<3>; { q|_, 1.5e2 }") +
      '\0' + "//";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    take_apart(text.substr(0, length));
    take_apart(text.substr(length));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    auto damaged = text.substr(random() % text.size());
    for (unsigned damages = random() % 8; damages > 0; --damages)
      damaged[random() % damaged.size()] = text[random() % text.size()];
    take_apart(damaged);
  }
}
