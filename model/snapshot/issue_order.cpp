#include "model/snapshot/issue_order.h"

#include <algorithm>
#include <span>
#include <utility>

namespace warplens::model {

IssueOrder::IssueOrder(const std::vector<Site>& sites, const SiteIndex& index, Accesses accesses)
    : sites_(sites), accesses_(accesses), depends_on_(sites.size()) {
  for (std::uint32_t i = 0; i < sites.size(); ++i)
    for (const std::uint64_t id : sites[i].depends_on)
      if (const auto found = index.find(id); found != index.end())
        depends_on_[i].push_back(found->second);
}

void IssueOrder::place(WarpProgress& state, Warp& warp, std::uint32_t site,
                       const trace::WarpAccess& access) const {
  if (accesses_ == Accesses::all)
    return put_into_window(state.window, warp, site, access);
  if (starts_bulk(state, site)) {
    state.bulk.clear();
    state.bulk_ended = true;
  }
  state.bulk.push_back(site);
}

bool IssueOrder::starts_bulk(const WarpProgress& state, std::uint32_t site) const {
  if (state.bulk.empty())
    return true;
  if (sites_[state.bulk.back()].sequence != sites_[site].sequence)
    return true;
  for (const std::uint32_t earlier : state.bulk) {
    if (earlier == site)
      return true; // the next iteration of a loop
    // The operands of a store's address have ended the sequence; while the store waits for its value, loads
    // behind it are sent.
    if (sites_[site].kind == AccessKind::load || sites_[site].kind == AccessKind::update)
      for (const std::uint32_t needed : depends_on_[site])
        if (earlier == needed)
          return true;
  }
  return false;
}

/// Determines the bulk of the warp's next access, which is at this site.
///
/// Within an iteration an access comes into a later bulk than those that it depends on. The others are in
/// order, but that the compiler sends loads of a sequence before stores of it that wait for their values, if
/// these are to another memory space and so cannot change what is loaded:
///
///     tile[t] = a[i]; tile[u] = b[i];  trace: a tile b tile  bulks: a b | tile tile
///
/// The bulks of up to Site::copies iterations are merged, the first of each, the second of each and so on:
/// with 2 copies
///
///     for (…) s += a[b[i]];  trace: b0 a0 b1 a1 b2 a2 …  bulks: b0 b1 | a0 a1 | b2 b3 | a2 a3 | …
///
/// So a further access of a site joins the bulk of the access before at this site, or a later one if it
/// depends on an access there. A window ends where a site has as many accesses in it as it has copies, and
/// where the code goes on in another sequence for another reason than a dependence (a barrier, another loop,
/// a function): accesses are not moved across these. A barrier is a window of its own.
void IssueOrder::put_into_window(Window& window, Warp& warp, std::uint32_t site,
                                 const trace::WarpAccess& access) const {
  const auto seen_at = [&](std::uint32_t other) {
    return std::ranges::find(window.sites, other, &Window::Seen::site);
  };
  const std::uint32_t sequence = sites_[site].sequence;
  bool other_sequence = !window.bulks.empty() && sequence != window.last_sequence;
  auto seen = seen_at(site);
  std::uint32_t after_needed = 0; // 0: it needs no access of the window
  for (const std::uint32_t needed : depends_on_[site])
    if (const auto found = seen_at(needed); found != window.sites.end())
      after_needed = std::max(after_needed, found->bulk + 1);
  if (seen != window.sites.end() ? seen->accesses >= sites_[site].copies
                                 : other_sequence && after_needed == 0) {
    close_window(window, warp);
    seen = window.sites.end();
    after_needed = 0;
    other_sequence = false;
  }
  std::uint32_t& stored = window.stored_bulk[std::size_t(access.space)];
  if (seen == window.sites.end()) {
    const std::uint32_t in_order =
        access.kind == AccessKind::load ? std::max(window.sequence_bulk, stored) : window.last_bulk;
    window.sites.push_back({site, 1, std::max(in_order, after_needed)});
    seen = window.sites.end() - 1;
  } else {
    ++seen->accesses;
    seen->bulk = std::max(seen->bulk, after_needed);
  }
  if (other_sequence)
    window.sequence_bulk = seen->bulk;
  if (access.kind != AccessKind::load)
    stored = std::max(stored, seen->bulk);
  window.bulks.push_back(seen->bulk);
  window.last_bulk = std::max(window.last_bulk, seen->bulk);
  window.last_sequence = sequence;
}

/// Orders the window's accesses by bulk, within a bulk as they are, and begins an empty window.
void IssueOrder::close_window(Window& window, Warp& warp) {
  const std::span<Access> accesses = std::span(warp.accesses).subspan(window.first_access);
  if (!std::ranges::is_sorted(window.bulks)) {
    const std::vector<Access> old(accesses.begin(), accesses.end());
    const std::vector<Transaction> old_transactions(
        warp.transactions.begin() + std::ptrdiff_t(window.first_transaction), warp.transactions.end());
    std::vector<std::uint32_t> order(old.size()), first(old.size());
    for (std::uint32_t i = 0, transaction = 0; i < old.size(); transaction += old[i++].transactions) {
      order[i] = i;
      first[i] = transaction;
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return window.bulks[i]; });
    auto to = warp.transactions.begin() + std::ptrdiff_t(window.first_transaction);
    for (std::size_t i = 0; i < order.size(); ++i) {
      accesses[i] = old[order[i]];
      to = std::copy_n(old_transactions.begin() + first[order[i]], accesses[i].transactions, to);
    }
    std::ranges::sort(window.bulks);
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    accesses[i].starts_bulk = i == 0 || window.bulks[i] != window.bulks[i - 1];
    warp.bulks += accesses[i].starts_bulk;
  }
  window.sites.clear();
  window.bulks.clear();
  window.last_bulk = window.sequence_bulk = 0;
  window.stored_bulk.fill(0);
  window.first_access = warp.accesses.size();
  window.first_transaction = warp.transactions.size();
}

void IssueOrder::append(WarpProgress& state, Warp& warp, Access access) const {
  if (accesses_ != Accesses::all) { // close_window() does this otherwise
    access.starts_bulk = std::exchange(state.bulk_ended, false);
    warp.bulks += access.starts_bulk;
  }
  warp.accesses.push_back(access);
}

void IssueOrder::append_barrier(WarpProgress& state, Warp& warp, Access barrier) const {
  if (accesses_ == Accesses::all) { // a window of its own
    close_window(state.window, warp);
    state.window.bulks.push_back(0);
    append(state, warp, barrier);
    return close_window(state.window, warp);
  }
  state.bulk.clear();
  state.bulk_ended = true;
  append(state, warp, barrier);
  state.bulk_ended = true;
}

void IssueOrder::finish(WarpProgress& state, Warp& warp) const {
  if (accesses_ == Accesses::all)
    close_window(state.window, warp);
}

} // namespace warplens::model
