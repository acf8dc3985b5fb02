#include "toolchain/ptx/merge_variants.h"

#include "ptx/module.h"
#include "toolchain/ptx/forwarding.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>
#include <warplens/probed_variant.h>

namespace warplens::toolchain {
namespace {

using Names = std::set<std::string, std::less<>>;
using Items = std::map<std::string, const ptx::Item*, std::less<>>;

constexpr std::string_view suffix = WARPLENS_PROBED_SUFFIX;

Items by_name(const std::vector<ptx::Item>& items) {
  Items result;
  for (const ptx::Item& item : items)
    if (!item.name.empty()) {
      auto& known = result[item.name];
      if (!known || known->kind == ptx::ItemKind::declaration)
        known = &item;
    }
  return result;
}

bool has_body(const ptx::Item& item) {
  return item.kind == ptx::ItemKind::function || item.kind == ptx::ItemKind::kernel;
}

/// Returns the names that must differ between the variants: functions, and constants that the compiler
/// numbers (strings, tables).
Expected<Names> renamed(const Items& plain, const Items& probed) {
  Names names;
  for (const auto& [name, item] : probed) {
    const auto same = plain.find(name);
    if (item->kind == ptx::ItemKind::kernel &&
        (same == plain.end() || same->second->kind != ptx::ItemKind::kernel))
      return fail("the kernel {} exists with probes only", name);
    if (same == plain.end())
      continue;
    if (has_body(*item))
      names.insert(name);
    else if (item->kind == ptx::ItemKind::variable && item->text != same->second->text) {
      if (ptx::is_external(*item) || !item->text.ends_with("};"))
        return fail("the variable {} differs between the variants with and without probes", name);
      names.insert(name);
    }
  }
  return names;
}

/// Makes a kernel launchable with every block size of the user's own. One without a block size may be
/// launched with 1024 threads, the maximum: its probes must not take the registers for that. Its bound on
/// blocks per SM is meant for the kernel without probes.
std::string launchable(std::string text) {
  const auto body = text.find('{');
  auto head = text.substr(0, body);
  if (const auto at = head.find(".minnctapersm"); at != std::string::npos)
    head.erase(at, head.find_first_of("\n.", at + 1) - at);
  if (head.find(".maxntid") == std::string::npos && head.find(".reqntid") == std::string::npos)
    head += ".maxntid 1024, 1, 1\n";
  return head + text.substr(body);
}

std::string header_of(const std::vector<ptx::Item>& items) {
  std::string text;
  for (const ptx::Item& item : items)
    if (item.kind == ptx::ItemKind::header)
      text += item.text + '\n';
  return text;
}

} // namespace

Expected<std::string> merge_variants(std::string_view plain, std::string_view probed) {
  TRY_LET(plain_items, ptx::items_of(plain));
  TRY_LET(probed_items, ptx::items_of(probed));
  if (header_of(*plain_items) != header_of(*probed_items))
    return fail("the two variants are PTX of two kinds");
  const auto known = by_name(*plain_items);
  TRY_LET(names, renamed(known, by_name(*probed_items)));

  std::string result(plain.substr(0, plain.find('\0')));
  for (const ptx::Item& item : *probed_items)
    if (is_users_elsewhere(item) && !names->contains(item.name))
      if (const auto forwarding = forwarding_function(item, item.name + std::string(suffix));
          !forwarding.empty()) {
        if (!known.contains(item.name))
          result += '\n' + item.text + '\n';
        result += '\n' + forwarding + '\n';
        names->insert(item.name);
      }
  for (const ptx::Item& item : *probed_items) {
    if (item.kind == ptx::ItemKind::header || item.kind == ptx::ItemKind::debug)
      continue;
    if (!item.name.empty() && known.contains(item.name) && !names->contains(item.name))
      continue; // the variants share it
    if (is_users_elsewhere(item) && names->contains(item.name))
      continue; // see above
    auto text = ptx::with_suffix(item.text, *names, suffix);
    if (has_body(item))
      text = ptx::without_positions(text);
    if (item.kind == ptx::ItemKind::kernel)
      text = launchable(std::move(text));
    result += '\n' + text + '\n';
  }
  return result;
}

Expected<void> check_same_kernels(std::string_view plain, std::string_view probed) {
  TRY_LET(plain_items, ptx::items_of(plain));
  TRY_LET(probed_items, ptx::items_of(probed));
  const auto found = by_name(*probed_items);
  for (const ptx::Item& item : *plain_items)
    if (const auto same = found.find(item.name);
        item.kind == ptx::ItemKind::kernel &&
        (same == found.end() || same->second->kind != ptx::ItemKind::kernel))
      return fail("the kernel {} exists without probes only", item.name);
  return {};
}

} // namespace warplens::toolchain
