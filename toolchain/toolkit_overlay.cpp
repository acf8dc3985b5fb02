#include "toolchain/toolkit_overlay.h"

#include "support/files.h"
#include "support/hash.h"
#include "toolchain/cache/cache_folder.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <fmt/format.h>
#include <set>
#include <unistd.h>

namespace warplens::toolchain {
namespace {

namespace fs = std::filesystem;

/// Returns the names of the libraries in the folder, and of its subfolder of stubs.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.insert(entry.path().filename().string());
  return names;
}

/// Fills the folder with links to what is in `original`, and with linker scripts for the libraries of the CPU
/// back end: a library has to be opened in its own folder to find the others there.
Expected<void> fill_with_libraries(const fs::path& folder, const fs::path& original) {
  const fs::path& back_end_folder = resources().libraries;
  const auto own = names_in(back_end_folder);
  fs::create_directories(folder);
  for (const std::string& name : own) // also where the toolkit lacks the library
    if (!name.starts_with("libwarplens_"))
      TRY(write_file(folder / name, fmt::format("INPUT({})\n", (back_end_folder / name).string())));
  for (const std::string& name : names_in(original)) {
    if (own.contains(name))
      continue;
    if (name == "stubs") {
      TRY(fill_with_libraries(folder / name, original / name));
    } else {
      fs::create_symlink(original / name, folder / name);
    }
  }
  return {};
}

Expected<void> fill(const fs::path& overlay, const fs::path& root) {
  constexpr const char* target = "targets/x86_64-linux";
  const auto libraries = libraries_of({root});
  if (libraries.empty())
    return fail("{}: has no libraries", root.string());
  for (const std::string& name : names_in(root))
    if (name != "lib" && name != "lib64" && name != "targets")
      fs::create_symlink(root / name, overlay / name);
  TRY(fill_with_libraries(overlay / "lib", libraries));
  fs::create_symlink("lib", overlay / "lib64");
  fs::create_directories(overlay / target);
  fs::create_symlink("../../lib", overlay / target / "lib");
  fs::create_symlink(fs::canonical(root / "include"), overlay / target / "include");
  return {};
}

} // namespace

Expected<fs::path> toolkit_overlay(const Toolkit& toolkit) {
  const auto cache = cache_folder();
  if (cache.empty())
    return fail("there is no cache for it (WARPLENS_CACHE)");
  try {
    const auto root = fs::canonical(toolkit.root);
    auto identity = root.string() + '\n' + resources().libraries.string() + '\n' + version;
    for (const std::string& name : names_in(resources().libraries))
      identity += '\n' + name;
    const auto overlay = cache / fmt::format("toolkit-{:016x}", stable_hash(identity));
    if (fs::exists(overlay / "lib/libcudart_static.a"))
      return overlay;
    fs::remove_all(overlay); // it was damaged
    // Another process may do the same: the first to name its folder so wins.
    const auto made = cache / fmt::format("toolkit-{}.new", getpid());
    fs::remove_all(made);
    fs::create_directories(made);
    TRY(fill(made, root));
    std::error_code taken;
    fs::rename(made, overlay, taken);
    if (taken)
      fs::remove_all(made);
    return overlay;
  } catch (const fs::filesystem_error& error) {
    return fail("{}", error.what());
  }
}

} // namespace warplens::toolchain
