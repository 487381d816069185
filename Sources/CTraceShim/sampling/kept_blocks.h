// The live blocks of a process whose allocator's books cannot be read: a set that hooks keep. Lock-free.
//
// Two bits for every 8 bytes of the memory that ever had a block: whether one begins there, and whether one ends.

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
/// The size of a block that is in, as lt_kept_blocks_remove returns it.
uint64_t lt_kept_blocks_size(uintptr_t address);
/// Takes a block out that is about to be freed. Returns its size, a multiple of 8 if it is small; 0 if it is not in.
uint64_t lt_kept_blocks_remove(uintptr_t address);

/// Shows all blocks, in order of address. In a copy, where nobody adds or removes. Linear in the memory that had one.
/// False if some are missing: there was no memory for them.
bool lt_kept_blocks_walk(void (*block)(void *context, uint64_t address, uint64_t size), void *context);

#endif
