#include "support/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace warplens {

Expected<std::string> read_file(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail("{}: cannot be read: {}", file.string(), std::strerror(errno));
  const struct Closing {
    int descriptor;
    ~Closing() { close(descriptor); }
  } closing{descriptor};
  constexpr std::size_t at_least = 1 << 16;
  try {
    struct stat about{};
    fstat(descriptor, &about); // a pipe's size is 0: it is read until it ends
    std::string bytes(static_cast<std::size_t>(about.st_size) + 1, '\0');
    for (std::size_t size = 0;;) {
      if (size == bytes.size())
        bytes.resize(size + std::max(size, at_least));
      const ssize_t count = read(descriptor, bytes.data() + size, bytes.size() - size);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return fail("{}: cannot be read: {}", file.string(), std::strerror(errno));
      size += static_cast<std::size_t>(count);
      if (count == 0) {
        bytes.resize(size);
        return bytes;
      }
    }
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return fail("{}: cannot be read: it is larger than the memory there is", file.string());
}

Expected<void> write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << bytes;
  stream.close();
  if (!stream)
    return fail("{}: cannot be written: {}", file.string(), std::strerror(errno));
  return {};
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

} // namespace warplens
