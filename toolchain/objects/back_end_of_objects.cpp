#include "toolchain/objects/back_end_of_objects.h"

#include "toolchain/objects/named_libraries.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

namespace warplens::toolchain {
namespace {

/// The beginning of the runtime functions' names that objects for the CPU back end call.
constexpr std::string_view cpu_back_end_call = "__warplens_cpu_register_";

/// Searches a file without knowing its format: objects, archives and shared libraries alike.
Expected<bool> contains(const std::string& file, std::string_view text) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return fail("{}: cannot be read: {}", file, std::strerror(errno));
  const std::boyer_moore_horspool_searcher searcher(text.begin(), text.end());
  std::string bytes;
  for (std::size_t kept = 0; stream; kept = std::min(bytes.size(), text.size() - 1)) {
    bytes.erase(0, bytes.size() - kept); // the rest may be the beginning of the text
    bytes.resize(kept + (1 << 20));
    stream.read(bytes.data() + kept, 1 << 20);
    bytes.resize(kept + static_cast<std::size_t>(stream.gcount()));
    if (std::search(bytes.begin(), bytes.end(), searcher) != bytes.end())
      return true;
  }
  return false;
}

} // namespace

Expected<void> check_made_for_gpu(const std::vector<std::string>& linking) {
  for (const auto& file : find_named_libraries(linking)) {
    std::error_code ignored;
    if (file.starts_with("-") || !std::filesystem::is_regular_file(file, ignored))
      continue;
    TRY_LET(for_cpu, contains(file, cpu_back_end_call));
    if (*for_cpu)
      return fail(
          "{}: it was compiled for the CPU back end, and this link is for a GPU: link with --backend cpu (or "
          "WARPLENS_BACKEND=cpu), too, or compile it without",
          file);
  }
  return {};
}

} // namespace warplens::toolchain
