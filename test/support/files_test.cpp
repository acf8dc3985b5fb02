#include "support/files.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <fstream>
#include <sys/resource.h>

using namespace warplens;

TEST_CASE("A file is read whole, whatever its bytes") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  for (const std::size_t size : {0, 1, 65536, 200001}) {
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < size; ++at)
      bytes[at] = static_cast<char>(at * 7);
    std::ofstream(folder->path() / "file", std::ios::binary) << bytes;
    CHECK(read_file(folder->path() / "file") == bytes);
  }
  CHECK_FALSE(read_file("/proc/self/status")->empty()); // its size is 0 until it is read
}

TEST_CASE("Writing replaces the contents of a file") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto file = folder->path() / "file";
  REQUIRE(write_file(file, "a longer text"));
  REQUIRE(write_file(file, std::string_view("\0\n", 2)));
  CHECK(read_file(file) == std::string("\0\n", 2));
}

TEST_CASE("An unwritable file is an error that says why") {
  CHECK(write_file("/nonexistent/file", "x").error().message ==
        "/nonexistent/file: cannot be written: No such file or directory");
  CHECK(write_file("/dev/full", "x").error().message ==
        "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("An unreadable file is an error in one line that names it") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const std::string path = folder->path();
  CHECK(read_file(path).error().message == path + ": cannot be read: Is a directory");
  CHECK(read_file(path + "/none").error().message ==
        path + "/none: cannot be read: No such file or directory");
}

// AddressSanitizer has no room for its shadow below the limit.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITHOUT_A_LIMIT
#endif
#endif
#ifndef WITHOUT_A_LIMIT
TEST_CASE("A file that is larger than the memory is an error, too") {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto file = folder->path() / "huge";
  std::ofstream(file).put('x');
  std::filesystem::resize_file(file, std::uintmax_t{1} << 42); // a hole: 4 TiB that take no space
  // The system may promise more memory than it has: the limit says no at once.
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit limited{rlim_t{1} << 36, before.rlim_max};
  setrlimit(RLIMIT_AS, &limited);
  const auto bytes = read_file(file);
  setrlimit(RLIMIT_AS, &before);
  REQUIRE_FALSE(bytes);
  CHECK(bytes.error().message == file.string() + ": cannot be read: it is larger than the memory there is");
}
#endif
