// Two sets of live blocks: the sampled ones, and all blocks where the allocator has no readable metadata.

#ifndef LEAKTRACE_LIVE_BLOCKS_H
#define LEAKTRACE_LIVE_BLOCKS_H

#include "arch/arch.h"
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- sampled blocks --------------------------------------------------------------------------------------------------

// The live sampled blocks, by address, and a byte for each group of addresses that rules out nearly all other blocks.
// Bounded; lock-free.

/// Addresses 4 MiB apart share a byte; the bytes of 1 KiB of addresses are in one cache line.
enum { LT_SAMPLED_MARK_COUNT = 1 << 18 };
/// A byte for each group of addresses: the number of blocks whose free must be checked; at 255 the number stays. Until
/// lt_sampled_marks_use all addresses share one byte that makes every free be checked.
struct lt_sampled_marks {
  _Atomic uint8_t *counts; ///< `mask` + 1 bytes at least, whichever of the two is read first
  uintptr_t mask;          ///< 0 or LT_SAMPLED_MARK_COUNT − 1
};
extern struct lt_sampled_marks lt_sampled_marks __attribute__((visibility("hidden")));

/// True if the free of the block must be checked, as for every sampled block. False for nearly all others.
static LT_ALWAYS_INLINE bool lt_is_marked(const void *block) {
  uintptr_t index = (uintptr_t)block >> 4 & lt_sampled_marks.mask;
  return !lt_is_zero_byte(&lt_sampled_marks.counts[index]);
}

struct lt_sampled_block {
  uint64_t size;      ///< bytes asked for
  uint64_t time;      ///< of the trace's clock
  uint32_t site;      ///< below LT_SAMPLED_SITE_LIMIT
  uint32_t isCertain; ///< it was one of the first allocations, which are all sampled
};

/// Maps the memory, which a child made by fork inherits as a copy. False without memory.
bool lt_sampled_blocks_begin(void);
/// Makes every free be checked until lt_sampled_marks_release. Called before lt_sampled_marks_use.
void lt_sampled_marks_hold(void);
/// Lets frees of unmarked blocks pass unchecked. Other threads may be freeing.
void lt_sampled_marks_release(void);
/// Lets frees of unmarked blocks pass unchecked from now on; if all are held, once they are released.
void lt_sampled_marks_use(void);
/// Makes the free of a block be checked, though it is not sampled.
void lt_sampled_marks_add(uintptr_t address);

/// Adds a block that was just allocated. False if there is no room. No sampled block may be at the address: if an older
/// one is, its free was not seen, and the caller removes it first.
bool lt_sampled_blocks_add(uintptr_t address, const struct lt_sampled_block *block);
/// Removes a block that is about to be freed. False if it is not in the table.
bool lt_sampled_blocks_remove(uintptr_t address, struct lt_sampled_block *block);
/// Finds a block. False if there is none. Exact while no thread adds or removes.
bool lt_sampled_blocks_find(uintptr_t address, struct lt_sampled_block *block);

// --- all blocks ------------------------------------------------------------------------------------------------------

// A set of the live blocks, which hooks keep in a process whose allocator's books cannot be read. Lock-free.
//
// Two bits for every 8 bytes of memory that ever had a block: whether a block begins there, and whether one ends.

/// The set is kept: no allocation and no free passes. Set once, before other threads may allocate.
extern bool lt_keeps_blocks __attribute__((visibility("hidden")));

/// Begins to keep the set. False without memory.
bool lt_kept_blocks_begin(void);
/// Adds a block of `size` bytes that was just allocated.
void lt_kept_blocks_add(uintptr_t address, uint64_t size);
/// The size of a block in the set, as lt_kept_blocks_remove returns it.
uint64_t lt_kept_blocks_size(uintptr_t address);
/// Removes a block that is about to be freed. Returns its size, a multiple of 8 if it is small; 0 if it is not in the
/// set.
uint64_t lt_kept_blocks_remove(uintptr_t address);

/// Calls `block` for all blocks, in order of address. For a copy of the process, where no thread adds or removes.
/// Linear in the memory that ever had a block. False if some blocks are missing for lack of memory.
bool lt_kept_blocks_walk(void (*block)(void *context, uint64_t address, uint64_t size), void *context);

#endif
