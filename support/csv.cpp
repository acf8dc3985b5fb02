#include "support/csv.h"

#include <algorithm>

namespace warplens {
namespace {

/// The bound of the memory that a hostile file takes: each field costs as much as some thirty bytes of text.
constexpr std::size_t max_fields = 50'000'000;

/// Reads one record after the other.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) // a byte order mark, as spreadsheets write it
      text_.remove_prefix(3);
  }

  bool at_end() const { return at_ >= text_.size(); }
  bool begins_with(char character) const { return text_.substr(at_).starts_with(character); }

  void skip_line() {
    at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    skip_line_end();
  }

  Expected<CsvRow> row() {
    CsvRow row;
    row.line = line_;
    while (true) {
      TRY_LET(field, this->field());
      row.fields.push_back(std::move(*field));
      if (++fields_ > max_fields)
        return fail("line {}: the table has more than {} fields", line_, max_fields);
      if (at_end() || text_[at_] != ',')
        break;
      ++at_;
    }
    skip_line_end();
    return row;
  }

private:
  Expected<std::string> field() {
    if (at_end() || text_[at_] != '"')
      return plain();
    const std::size_t first_line = line_;
    std::string field;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          return field + plain(); // anything between the closing quote and the comma belongs to the field
        }
        ++at_;
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      field += text_[at_];
    }
    return fail("line {}: a quote is not closed", first_line);
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    return field;
  }

  void skip_line_end() {
    if (!at_end() && text_[at_] == '\r')
      ++at_;
    if (!at_end() && text_[at_] == '\n')
      ++at_;
    ++line_;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, fields_ = 0;
};

} // namespace

Expected<std::vector<CsvRow>> parse_csv(std::string_view text, CsvComments comments) {
  std::vector<CsvRow> rows;
  for (Reader reader(text); !reader.at_end();) {
    if (comments == CsvComments::lines && reader.begins_with('#')) {
      reader.skip_line();
      continue;
    }
    TRY_LET(row, reader.row());
    if (row->fields.size() > 1 || !row->fields[0].empty())
      rows.push_back(std::move(*row));
  }
  return rows;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos)
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"')
      quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

} // namespace warplens
