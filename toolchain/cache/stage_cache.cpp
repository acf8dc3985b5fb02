#include "toolchain/cache/stage_cache.h"

#include "support/files.h"
#include "support/hash.h"
#include "toolchain/cache/cache_folder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <sys/stat.h>

namespace warplens::toolchain {
namespace {

namespace fs = std::filesystem;

/// Stands for a run's own folder. No path that a compiler prints begins so.
constexpr std::string_view own_folder = "\x01own-folder";

/// Linux marks files with the time of its last timer tick, which may be that long ago.
constexpr std::chrono::milliseconds clock_step{10};

/// The runs of one stage that are kept, the latest first: they differ in what the files held.
constexpr std::size_t max_variants = 16;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Identifies an executable without reading it, as ccache does.
std::string identity_of(const fs::path& program) {
  struct stat found{};
  if (stat(program.c_str(), &found) != 0)
    return program.string();
  return fmt::format("{} {} {}.{}", program.string(), found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

/// Returns the key of all variants of a run.
std::string key_of(const StageRun& run) {
  std::string text;
  const auto add = [&](std::string_view word) {
    (text += replaced(std::string(word), run.folder.string(), own_folder)) += '\0';
  };
  for (const std::string& word : run.words)
    add(word);
  for (const fs::path& program : run.programs)
    add(identity_of(program));
  // Compilers look for headers by these variables, and by their folder. (GCC's manual, "Environment Variables
  // Affecting GCC".)
  for (const char* name :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SOURCE_DATE_EPOCH", "PATH", "NVCC_CCBIN"})
    if (const char* value = std::getenv(name))
      add(fmt::format("{}={}", name, value));
  std::error_code ignored;
  add(fs::current_path(ignored).string());
  return ContentCache::key("stage\n" + text);
}

bool is_of_system(const fs::path& file) {
  const std::string name = file.lexically_normal().string();
  return name.starts_with("/usr/include/") || name.starts_with("/usr/lib/");
}

/// Returns whether the text names what no dependency tells: the time, or bytes that the assembler reads.
bool depends_on_more(std::string_view content) {
  constexpr auto words =
      std::to_array<std::string_view>({"__DATE__", "__TIME__", "__TIMESTAMP__", ".incbin"});
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return content.find(word) != content.npos; });
}

bool exists(const std::string& file) {
  std::error_code error;
  return fs::exists(file, error);
}

/// The properties of a file's contents that the cache needs.
struct Content {
  std::string hash;
  bool depends_on_more = false; ///< see above; headers of the system may
};

/// Returns nothing if the file cannot be read. Stages read the same headers, hundreds of them, so that each
/// is read once in a process, unless it may have changed since then.
std::optional<Content> content_of(const fs::path& file) {
  struct Known {
    struct stat at;
    Content content;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> all;
  struct stat now{};
  if (stat(file.c_str(), &now) != 0)
    return std::nullopt;
  const std::lock_guard lock(mutex);
  const auto is_same = [&](const struct stat& then) {
    return then.st_dev == now.st_dev && then.st_ino == now.st_ino && then.st_size == now.st_size &&
           then.st_mtim.tv_sec == now.st_mtim.tv_sec && then.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
  };
  if (const auto found = all.find(file.string()); found != all.end() && is_same(found->second.at))
    return found->second.content;
  const auto text = read_file(file);
  if (!text)
    return std::nullopt;
  Content content{content_hash(*text), !is_of_system(file) && depends_on_more(*text)};
  // A file that was just written may be written once more in the same tick.
  const std::chrono::nanoseconds written =
      std::chrono::seconds(now.st_mtim.tv_sec) + std::chrono::nanoseconds(now.st_mtim.tv_nsec);
  if (written < std::chrono::system_clock::now().time_since_epoch() - clock_step)
    all.insert_or_assign(file.string(), Known{now, content});
  return content;
}

/// Bounds the cache after a run was kept. That walks through all of it, so a process does it for its first
/// run and then when it has stored a good part of the bound.
void evict_now_and_then(const ContentCache& cache, std::uint64_t stored_bytes) {
  constexpr std::uint64_t enough = ContentCache::default_bytes / 16;
  static std::atomic<std::uint64_t> stored{enough};
  if ((stored += stored_bytes) < enough)
    return;
  stored = 0;
  cache.evict();
}

/// Returns the places without a file at which a header would have been found before the place from which it
/// was read, by whichever of the folders it was.
std::vector<std::string> earlier_places(const fs::path& header, const std::vector<fs::path>& searched) {
  std::vector<std::string> places;
  const fs::path read = header.lexically_normal();
  for (auto folder = searched.begin(); folder != searched.end(); ++folder) {
    const fs::path name = read.lexically_relative(folder->lexically_normal());
    if (name.empty() || *name.begin() == "..")
      continue;
    for (auto earlier = searched.begin(); earlier != folder; ++earlier)
      if (auto place = (*earlier / name).string(); !exists(place))
        places.push_back(std::move(place));
  }
  return places;
}

} // namespace

StageCache::StageCache() : cache_(cache_folder()) {}

std::vector<fs::path> StageCache::restore(const StageRun& run) const {
  if (!cache_.enabled())
    return {};
  const auto kept = cache_.find(key_of(run));
  const auto variants = nlohmann::json::from_msgpack(kept.value_or(""), true, false);
  if (!variants.is_array())
    return {};
  const auto is_same = [&](const std::string& name, const std::string& hash) {
    const auto content = content_of(replaced(name, own_folder, run.folder.string()));
    return content && content->hash == hash;
  };
  for (const auto& variant : variants) {
    const auto& read = variant.at("read");
    const auto& absent = variant.at("absent");
    if (!std::ranges::all_of(read.items(),
                             [&](const auto& file) { return is_same(file.key(), file.value()); }) ||
        std::ranges::any_of(absent,
                            [](const auto& file) { return exists(file.template get<std::string>()); }))
      continue;
    const auto stored = cache_.find(variant.at("outputs"));
    const auto outputs = nlohmann::json::from_msgpack(stored.value_or(""), true, false);
    if (!outputs.is_object())
      return {};
    std::vector<fs::path> files;
    for (const auto& [name, content] : outputs.items()) {
      const fs::path file = run.folder / name;
      const auto& bytes = content.get_binary();
      std::string text(bytes.begin(), bytes.end());
      if (run.outputs_are_text)
        text = replaced(std::move(text), own_folder, run.folder.string());
      std::error_code told_by_writing;
      fs::create_directories(file.parent_path(), told_by_writing);
      if (!write_file(file, text))
        return {};
      files.push_back(file);
    }
    return files;
  }
  return {};
}

void StageCache::keep(const StageRun& run, const std::vector<fs::path>& read,
                      const std::vector<fs::path>& outputs) const {
  if (!cache_.enabled() || read.empty())
    return;
  if (std::ranges::any_of(run.words, depends_on_more))
    return;
  // A quoted header is searched beside the file that includes it, before all folders.
  std::vector<fs::path> searched;
  for (const fs::path& file : read)
    if (!is_of_system(file) && std::ranges::find(searched, file.parent_path()) == searched.end())
      searched.push_back(file.parent_path());
  searched.insert(searched.end(), run.searched.begin(), run.searched.end());
  nlohmann::json variant{{"read", nlohmann::json::object()}, {"absent", nlohmann::json::array()}};
  for (const fs::path& file : read) {
    const auto content = content_of(file);
    std::error_code unknown;
    const bool is_own = file.string().starts_with(run.folder.string());
    if (!content || (!is_own && fs::last_write_time(file, unknown) > run.begun - clock_step) ||
        content->depends_on_more)
      return;
    variant["read"][replaced(file.string(), run.folder.string(), own_folder)] = content->hash;
    for (const std::string& place : earlier_places(file, searched))
      variant["absent"].push_back(place);
  }
  nlohmann::json contents = nlohmann::json::object();
  for (const fs::path& file : outputs) {
    auto content = read_file(file);
    if (!content)
      return;
    if (run.outputs_are_text)
      content = replaced(std::move(*content), run.folder.string(), own_folder);
    contents[file.lexically_relative(run.folder).string()] =
        nlohmann::json::binary({content->begin(), content->end()});
  }
  const auto packed = nlohmann::json::to_msgpack(contents);
  const std::string bytes(packed.begin(), packed.end());
  variant["outputs"] = ContentCache::key("outputs\n" + bytes);
  cache_.store(variant["outputs"], bytes);

  const std::string key = key_of(run);
  auto variants = nlohmann::json::from_msgpack(cache_.find(key).value_or(""), true, false);
  if (!variants.is_array())
    variants = nlohmann::json::array();
  variants.insert(variants.begin(), std::move(variant));
  if (variants.size() > max_variants)
    variants.erase(variants.begin() + max_variants, variants.end());
  const auto all = nlohmann::json::to_msgpack(variants);
  cache_.store(key, {reinterpret_cast<const char*>(all.data()), all.size()});
  evict_now_and_then(cache_, bytes.size() + all.size());
}

MakeRule read_rule(const fs::path& file) {
  const std::string text = read_file(file).value_or("");
  MakeRule rule;
  std::string name;
  const auto end_name = [&] {
    const bool ends_targets = name.ends_with(':'); // behind the last target or, as nvcc writes it, a blank
    if (ends_targets)
      name.pop_back();
    if (!name.empty())
      rule.prerequisites.emplace_back(name);
    if (ends_targets)
      rule.targets.swap(rule.prerequisites);
    name.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if ((text[at] == '\\' && (next == ' ' || next == '#' || next == '\\')) ||
        (text[at] == '$' && next == '$')) {
      name += next;
      ++at;
    } else if (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' ||
               (text[at] == '\\' && next == '\n')) {
      end_name();
    } else {
      name += text[at];
    }
  }
  end_name();
  return rule;
}

std::vector<fs::path> searched_folders(const fs::path& source, const std::vector<std::string>& arguments) {
  std::error_code ignored; // a removed current folder leaves the name as it is
  std::vector<fs::path> folders{fs::absolute(source, ignored).parent_path()};
  for (const std::string_view option :
       {"-iquote", "-I", "-isystem", "-idirafter"}) // as compilers search them
    for (auto word = arguments.begin(); word != arguments.end(); ++word) {
      if (!word->starts_with(option))
        continue;
      if (*word != option)
        folders.emplace_back(word->substr(option.size()));
      else if (word + 1 != arguments.end())
        folders.emplace_back(*++word);
    }
  return folders;
}

fs::path program_in_path(const std::string& name) {
  if (const char* const path = std::getenv("PATH"))
    for (std::string_view rest = path; !rest.empty();) {
      const auto end = std::min(rest.find(':'), rest.size());
      const auto file = fs::path(rest.substr(0, end)) / name;
      if (exists(file.string()))
        return file;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  return name;
}

} // namespace warplens::toolchain
