// The ring-buffer protocol between a running kernel and the host, one code for the GPU and the CPU back end
// (after Baghsorkhi et al., PPoPP 2012, section 4).
//
// A block takes a free buffer by exchanging its counter's 0 for the number of its threads; the threads
// release it as they leave. A buffer has one ring of slots per warp. A producer reserves the next ticket of
// its ring (fragments of one warp may do so at once), waits until the host has drained the slot's previous
// line, fills the slot, and commits it by writing ticket + 1 behind it. The host reads committed slots in the
// order of tickets, so a warp's lines stay in order, and publishes the number that it has drained. Slots
// contain their block's id: a buffer may pass to its next block before it is drained.
//
// There are two memories: `local` is the device's own (counters that only the device accesses), `shared` is
// pinned host memory. Each word of the latter has one writer. On the CPU back end both are plain memory.
//
// Every wait is bounded: every loop ends once the host sets the stop word, and the line being pushed is
// dropped.
//
// Needs C++14.
#pragma once

#include "scoped_atomic.h"

#include <stdint.h>

namespace warplens {

struct TextureTable;

namespace ring {

/// One warp access between the kernel and the host.
struct Line {
  uint64_t site;
  uint32_t active;
  uint16_t bytes;
  uint8_t space; ///< Space as seen at run time
  uint8_t kind;  ///< AccessKind
  uint64_t
      addresses[32]; ///< shared memory: offsets into the block's shared memory; undefined for inactive lanes
};

/// A slot of a ring. In shared memory.
struct Slot {
  uint64_t committed; ///< ticket + 1 of the line it holds; 0: none yet
  uint64_t block;
  Line line;
};

/// The producers' side of a ring. In local memory.
struct Ring {
  uint64_t reserved; ///< tickets given out
  uint64_t drained;  ///< the host's count when a producer last read it
};

struct Channel;

/// One block's buffer while it runs. In local memory.
struct BlockBuffer {
  Channel* channel;
  uint64_t block;
  uint32_t index;     ///< among the channel's buffers
  uint32_t occupants; ///< threads of the block that have not left; 0: free
};

/// The producers' view of a traced launch. All zero: tracing is off. The host makes it
/// (runtime/host/channel_memory.h).
struct Channel {
  uint64_t first_block, blocks; ///< the snapshot, linear block ids
  uint32_t buffers;             ///< the maximum number of resident blocks
  uint32_t warps;               ///< rings per buffer
  uint32_t capacity;            ///< slots per ring
  uint32_t first_choices;       ///< blocks begin to search for a buffer at their id modulo this
  uint32_t grid[3], block[3];   ///< the launch's shape, x first
  // In local memory:
  BlockBuffer* block_buffers; ///< [buffers]
  Ring* rings;                ///< [buffers][warps]
  uint32_t* stopped;          ///< non-zero once a producer has seen the host's stop word
  uint64_t* launch; ///< the writer's id (%gridid of PTX), 0 before the first; unused on the CPU back end
  uint32_t* buffer_of_block;    ///< [blocks] see gpu_probe.h; unused on the CPU back end
  const TextureTable* textures; ///< unused on the CPU back end
  // In shared memory:
  uint32_t* stop;            ///< set by the host: producers wait no more
  uint32_t* entered;         ///< [buffers] set by producers: non-zero once a block has taken the buffer
  uint64_t* drained;         ///< [buffers][warps] set by the host: lines taken out of the ring
  uint32_t* unknown_texture; ///< set by producers: non-zero once a texture missing from the table was used;
                             ///< unused on the CPU back end
  Slot* slots;               ///< [buffers][warps][capacity]
};

/// Returns whether the host has set the stop word. Caches the answer in local memory.
WARPLENS_BOTH_SIDES bool stopped(const Channel* channel) {
  if (scoped::load_relaxed(channel->stopped))
    return true;
  if (!scoped::load_relaxed(channel->stop))
    return false;
  scoped::store_release(channel->stopped, uint32_t{1});
  return true;
}

/// Takes a free buffer for the block, waiting for one; returns null if the block is outside the snapshot or
/// tracing has stopped. `threads` is at least 1.
WARPLENS_BOTH_SIDES BlockBuffer* enter(Channel* channel, uint64_t block, uint32_t threads) {
  if (block - channel->first_block >= channel->blocks)
    return nullptr;
  const uint32_t first = static_cast<uint32_t>((block - channel->first_block) % channel->first_choices);
  while (!stopped(channel)) {
    for (uint32_t step = 0; step < channel->buffers; ++step) {
      const uint32_t index = (first + step) % channel->buffers;
      BlockBuffer* buffer = &channel->block_buffers[index];
      uint32_t free = 0;
      if (scoped::load_relaxed(&buffer->occupants) != 0 ||
          !scoped::compare_exchange(&buffer->occupants, free, threads))
        continue;
      buffer->channel = channel;
      buffer->block = block;
      buffer->index = index;
      scoped::store_release(&channel->entered[index], uint32_t{1});
      return buffer;
    }
    scoped::relax();
  }
  return nullptr;
}

/// Returns whether push() would have to wait for the host. For a warp's only producer.
WARPLENS_BOTH_SIDES bool is_full(BlockBuffer* buffer, uint32_t warp) {
  const Channel* channel = buffer->channel;
  const uint64_t index = uint64_t{buffer->index} * channel->warps + warp;
  Ring* own = &channel->rings[index];
  const uint64_t ticket = scoped::load_relaxed(&own->reserved);
  if (ticket - scoped::load_relaxed(&own->drained) < channel->capacity)
    return false;
  const uint64_t drained = scoped::load_acquire(&channel->drained[index]);
  scoped::store_release(&own->drained, drained);
  return ticket - drained >= channel->capacity && !stopped(channel);
}

/// A slot to fill and the ticket to commit it with.
struct Reservation {
  Slot* slot; ///< null: tracing has stopped
  uint64_t ticket;
};

/// Reserves the next slot of the warp's ring, waiting while the ring is full.
WARPLENS_BOTH_SIDES Reservation reserve(BlockBuffer* buffer, uint32_t warp) {
  const Channel* channel = buffer->channel;
  if (scoped::load_relaxed(channel->stopped))
    return {nullptr, 0};
  const uint64_t index = uint64_t{buffer->index} * channel->warps + warp;
  Ring* own = &channel->rings[index];
  const uint64_t ticket = scoped::fetch_add_relaxed(&own->reserved, uint64_t{1});
  // Acquiring a value that another fragment released orders this write after the host's read of the slot,
  // just as reading the host's count does.
  if (ticket - scoped::load_acquire(&own->drained) >= channel->capacity) {
    uint64_t drained;
    while (ticket - (drained = scoped::load_acquire(&channel->drained[index])) >= channel->capacity) {
      if (stopped(channel))
        return {nullptr, 0};
      scoped::relax();
    }
    scoped::store_release(&own->drained, drained);
  }
  return {&channel->slots[index * channel->capacity + ticket % channel->capacity], ticket};
}

/// Passes the filled slot to the host.
WARPLENS_BOTH_SIDES void commit(const Reservation& reservation) {
  scoped::store_release(&reservation.slot->committed, reservation.ticket + 1);
}

/// Appends to the warp's ring, waiting while it is full; drops the line once tracing has stopped. `warp` is
/// the index within the block.
WARPLENS_BOTH_SIDES void push(BlockBuffer* buffer, uint32_t warp, const Line& line) {
  const Reservation reservation = reserve(buffer, warp);
  if (!reservation.slot)
    return;
  reservation.slot->block = buffer->block;
  reservation.slot->line = line;
  commit(reservation);
}

/// Counts `threads` of the block's threads as having left; the last one frees the buffer.
WARPLENS_BOTH_SIDES void leave(BlockBuffer* buffer, uint32_t threads) {
  scoped::fetch_sub(&buffer->occupants, threads);
}

} // namespace ring
} // namespace warplens
