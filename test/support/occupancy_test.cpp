// Occupancy against a table worked out by hand from the rules of CUDA's occupancy calculator: per-SM limits
// by the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; registers go to warps
// in units of 256 and each of 4 register files has a quarter of them; shared memory goes to blocks in units
// of 256 bytes on 7.5 and of 128 on newer ones, where the system takes 1 KiB of each block's.
#include "support/occupancy.h"
#include "test/catch.h"

#include <string>

using namespace warplens;

namespace {

SmResources sm(unsigned warps, unsigned blocks, unsigned shared_kib, unsigned shared_unit,
               unsigned reserved) {
  return {.threads = 32 * warps,
          .blocks = blocks,
          .threads_per_block = 1024,
          .registers = 65536,
          .registers_per_block = 65536,
          .registers_per_thread = 255,
          .register_unit = 256,
          .sub_partitions = 4,
          .shared_bytes = shared_kib * 1024,
          .shared_per_block = shared_kib * 1024,
          .shared_reserved = reserved,
          .shared_unit = shared_unit};
}

const SmResources sm_75 = sm(32, 16, 64, 256, 0), sm_80 = sm(64, 32, 164, 128, 1024),
                  sm_86 = sm(48, 16, 100, 128, 1024), sm_89 = sm(48, 24, 100, 128, 1024),
                  sm_90 = sm(64, 32, 228, 128, 1024);

} // namespace

TEST_CASE("occupancy, by hand") {
  struct Row {
    const char* name;
    const SmResources& of;
    unsigned threads, registers, shared, blocks;
    const char* limit;
  };
  for (const Row& row : {
           Row{"7.5", sm_75, 256, 32, 0, 4, "warps"},     // 32 warps of 8
           Row{"7.5", sm_75, 256, 96, 0, 2, "registers"}, // 3072 a warp: 5 in each file, 20 warps of 8
           Row{"7.5", sm_75, 32, 16, 0, 16, "blocks"},    //
           Row{"7.5", sm_75, 64, 32, 8192, 8, "shared memory"},
           Row{"7.5", sm_75, 128, 40, 9000, 7, "shared memory"}, // 9216 each
           Row{"8.0", sm_80, 256, 32, 0, 8, "warps"},
           Row{"8.0", sm_80, 256, 96, 0, 2, "registers"},
           Row{"8.0", sm_80, 1024, 33, 0, 1, "registers"}, // 1280 a warp: 12 in each file, 48 warps of 32
           Row{"8.0", sm_80, 96, 64, 0, 10, "registers"},  // 2048 a warp: 32 warps of 3
           Row{"8.0", sm_80, 32, 32, 0, 32, "blocks"},
           Row{"8.0", sm_80, 128, 32, 20000, 7, "shared memory"},  // 21120 each
           Row{"8.0", sm_80, 128, 32, 166912, 1, "shared memory"}, // all 164 KiB with what is reserved
           Row{"8.0", sm_80, 128, 32, 166913, 0, "shared memory"},
           Row{"8.0", sm_80, 1025, 32, 0, 0, "warps"},
           Row{"8.6", sm_86, 256, 48, 0, 5, "registers"}, // 1536 a warp: 40 warps of 8
           Row{"8.6", sm_86, 128, 32, 0, 12, "warps"},
           Row{"8.6", sm_86, 64, 32, 0, 16, "blocks"},
           Row{"8.6", sm_86, 256, 32, 20480, 4, "shared memory"}, // 21504 each
           Row{"8.9", sm_89, 32, 32, 0, 24, "blocks"},
           Row{"8.9", sm_89, 512, 64, 0, 2, "registers"}, // 32 warps of 16
           Row{"8.9", sm_89, 768, 40, 0, 2, "warps"},     // 48 warps of 24
           Row{"9.0", sm_90, 256, 96, 0, 2, "registers"},
           Row{"9.0", sm_90, 256, 32, 16384, 8, "warps"},
           Row{"9.0", sm_90, 128, 32, 30000, 7, "shared memory"}, // 31104 each
           Row{"9.0", sm_90, 1024, 64, 0, 1, "registers"},
           Row{"9.0", sm_90, 1024, 65, 0, 0, "registers"}, // 2304 a warp, times 32
           Row{"9.0", sm_90, 32, 256, 0, 0, "registers"},
           Row{"9.0", sm_90, 256, 0, 0, 8, "warps"}, // registers that are not known
       }) {
    INFO(row.name << ": " << row.threads << " threads, " << row.registers << " registers, " << row.shared
                  << " bytes");
    const auto found = blocks_of_sm(row.of, {row.threads, row.registers, row.shared});
    CHECK(found.blocks == row.blocks);
    CHECK(std::string(name_of(found.limited_by)) == row.limit);
  }
}

TEST_CASE("the largest block, by registers") {
  CHECK(max_threads_of_block(sm_80, 0) == 1024);
  CHECK(max_threads_of_block(sm_80, 64) == 1024);
  CHECK(max_threads_of_block(sm_80, 65) == 896);  // 2304 a warp: 7 in each file
  CHECK(max_threads_of_block(sm_80, 96) == 640);  // 3072: 5
  CHECK(max_threads_of_block(sm_80, 128) == 512); // 4096: 4
  CHECK(max_threads_of_block(sm_80, 255) == 256); // 8192: 2
  CHECK(max_threads_of_block(sm_80, 256) == 0);
}
