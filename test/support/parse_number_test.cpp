#include "support/parse_number.h"
#include "test/catch.h"

using warplens::parse_number;

TEST_CASE("A number is the whole text, and finite") {
  CHECK(parse_number("-2.5e3") == -2500);
  CHECK(parse_number("60") == 60);
  for (const char* text : {"", "60 ", " 60", "60s", "0x10", "inf", "nan", "1e999", "+1"})
    CHECK_FALSE(parse_number(text));
}
