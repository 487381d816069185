// A set of the live blocks, which hooks keep in a process whose allocator's books cannot be read. Lock-free.
//
// Two bits for every 8 bytes of memory that ever had a block: whether a block begins there, and whether one ends.

#ifndef LEAKTRACE_KEPT_BLOCKS_H
#define LEAKTRACE_KEPT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

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
