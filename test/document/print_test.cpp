// One document through every printer: what each shows, leaves out and makes harmless.
#include "document/print.h"
#include "support/terminal_text.h"
#include "test/catch.h"
#include "test/report/json_schema.h"

#include <limits>
#include <sstream>

using namespace warplens;
using namespace warplens::document;
using nlohmann::json;

namespace {

constexpr const char* hostile = "walk<int>(node*)|`\x1b[2J\xff";

/// A kernel for each row, with a column and a row that only programs read, and a bar.
Table kernels() {
  Table table{{{"kernel", Kind::name},
               {"", Kind::bar},
               {"power", Kind::interval, "W", Audience::all, " of the board"},
               {"gpu", Kind::words, "", Audience::programs},
               {"note"}}};
  table.rows.push_back({{words("copy"),
                         bar_of(0.5),
                         figure(133, 99, 178, "133 W"),
                         words("v100"),
                         {.text = "a, \"b\"", .below = {"for more"}}}});
  table.rows.push_back(
      {{words(hostile), bar_of(1), figure(9, "9 W"), words("v100"), words("")}, Tone::faint});
  table.rows.push_back(
      {{words("small"), bar_of(0), {}, words("v100"), words("")}, Tone::plain, Audience::programs});
  return table;
}

Document made() {
  return {"Power",
          {{"", {Paragraph{"before *all* of a_b and _c_"}}},
           {"Kernels", {kernels(), Paragraph{"never", Tone::alarming}, Listing{"sh", "run it\n\nagain\n"}}}}};
}

std::string with_headings(bool has_headings) {
  Document document = made();
  std::get<Table>(document.sections[1].blocks[0]).has_headings = has_headings;
  return print_text(document, {});
}

} // namespace

