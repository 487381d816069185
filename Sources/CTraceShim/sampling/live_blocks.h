// Two sets of live blocks: the sampled blocks, and, if the allocator's metadata cannot be read, all blocks.

#ifndef LEAKTRACE_LIVE_BLOCKS_H
#define LEAKTRACE_LIVE_BLOCKS_H

#include "arch/arch.h"
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- sampled blocks --------------------------------------------------------------------------------------------------

// A table of the live sampled blocks by address, and the marks: a byte for each group of addresses. The marks show for
// nearly all other blocks that they are not in the table. Bounded; lock-free.

/// The number of marks. Addresses 4 MiB apart share a mark. The marks of 1 KiB of addresses are in one cache line.
enum { LT_SAMPLED_MARK_COUNT = 1 << 18 };
/// A mark counts the blocks of its group of addresses whose free must be checked. A count of 255 never changes. Until
/// lt_sampled_marks_use, all addresses share one mark, so every free is checked.
struct lt_sampled_marks {
  _Atomic uint8_t *counts; ///< at least `mask` + 1 bytes, even if a thread reads one member before a change and the
                           ///< other after it
  uintptr_t mask;          ///< 0 or LT_SAMPLED_MARK_COUNT − 1; read and written atomically
};
extern struct lt_sampled_marks lt_sampled_marks __attribute__((visibility("hidden")));

/// True if the free of the block must be checked, as for every sampled block. False for nearly all other blocks.
static LT_ALWAYS_INLINE bool lt_is_marked(const void *block) {
  // Acquire: pairs with the fence in lt_sampled_marks_use. A thread that sees the new mask sees the new table.
  uintptr_t index = (uintptr_t)block >> 4 & lt_load_first(&lt_sampled_marks.mask);
  __asm__ volatile("" ::: "memory"); // lt_load_first orders only the processor
  return !lt_is_zero_byte(&lt_sampled_marks.counts[index]);
}

struct lt_sampled_block {
  uint64_t size;      ///< bytes that the program asked for
  uint64_t time;      ///< of the allocation, by the trace's clock
  uint32_t site;      ///< below LT_SAMPLED_SITE_LIMIT
  uint32_t isCertain; ///< not 0 if it was one of the first allocations, which are all sampled
};

/// Maps the memory. A child made by fork inherits a copy of it. False if there is no memory.
bool lt_sampled_blocks_begin(void);
/// From now until lt_sampled_marks_release, every free is checked. Called before lt_sampled_marks_use.
void lt_sampled_marks_hold(void);
/// Ends lt_sampled_marks_hold: frees of unmarked blocks are no longer checked. May be called while other threads free
/// blocks.
void lt_sampled_marks_release(void);
/// Makes hooks use the marks. From now on, frees of unmarked blocks are not checked. If the marks are held, that begins
/// with their release.
void lt_sampled_marks_use(void);
/// Marks a block that is not sampled, so that its free is checked.
void lt_sampled_marks_add(uintptr_t address);

/// Adds a block that was just allocated. False if there is no room. The table must not have a block at this address. If
/// there is an older block, whose free was not seen, the caller must remove that block first.
bool lt_sampled_blocks_add(uintptr_t address, const struct lt_sampled_block *block);
/// Removes a block that is about to be freed. False if it is not in the table.
bool lt_sampled_blocks_remove(uintptr_t address, struct lt_sampled_block *block);
/// Finds a block. False if there is none. Exact while no thread adds or removes.
bool lt_sampled_blocks_find(uintptr_t address, struct lt_sampled_block *block);

// --- all blocks ------------------------------------------------------------------------------------------------------

// The set of all live blocks. Hooks maintain it if the metadata of the process's allocator cannot be read. Lock-free.
//
// The set has two bits for every 8 bytes of memory that ever had a block. One bit is set if a block begins there, and
// the other if a block ends there.

/// True if the set is maintained, so that hooks check all allocations and frees. Set once, before other threads may
/// allocate.
extern bool lt_keeps_blocks __attribute__((visibility("hidden")));

/// Begins to maintain the set. False if there is no memory.
bool lt_live_set_begin(void);
/// Adds a block of `size` bytes that was just allocated.
void lt_live_set_add(uintptr_t address, uint64_t size);
/// The size of a block in the set, as lt_live_set_remove returns it.
uint64_t lt_live_set_size(uintptr_t address);
/// Removes a block that is about to be freed. Returns its size, a multiple of 8 if it is small; 0 if it is not in the
/// set.
uint64_t lt_live_set_remove(uintptr_t address);

/// Calls `block` for all blocks, in order of address. Called in a copy of the process, where no thread adds or removes
/// blocks. Linear in the memory that ever had a block. False if some blocks are missing for lack of memory.
bool lt_live_set_walk(void (*block)(void *context, uint64_t address, uint64_t size), void *context);

#endif
