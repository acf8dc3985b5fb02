#include "document/print.h"
#include "document/table_parts.h"
#include "support/html_text.h"
#include "support/lines.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace warplens::document {
namespace {

constexpr const char* head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root{{color-scheme:light dark}}
body{{font:14px/1.45 system-ui,sans-serif;margin:1.5rem;max-width:75rem}}
table{{border-collapse:collapse;margin:.5rem 0 1.5rem;display:block;overflow-x:auto}}
th,td{{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}}
.figure{{text-align:right;white-space:nowrap}}
.strong{{font-weight:600}} .faint{{opacity:.7}} .notable{{color:#b26a00}} .alarming{{color:#d0312d;font-weight:600}}
pre{{overflow-x:auto;padding:.6rem;background:#8881}}
meter{{width:6rem}}
figure{{margin:.5rem 0 1.5rem}} figure svg{{max-width:100%;height:auto}} figcaption{{opacity:.7}}
</style></head><body>
<h1>{0}</h1>
)";

std::string class_of(Tone tone, bool is_figure) {
  static constexpr const char* names[] = {"", "strong", "faint", "notable", "alarming"};
  const std::string name = names[std::size_t(tone)];
  const std::string all = is_figure ? (name.empty() ? "figure" : "figure " + name) : name;
  return all.empty() ? "" : fmt::format(" class=\"{}\"", all);
}

std::string content_of(const Column& column, const Cell& cell) {
  if (column.kind == Kind::bar)
    return fmt::format("<meter value=\"{:.3f}\"></meter>",
                       cell.value && std::isfinite(*cell.value) ? std::clamp(*cell.value, 0.0, 1.0) : 0.0);
  std::string text = html_text(cell.text);
  for (const std::string& line : cell.below)
    text += "<br>" + html_text(line);
  return column.kind == Kind::name ? "<code>" + text + "</code>" : text;
}

struct BlockHtml {
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format("<p{}>{}</p>\n", class_of(paragraph.tone, false), html_text(paragraph.text));
  }

  std::string operator()(const Listing& listing) const {
    std::string text;
    for (const std::string& line : lines_of(listing.text))
      text += html_text(line) + "\n";
    return "<pre>" + text + "</pre>\n";
  }

  std::string operator()(const Findings& findings) const {
    std::string text = "<ul>";
    for (const Finding& finding : findings.findings) {
      const std::string severity =
          finding.severity.empty()
              ? ""
              : fmt::format("<b{}>{}</b>", class_of(finding.tone, false), html_text(finding.severity));
      text += "<li>" + sentence_of(severity, html_text(finding.place), html_text(finding.statement));
      std::string evidence;
      for (const std::string& line : finding.evidence)
        evidence += "<li>" + html_text(line);
      text += (evidence.empty() ? "" : "<ul>" + evidence + "</ul>") + "\n";
    }
    return text + "</ul>\n";
  }

  std::string operator()(const Figure& figure) const {
    return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", figure.svg,
                       html_text(figure.caption));
  }

  std::string operator()(const Table& table) const {
    const std::vector<std::size_t> columns = columns_for(table, Audience::pages);
    if (columns.empty())
      return "";
    std::string text = table.caption.empty() ? "" : "<p>" + html_text(table.caption) + "</p>\n";
    text += "<table><tr>";
    for (const std::size_t column : columns)
      text += fmt::format("<th{}>{}", class_of(Tone::plain, is_figure(table.columns[column].kind)),
                          html_text(table.columns[column].heading));
    text += "\n";
    for (const Row* row : rows_for(table, Audience::pages)) {
      if (!row->above.empty())
        text += fmt::format("<tr><th colspan=\"{}\">{}\n", columns.size(), html_text(row->above));
      text += "<tr" + class_of(row->tone, false) + ">";
      for (const std::size_t column : columns)
        text +=
            fmt::format("<td{}>{}", class_of(row->cells[column].tone, is_figure(table.columns[column].kind)),
                        content_of(table.columns[column], row->cells[column]));
      text += "\n";
    }
    return text + "</table>\n";
  }
};

} // namespace

std::string print_html(const Document& document, const Look& /*look*/) {
  std::string page = fmt::format(head, html_text(document.title));
  for (const Section& section : document.sections) {
    if (!section.heading.empty())
      page += "<h2>" + html_text(section.heading) + "</h2>\n";
    for (const Block& block : section.blocks)
      if (is_for(block, Audience::pages))
        page += std::visit(BlockHtml{}, block);
  }
  return page + "</body></html>\n";
}

} // namespace warplens::document
