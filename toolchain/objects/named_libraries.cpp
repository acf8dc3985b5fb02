#include "toolchain/objects/named_libraries.h"

#include <filesystem>
#include <string_view>

namespace warplens::toolchain {

std::vector<std::string> find_named_libraries(std::vector<std::string> linking) {
  std::vector<std::filesystem::path> folders; // a folder counts for all libraries, also those before it
  for (const std::string& word : linking)
    if (word.starts_with("-L") && word.size() > 2)
      folders.emplace_back(word.substr(2));
  for (std::string& word : linking) {
    if (!word.starts_with("-l") || word.size() == 2)
      continue;
    const std::string name = word.substr(2);
    const std::vector<std::string> files = name.starts_with(':')
                                               ? std::vector{name.substr(1)}
                                               : std::vector{"lib" + name + ".so", "lib" + name + ".a"};
    const auto find = [&]() -> std::string {
      for (const auto& folder : folders)
        for (const auto& file : files)
          if (std::error_code error; std::filesystem::is_regular_file(folder / file, error))
            return (folder / file).string();
      return word;
    };
    word = find();
  }
  return linking;
}

} // namespace warplens::toolchain
