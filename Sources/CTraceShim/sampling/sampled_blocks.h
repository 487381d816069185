// The sampled blocks that are live, by address, and a byte for each group of addresses that tells nearly all other
// blocks from them. Bounded; lock-free.

#ifndef LEAKTRACE_SAMPLED_BLOCKS_H
#define LEAKTRACE_SAMPLED_BLOCKS_H

#include "arch/arch.h"
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/// Addresses 4 MiB apart share a byte; those of 1 KiB are in one line of the cache.
enum { LT_SAMPLED_MARK_COUNT = 1 << 18 };
/// A byte for each group of addresses: how many of them have to be looked for when they are freed; 255: so many that it
/// stays. Until lt_sampled_marks_use all addresses share one byte, which has every free looked at.
struct lt_sampled_marks {
  _Atomic uint8_t *counts; ///< `mask` + 1 bytes at least, whichever of the two is read first
  uintptr_t mask;          ///< 0 or LT_SAMPLED_MARK_COUNT − 1
};
extern struct lt_sampled_marks lt_sampled_marks __attribute__((visibility("hidden")));

/// Tells whether a block may be one that a free has to be told of. False of nearly all others.
static LT_ALWAYS_INLINE bool lt_is_marked(const void *block) {
  uintptr_t index = (uintptr_t)block >> 4 & lt_sampled_marks.mask;
  return !lt_is_zero_byte(&lt_sampled_marks.counts[index]);
}

struct lt_sampled_block {
  uint64_t size;      ///< bytes asked for
  uint64_t time;      ///< of the trace's clock
  uint32_t site;      ///< below LT_SAMPLED_SITE_LIMIT
  uint32_t isCertain; ///< it was one of the first, all of which are sampled
};

/// Maps the memory, which a child made by fork has a copy of. False without any.
bool lt_sampled_blocks_begin(void);
/// Has every free looked at until lt_sampled_marks_release. Before lt_sampled_marks_use.
void lt_sampled_marks_hold(void);
/// Lets frees pass that need no look. Other threads may be freeing.
void lt_sampled_marks_release(void);
/// Lets frees pass that need no look, from now on; if all are held, once they are released.
void lt_sampled_marks_use(void);
/// Has the free of a block looked at, though it is not sampled.
void lt_sampled_marks_add(uintptr_t address);

/// Adds a block that was just allocated. False if there is no room. No sampled block may be at the address: the caller
/// removes an older one first, whose free was not seen.
bool lt_sampled_blocks_add(uintptr_t address, const struct lt_sampled_block *block);
/// Takes a block out that is about to be freed. False if it is not in.
bool lt_sampled_blocks_remove(uintptr_t address, struct lt_sampled_block *block);
/// False if there is no such block. Exact while nobody adds or removes.
bool lt_sampled_blocks_find(uintptr_t address, struct lt_sampled_block *block);

#endif
