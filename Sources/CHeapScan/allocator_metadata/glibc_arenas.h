// Finds the arenas of glibc's allocator.

#ifndef LEAKTRACE_GLIBC_ARENAS_H
#define LEAKTRACE_GLIBC_ARENAS_H

#include "allocator_metadata/glibc_layout.h"
#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/word_window.h"

/// An arena, and its memory. Byte counts are of whole chunks, including their headers.
struct lt_glibc_arena {
  uint64_t address; ///< of its malloc_state
  const struct lt_glibc_arena_layout *layout;
  uint64_t main;                ///< the main arena of the same libc; equal to `address` in a main arena
  uint64_t top;                 ///< the top chunk: the free memory at the arena's end; 0 before the first allocation
  uint64_t topBytes;            ///< of the top chunk
  uint64_t systemBytes;         ///< obtained from the kernel, by the arena's own count
  uint64_t inUse, inUseBytes;   ///< blocks that the program has allocated
  uint64_t free, freeBytes;     ///< chunks in bins
  uint64_t fast, fastBytes;     ///< freed blocks in fast bins
  uint64_t cached, cachedBytes; ///< freed blocks in threads' caches
  /// The part of `freeBytes` and `topBytes` that is in whole present pages. malloc_trim would return these pages to the
  /// kernel.
  uint64_t freePageBytes;
  /// The pin is the chunk right before the top: it must be freed before the arena can shrink. These are its address,
  /// its bytes and its use, such as LT_GLIBC_BLOCK. All are 0 if that chunk is free or unknown, or if there is none.
  uint64_t pin, pinBytes, pinUse;
};
_Static_assert(sizeof(struct lt_glibc_arena) <= LT_LIST_ITEM_LIMIT, "items of a list");

/// The use of a chunk that its neighbours record as in use. BLOCK: an allocated block. CACHED: a freed block in a
/// thread's cache. FAST: a freed block in a fast bin. CACHE: a thread's cache itself.
enum { LT_GLIBC_BLOCK = 1, LT_GLIBC_CACHED = 2, LT_GLIBC_FAST = 3, LT_GLIBC_CACHE = 4 };

/// The most arenas in a ring. No process has this many, since glibc makes at most eight for each processor.
enum { LT_GLIBC_ARENA_LIMIT = 1 << 16 };

/// Appends all arenas, main arenas first, to a list of struct lt_glibc_arena. Needs no symbols: in libc's initialised
/// data, a main arena is recognised by its bins. A bin's first and last chunks refer back to the bin, and an empty bin
/// refers to itself. The ring that links the arenas identifies their layout. There are several main arenas if the
/// loader has several namespaces. Returns false if some arenas may be missing. Linear in the data.
///
/// - `hasBins`: set to true if bins were found, even if no ring of arenas includes them.
bool lt_glibc_find_arenas(const struct lt_allocator_memory *metadata, struct lt_growing_list *arenas, bool *hasBins);

/// Returns the address of an arena's bins. The next function returns the address of the arena's `top` field.
static inline uint64_t lt_glibc_bins(const struct lt_glibc_arena *arena) {
  return arena->address + arena->layout->bins;
}
static inline uint64_t lt_glibc_top(const struct lt_glibc_arena *arena) {
  return lt_glibc_bins(arena) - GLIBC_TOP_BEFORE_BINS;
}

/// Returns the first heap of an arena that is not a main arena. The arena is stored after that heap's header, which
/// refers to the arena.
static inline uint64_t lt_glibc_first_heap(uint64_t arena) { return arena & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1); }

#endif
