#include "support/html_text.h"

#include "support/terminal_text.h"

namespace warplens {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char letter : printable(text))
    switch (letter) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    default: out += letter;
    }
  return out;
}

} // namespace warplens
