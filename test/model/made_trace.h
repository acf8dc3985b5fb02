// Traces made in memory, access by access, for kernels whose figures can be computed by hand.
#pragma once

#include "model/gpu/gpu.h"
#include "model/snapshot/snapshot_builder.h"
#include "test/catch.h"

#include <functional>
#include <map>
#include <optional>

namespace warplens::test {

using Addresses = std::function<std::uint64_t(unsigned lane)>;

class MadeTrace {
public:
  explicit MadeTrace(std::uint64_t blocks, std::uint32_t threads_per_block) {
    launch_.kernel = launch_.symbol = "kernel";
    launch_.grid.x = std::uint32_t(blocks);
    launch_.block.x = threads_per_block;
    launch_.blocks = blocks;
  }

  trace::Launch& launch() { return launch_; }
  const trace::Launch& launch() const { return launch_; }
  const std::vector<Site>& sites() const { return sites_; }

  /// Adds a site on the next source line and returns its id.
  std::uint64_t site(AccessKind kind = AccessKind::load, std::vector<std::uint64_t> depends_on = {},
                     std::uint32_t sequence = 0) {
    Site site;
    site.id = 1000 + sites_.size();
    site.line = std::uint32_t(sites_.size() + 1);
    site.kind = kind;
    site.sequence = sequence;
    site.depends_on = std::move(depends_on);
    sites_.push_back(site);
    return site.id;
  }
  Site& site_of(std::uint64_t id) { return sites_[id - 1000]; }

  void access(std::uint64_t block, std::uint32_t warp, std::uint64_t site, unsigned bytes,
              const Addresses& address, std::uint32_t active = 0xffff'ffff, Space space = Space::global) {
    trace::WarpAccess access;
    access.site = site;
    access.active = active;
    access.bytes = std::uint16_t(bytes);
    access.space = space;
    access.kind = site_of(site).kind;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if (active >> lane & 1)
        access.addresses[lane] = address(lane);
    accesses_.push_back({block, warp, access});
  }

  void barrier(std::uint64_t block, std::uint32_t warp, std::uint64_t site,
               std::uint32_t active = 0xffff'ffff) {
    trace::WarpAccess arrival;
    arrival.site = site;
    arrival.active = active;
    arrival.space = Space::generic;
    arrival.kind = AccessKind::barrier;
    accesses_.push_back({block, warp, arrival});
  }

  Expected<model::Snapshot> decode(const model::LaneRules& rules = {},
                                   model::Accesses which = model::Accesses::cached,
                                   bool all_seen = false) const {
    model::SnapshotBuilder builder(sites_, launch_, {}, rules, which);
    for (const auto& [block, warp, access] : accesses_)
      if (auto added = builder.add(block, warp, access); !added)
        return tl::unexpected(added.error());
    return std::move(builder).finish(all_seen);
  }

private:
  trace::Launch launch_;
  std::vector<Site> sites_;
  struct One {
    std::uint64_t block;
    std::uint32_t warp;
    trace::WarpAccess access;
  };
  std::vector<One> accesses_;
};

inline model::Gpu gpu(const std::string& id) {
  auto loaded = model::load_gpu(id, WARPLENS_GPU_FOLDER);
  if (!loaded)
    FAIL(loaded.error().message);
  return *loaded;
}

/// A GPU of two SMs with 64 threads each, whose L2 small snapshots fill at once.
inline model::Gpu tiny() {
  model::Gpu on = gpu("v100");
  on.sms = 2;
  on.max_threads_per_sm = 64;
  on.max_blocks_per_sm = 2;
  on.l2_bytes = 8192;
  on.l2.ways = 4;
  return on;
}

} // namespace warplens::test
