// The arenas of glibc's allocator.

#ifndef LEAKTRACE_GLIBC_ARENAS_H
#define LEAKTRACE_GLIBC_ARENAS_H

#include "allocator_books/glibc_layout.h"
#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

/// An arena, and its memory. Byte counts are of chunks, with their heads.
struct lt_glibc_arena {
  uint64_t address; ///< of its malloc_state
  const struct lt_glibc_arena_layout *layout;
  uint64_t main;                ///< the main arena of the same libc; `address` itself for that one
  uint64_t top;                 ///< the chunk that is free up to the end; 0 before the first allocation
  uint64_t topBytes;            ///< of that chunk
  uint64_t systemBytes;         ///< obtained from the kernel, by the arena's own count
  uint64_t inUse, inUseBytes;   ///< blocks that were given out
  uint64_t free, freeBytes;     ///< chunks in bins
  uint64_t fast, fastBytes;     ///< freed blocks in fast bins
  uint64_t cached, cachedBytes; ///< freed blocks in threads' caches
  /// The part of `freeBytes` and `topBytes` in whole present pages, which malloc_trim returns to the kernel.
  uint64_t freePageBytes;
  /// The chunk right before the top, which must be freed before the arena can shrink: its address, bytes and
  /// LT_GLIBC_USE; 0 if the top is the only chunk, or the last chunk is not known.
  uint64_t pin, pinBytes, pinUse;
};
_Static_assert(sizeof(struct lt_glibc_arena) <= LT_LIST_ITEM_LIMIT, "items of a list");

/// Uses of a chunk that its neighbours record as in use.
enum { LT_GLIBC_BLOCK = 1, LT_GLIBC_CACHED = 2, LT_GLIBC_FAST = 3, LT_GLIBC_CACHE = 4 };

/// More than any process has; glibc makes eight for each processor.
enum { LT_GLIBC_ARENA_LIMIT = 1 << 16 };

/// Appends all arenas, main ones first, to a list of struct lt_glibc_arena. Finds main arenas without symbols, by their
/// shape in libc's initialised data: bins, whose first and last chunks refer back to them, and an empty bin refers to
/// itself. The ring of arenas identifies their layout. There are several main arenas if the loader has several
/// namespaces. False if more arenas were expected than were found. Linear in the data.
///
/// - `hasBins`: set if bins were found, even if no ring of arenas has them.
bool lt_glibc_find_arenas(const struct lt_books_memory *books, struct lt_growing_list *arenas, bool *hasBins);

/// The addresses of an arena's fields.
static inline uint64_t lt_glibc_bins(const struct lt_glibc_arena *arena) {
  return arena->address + arena->layout->bins;
}
static inline uint64_t lt_glibc_top(const struct lt_glibc_arena *arena) {
  return lt_glibc_bins(arena) - GLIBC_TOP_BEFORE_BINS;
}

/// An arena other than the main one is stored after the head of its first heap, which refers to it.
static inline uint64_t lt_glibc_first_heap(uint64_t arena) { return arena & ~(uint64_t)(LT_BOOKS_PAGE - 1); }

#endif
