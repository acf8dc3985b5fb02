// The cache of files keyed by what they were made from.
#include "support/content_cache.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace warplens;

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.push_back(entry.path());
  return files;
}

} // namespace

TEST_CASE("the cache keeps the files used last, within its bound") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const auto folder = temporary->path();
  const ContentCache cache(folder, 10000);
  const std::string object(1000, 'o');
  std::vector<std::string> keys;
  for (int i = 0; i < 12; ++i) {
    keys.push_back(ContentCache::key(std::to_string(i)));
    cache.store(keys.back(), object + std::to_string(i));
    for (const auto& path : files_in(folder)) // older with each round
      std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(1));
  }
  CHECK(cache.find(keys[0]) == object + "0"); // now used last
  cache.evict();
  CHECK(files_in(folder).size() == 7); // slightly more than 1032 bytes each
  CHECK(cache.find(keys[0]).has_value());
  CHECK(!cache.find(keys[1]).has_value());
  CHECK(!cache.find(keys[5]).has_value());
  CHECK(cache.find(keys[11]) == object + "11");
  CHECK(!cache.find(ContentCache::key("another")).has_value());
}

TEST_CASE("several threads use one cache at once") {
  const auto temporary = TemporaryDirectory::create();
  REQUIRE(temporary);
  const auto folder = temporary->path();
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      const ContentCache cache(folder, 200000);
      for (int i = 0; i < 100; ++i) {
        const auto number = std::to_string(i % 10);
        const std::string key = ContentCache::key(number), object = number + std::string(50000, number[0]);
        if (const auto found = cache.find(key); found && *found != object)
          ++wrong;
        cache.store(key, object);
        if (i % 25 == 0)
          cache.evict();
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  for (const auto& path : files_in(folder))
    CHECK(path.filename().string().find('.') == std::string::npos); // no temporary file left
}
