// Traces made in memory that the model replays as it does a file.
#pragma once

#include "trace/access_source.h"
#include "vocabulary/geometry.h"

#include <functional>
#include <string>
#include <vector>

namespace warplens::test {

class MadeSource final : public trace::AccessSource {
public:
  MadeSource(std::uint32_t blocks, std::uint32_t threads) {
    trace::Launch launch;
    launch.kernel = launch.symbol = "kernel";
    launch.grid.x = blocks;
    launch.block.x = threads;
    launch.blocks = blocks;
    launches_.push_back(launch);
  }

  /// Adds an allocation and returns its address.
  std::uint64_t allocate(std::uint64_t bytes) {
    records_.allocations.push_back({next_, bytes, {}});
    next_ += (bytes + 0xfffff) / 0x100000 * 0x100000;
    return records_.allocations.back().address;
  }
  /// Adds a site on the next line of x.cu and returns its id.
  std::uint64_t site(const std::string& object, AccessKind kind = AccessKind::load,
                     Space space = Space::global) {
    Site site;
    site.id = 1000 + sites_.size();
    site.file = "x.cu";
    site.line = std::uint32_t(sites_.size() + 1);
    site.kind = kind;
    site.space = space;
    site.element_bytes = 4;
    site.object = object;
    sites_.push_back(site);
    return site.id;
  }
  Site& site_of(std::uint64_t id) { return sites_[id - 1000]; }
  trace::Launch& launch() { return launches_.front(); }

  void access(std::uint64_t block, std::uint32_t warp, std::uint64_t site,
              const std::function<std::uint64_t(std::uint64_t lane)>& address, std::uint16_t bytes = 4) {
    trace::WarpAccess access;
    access.site = site;
    access.active = ~0u;
    access.bytes = bytes;
    access.kind = site_of(site).kind;
    access.space = site_of(site).space;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      access.addresses[lane] = address(lane);
    accesses_.push_back({block, warp, access});
  }

  bool truncated() const override { return false; }
  const trace::Program& program() const override { return program_; }
  const std::vector<Site>& sites() const override { return sites_; }
  const std::vector<trace::Launch>& launches() const override { return launches_; }
  const trace::RecordLists& records() const override { return records_; }
  std::optional<trace::LaunchEnd> end_of(std::uint32_t launch) const override {
    return trace::LaunchEnd{.launch = launch, .complete = true};
  }
  Expected<void> for_each_access(std::uint32_t, const Visit& visit) const override {
    for (const One& one : accesses_)
      visit(one.block, one.warp, one.access);
    return {};
  }

private:
  struct One {
    std::uint64_t block;
    std::uint32_t warp;
    trace::WarpAccess access;
  };
  trace::Program program_{.name = "made", .backend = "cpu", .device = "CPU"};
  std::vector<Site> sites_;
  std::vector<trace::Launch> launches_;
  trace::RecordLists records_; ///< without sites and launches
  std::vector<One> accesses_;
  std::uint64_t next_ = 0x10'0000'0000;
};

} // namespace warplens::test
