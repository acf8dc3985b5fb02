#include "model/code/source_lines.h"

#include "support/files.h"

#include <algorithm>

namespace warplens::model {

std::vector<std::string> files_of(const std::vector<Site>& sites) {
  std::vector<std::string> files;
  for (const Site& site : sites)
    files.push_back(site.file);
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  return files;
}

void find_source_lines(const sass::CodeTable& table, const std::vector<std::string>& files, Code& code) {
  code.files = files;
  std::vector<std::uint32_t> users; // the user's file that each of the table's is
  for (const std::string& file : table.files) {
    const auto known = std::ranges::find(files, file_name(file), file_name);
    users.push_back(known == files.end() ? sass::none : std::uint32_t(known - files.begin()));
  }
  std::vector<std::uint32_t> libraries(table.files.size(), sass::none);
  const auto number_of = [&](std::uint32_t file) {
    if (users[file] != sass::none)
      return users[file];
    if (libraries[file] == sass::none) {
      libraries[file] = std::uint32_t(code.files.size());
      code.files.push_back(table.files[file]);
    }
    return libraries[file];
  };
  code.lines.clear();
  for (const sass::Instruction& instruction : code.kernel.instructions) {
    std::uint32_t at = instruction.position;
    while (at != sass::none && users[table.positions[at].file] == sass::none)
      at = table.positions[at].inlined_at;
    if (at == sass::none)
      at = instruction.position;
    code.lines.push_back(at == sass::none
                             ? SourceLine{}
                             : SourceLine{number_of(table.positions[at].file), table.positions[at].line});
  }
}

} // namespace warplens::model