TEST_CASE("text: sections, indented tables with aligned columns, and nothing that controls the terminal") {
  CHECK(with_headings(true) == R"(before *all* of a_b and _c_

Kernels
  kernel                             power  note
  copy                     ████      133 W  a, "b"
                                            for more
  walk<int>(node*)|`␛[2J�  ████████    9 W
  never
  run it

  again
)");
}

TEST_CASE("text: a table without headings has words behind its cells") {
  CHECK(with_headings(false).find("copy                     ████      133 W of the board  a, \"b\"\n") !=
        std::string::npos);
  CHECK(with_headings(false).find("kernel") == std::string::npos);
}

TEST_CASE("text: a table that is too wide wraps its words and shortens its names") {
  Table table{{{"name", Kind::name}, {"words"}, {"number", Kind::number}, {"more"}}};
  const std::string long_words = "a text of words that goes on and on, for longer than a line of it is";
  table.rows.push_back({{words("outer<inner<float, int>, 128>(float const*, float*)"), words(long_words),
                         figure(1, "1"), words(long_words)}});
  for (const unsigned width : {0u, 80u, 100u, 140u}) {
    const std::string text = print_text({"", {{"Heading", {table}}}}, {false, width});
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      INFO(line);
      CHECK(width_of(line) <= std::max(80u, width));
    }
    CHECK(count > 3);
    CHECK(text.find("outer") != std::string::npos);
    CHECK(text.find("is\n") != std::string::npos); // the last word is still there
  }
}

TEST_CASE("text: a paragraph hangs, and colours go by the tone") {
  const std::string words =
      "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
  const Document document{"", {{"Heading", {Paragraph{words, Tone::notable}}}}};
  CHECK(print_text(document, {true, 80}) ==
        "\x1b[1mHeading\x1b[0m\n"
        "  \x1b[33mone two three four five six seven eight nine ten eleven twelve thirteen\x1b[0m\n"
        "    \x1b[33mfourteen fifteen\x1b[0m\n");
}

TEST_CASE("Markdown: headings, escapes, tables without bars, listings") {
  CHECK(print_markdown(made()) == R"(before \*all\* of a_b and \_c\_

### Kernels

| kernel | power | note |
|---|--:|---|
| `copy` | 133 W | a, "b"<br>for more |
| `` walk<int>(node*)\|`␛[2J� `` | 9 W |  |

**never**

```sh
run it

again
```
)");
}

TEST_CASE("CSV: all columns and rows for programs, with bounds and units") {
  CHECK(print_csv(made()) == "kernel,power [W],power low [W],power high [W],gpu,note\r\n"
                             "copy,133,99,178,v100,\"a, \"\"b\"\"\"\r\n"
                             "walk<int>(node*)|`\x1b[2J\xff,9,,,v100,\r\n"
                             "small,,,,v100,\r\n");
  const Table other{{{"x", Kind::number}}, {{{figure(std::numeric_limits<double>::infinity(), "inf")}}}};
  const Table people{{{"y"}}, {{{words("unseen")}}}, "", true, Audience::people};
  CHECK(print_csv({"", {{"", {other, people, other}}}}) == "x\r\n\r\n\r\n");
  CHECK(print_csv({"", {{"", {other}}, {"", {Table{{{"z"}}}}}}}) == "x\r\n\r\n\r\nz\r\n");
}

TEST_CASE("JSON: follows its schema, with figures as numbers") {
  const json document = json::parse(print_json(made()));
  const test::JsonSchema schema = test::JsonSchema::of_file(std::string(SCHEMA_DIRECTORY) + "/document.json");
  CHECK(schema.fault_of(document).value_or("") == "");
  const json& table = document["sections"][1]["blocks"][0]["table"];
  CHECK(table["columns"].size() == 4);
  CHECK(table["rows"].size() == 3);
  CHECK(table["rows"][0][1] == json{{"value", 133}, {"low", 99}, {"high", 178}});
  CHECK(table["rows"][1][1] == 9);
  CHECK(table["rows"][2][1] == nullptr);
  CHECK(document["sections"][1]["blocks"][2]["listing"] == "run it\n\nagain\n");
}

TEST_CASE("HTML: markup in words is text, and bars are drawn") {
  const std::string page = print_html({"<b>", made().sections});
  CHECK(page.find("<title>&lt;b&gt;</title>") != std::string::npos);
  CHECK(page.find("<code>walk&lt;int&gt;(node*)|`␛[2J�</code>") != std::string::npos);
  CHECK(page.find("<meter value=\"0.500\">") != std::string::npos);
  CHECK(page.find("<td>a, &quot;b&quot;<br>for more") != std::string::npos);
  CHECK(page.find("small") == std::string::npos);
}

namespace {

Findings verdicts() {
  return {{{"worse",
            "a.cu:3 in[i]",
            "3 µs → 4 µs",
            {"sectors 4 → 28", "and further words, more of them than fit in a line of eighty columns, "
                               "which is why they hang"},
            Tone::alarming},
           {"", "", "a statement alone"}}};
}

} // namespace

TEST_CASE("findings: a sentence each with its evidence, in every format") {
  const Document document{"", {{"", {verdicts()}}}};
  CHECK(print_text(document, {false, 80}) == R"(worse: a.cu:3 in[i]: 3 µs → 4 µs
    sectors 4 → 28
    and further words, more of them than fit in a line of eighty columns,
      which is why they hang
a statement alone
)");
  CHECK(print_text(document, {true, 80}).starts_with("\x1b[1;31mworse\x1b[0m: a.cu:3 in[i]: "));
  CHECK(print_markdown(document) == R"(- **worse**: a.cu:3 in\[i]: 3 µs → 4 µs
  - sectors 4 → 28
  - and further words, more of them than fit in a line of eighty columns, which is why they hang
- a statement alone
)");
  CHECK(print_csv(document).starts_with(
      "severity,place,statement,evidence\r\nworse,a.cu:3 in[i],3 µs → 4 µs,\"sectors 4 → 28; and further"));
  CHECK(print_html(document).find(
            "<li><b class=\"alarming\">worse</b>: a.cu:3 in[i]: 3 µs → 4 µs<ul><li>sectors") !=
        std::string::npos);
  const json made = json::parse(print_json(document));
  const test::JsonSchema schema = test::JsonSchema::of_file(std::string(SCHEMA_DIRECTORY) + "/document.json");
  CHECK(schema.fault_of(made).value_or("") == "");
  CHECK(made["sections"][0]["blocks"][0]["findings"][0]["evidence"].size() == 2);
}

TEST_CASE("Markdown: a comment with a limit has shorter tables and findings, and says so") {
  Table table{{{"number", Kind::number}, {"word"}}};
  Findings findings;
  for (int row = 0; row < 50; ++row) {
    table.rows.push_back({{figure(row, std::to_string(row)), words("x")}});
    findings.findings.push_back({"worse", "", std::to_string(row)});
  }
  const Document document{"", {{"", {table, findings, Findings{}, Paragraph{"the end"}}}}};
  const auto lines_of = [&](const Look& look) {
    const std::string text = print_markdown(document, look);
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines_of({}) == 52 + 1 + 50 + 1 + 1);
  CHECK(lines_of({.max_lines = 60}) <= 60);
  CHECK(lines_of({.max_lines = 60}) >= 58);
  const std::string text = print_markdown(document, {.max_lines = 60});
  CHECK(text.find("| 19 | x |\n| … and 30 more | |\n") != std::string::npos);
  CHECK(text.find("\n\n… and 19 more lines: the text has all\n\nthe end\n") != std::string::npos);
}

TEST_CASE("parts are for terminals, pages or programs alone") {
  Table table{{{"x", Kind::number}, {"y"}}};
  table.rows.push_back({.cells = {figure(1, "1"), words("a")}, .above = "of a <line>"});
  table.rows.push_back({{figure(2, "2"), words("b")}});
  const Document document{
      "",
      {{"", {Paragraph{"terminal", Tone::plain, Audience::terminals}}},
       {"",
        {Paragraph{"page", Tone::plain, Audience::pages}, Listing{"sh", "program", Audience::programs},
         Figure{"a (b)", "<svg/>", "a (b).svg"}, table}}}};
  CHECK(print_text(document, {}) == "terminal\n\n  x  y\nof a <line>\n  1  a\n  2  b\n");
  CHECK(print_markdown(document) == "page\n\n![a (b)](a%20%28b%29.svg)\n\n| x | y |\n|--:|---|\n"
                                    "| **of a \\<line>** | |\n| 1 | a |\n| 2 | b |\n");
  const std::string page = print_html(document);
  CHECK(page.find("<figure><svg/><figcaption>a (b)</figcaption></figure>") != std::string::npos);
  CHECK(page.find("<th colspan=\"2\">of a &lt;line&gt;") != std::string::npos);
  CHECK(page.find("terminal") == std::string::npos);
  const json made = json::parse(print_json(document));
  CHECK(made["sections"][0]["blocks"].empty());
  CHECK(made["sections"][1]["blocks"].size() == 2);
}
