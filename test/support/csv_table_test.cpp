#include "support/csv_table.h"
#include "test/catch.h"

using namespace warplens;

namespace {

std::string error_of(std::string_view text) {
  const auto table = CsvTable::parse(text, "a.csv");
  return table ? "" : table.error().message;
}

} // namespace

TEST_CASE("Rows, quotes and comments") {
  const auto table =
      CsvTable::parse("# a comment\nname,watts\r\nfirst,1.5\n\n\"a, \"\"b\"\"\nc\",\n", "a.csv");
  REQUIRE(table);
  CHECK(table->columns() == std::vector<std::string>{"name", "watts"});
  REQUIRE(table->rows() == 2);
  CHECK(table->cell(0, "name") == "first");
  CHECK(**table->number(0, "watts") == 1.5);
  CHECK(table->cell(1, "name") == "a, \"b\"\nc");
  CHECK_FALSE(*table->number(1, "watts"));
  CHECK_FALSE(*table->number(1, "volts"));
  CHECK(table->place(1) == "a.csv:5");
  CHECK_FALSE(table->has("volts"));
}

TEST_CASE("Tables that are none") {
  CHECK(error_of("") == "a.csv: no row");
  CHECK(error_of("a,a\n") == "a.csv:1: each column needs a name of its own");
  CHECK(error_of("a,b\n1\n") == "a.csv:2: 1 cells, where the first row has 2");
  CHECK(error_of("a\n\"1") == "a.csv: line 2: a quote is not closed");
  const auto table = CsvTable::parse("a\nmany\ninf\n", "a.csv");
  CHECK(table->number(0, "a").error().message == "a.csv:2: 'many' in column a is not a number");
  CHECK_FALSE(table->number(1, "a"));
}
