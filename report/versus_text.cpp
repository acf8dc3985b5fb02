#include "report/versus_text.h"

#include "result/figure_text.h"

namespace warplens::report {

std::string time_text(double microseconds) {
  return duration(Statistic{.mean = microseconds});
}

document::Table table_of_sides(const std::vector<std::pair<std::string, std::string>>& sides) {
  document::Table table{{{"side"}, {"file"}}};
  table.has_headings = false;
  table.audience = document::Audience::people;
  for (const auto& [side, file] : sides)
    table.rows.push_back({{document::words(side), document::words(file)}});
  return table;
}

} // namespace warplens::report
