#include "runtime/cpu/execution/findings.h"

#include "runtime/cpu/memory/memory.h"
#include "runtime/cpu/memory/written_memory.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace warplens::cpu {

namespace {

const char* name_of(Check check) {
  for (const CheckName& name : check_names)
    if (name.check == check)
      return name.name;
  return "check";
}

/// Runs after all exit handlers of the program, and after the recorder's.
void end_with_failure() {
  std::fflush(nullptr);
  if (Findings::instance().summarise())
    std::_Exit(1);
}

} // namespace

Findings& Findings::instance() {
  static Findings& findings = *new Findings; // never destroyed: kernels may run until the process ends
  return findings;
}

void Findings::print(Check check, const std::string& kernel, const std::string& text) {
  constexpr unsigned max_notes = 2;
  const bool note = check == Check::lock_step;
  const unsigned before = note ? notes_[kernel]++ : 0;
  if (before < max_notes)
    std::fprintf(stderr, "warplens: %s: kernel %s: %s\n", note ? "note" : name_of(check), kernel.c_str(),
                 text.c_str());
  else if (before == max_notes)
    std::fprintf(stderr,
                 "warplens: note: kernel %s: it relies on lock step at more lines; --racecheck names all\n",
                 kernel.c_str());
}

std::atomic<std::uint64_t>& Findings::add(Check check, const std::string& kind, const std::string& kernel,
                                          const std::string& places, const std::string& text) {
  const std::lock_guard lock(mutex_);
  auto& finding = all_[fmt::format("{} {} {} {}", name_of(check), kind, kernel, places)];
  if (!finding) {
    finding = std::make_unique<Finding>();
    finding->check = check;
    finding->kind = kind;
    print(check, kernel, text);
  }
  ++finding->times;
  return finding->times;
}

void Findings::enable(Checks checks) {
  const std::lock_guard lock(mutex_);
  enabled_ = Checks(enabled_.bits() | checks.bits());
}

LookedAtCounts& Findings::new_counts() {
  const std::lock_guard lock(mutex_);
  return *counts_.emplace_back(std::make_unique<LookedAtCounts>());
}

/// Returns what the check has looked at, in words.
std::string Findings::looked_at(Check check) const {
  const auto sum = [&](LookedAt what) {
    std::uint64_t all = 0;
    for (const auto& counts : counts_)
      all += counts->of(what);
    return all;
  };
  switch (check) {
  case Check::memory: return fmt::format("{} accesses", sum(LookedAt::memory));
  case Check::races:
    return fmt::format("{} accesses to shared and {} to global memory", sum(LookedAt::shared_accesses),
                       sum(LookedAt::global_accesses));
  case Check::initialisation: return fmt::format("{} accesses", sum(LookedAt::initialisations));
  case Check::synchronisation:
    return fmt::format("{} arrivals at barriers and warp operations", sum(LookedAt::synchronisations));
  case Check::lock_step: break;
  }
  return "";
}

bool Findings::summarise() {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const CheckName& name : check_names) {
    if (name.check == Check::lock_step)
      continue; // notes
    std::map<std::string, std::size_t> places;
    std::uint64_t times = 0;
    for (const auto& [key, finding] : all_)
      if (finding->check == name.check) {
        ++places[finding->kind];
        times += finding->times;
      }
    std::string text;
    for (const auto& [kind, count] : places)
      text += fmt::format("{}{} ({} place{})", text.empty() ? "" : ", ", kind, count, count == 1 ? "" : "s");
    any |= times != 0;
    if (times)
      text = fmt::format("found {}, {} time{} in all; ", text, times, times == 1 ? "" : "s");
    else if (name.check != Check::memory) // whose finding has ended a kernel
      text = "found nothing; ";
    if (times || enabled_.has(name.check))
      std::fprintf(stderr, "warplens: %s: %slooked at %s\n", name.name, text.c_str(),
                   looked_at(name.check).c_str());
  }
  return any;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_enable_checks(std::uint32_t bits) {
  const Checks checks(bits);
  Findings::instance().enable(checks);
  if (checks.has(Check::memory))
    DeviceMemory::instance().keep_apart();
  if (checks.has(Check::initialisation))
    WrittenMemory::instance().enable();
  static const bool at_the_end [[maybe_unused]] = std::atexit(end_with_failure) == 0;
}
