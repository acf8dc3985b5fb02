#include "report/versus_text.h"

#include "result/figure_text.h"
#include "support/terminal_text.h"

namespace warplens::report {

std::string time_text(double microseconds) {
  return duration(Statistic{.mean = microseconds});
}

std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : printable(std::string(text)))
    safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

} // namespace warplens::report
