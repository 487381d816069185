// Layouts of glibc's allocator, for C and Swift.

#ifndef LEAKTRACE_GLIBC_LAYOUT_H
#define LEAKTRACE_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Offsets and sizes in bytes of glibc 2.31 to 2.43 on 64-bit machines (malloc/malloc.c, malloc/arena.c).
enum {
  // malloc_state, relative to its bins
  GLIBC_BIN_PAIRS = 127, ///< pairs of words: a bin's first and last chunk
  GLIBC_TOP_BEFORE_BINS = 0x10,
  GLIBC_NEXT_BEHIND_BINS = 0x800,
  GLIBC_SYSTEM_MEMORY_BEHIND_BINS = 0x818,
  GLIBC_ARENA_BEHIND_BINS = 0x828, ///< the end of the arena
  GLIBC_FASTBINS = 0x10,           ///< relative to the start of malloc_state
  GLIBC_NONCONTIGUOUS = 2, ///< flag in the upper half of the first word: some memory is not from the program break

  // heap_info, before the chunks of each heap of an arena that is not a main arena
  GLIBC_HEAP_ARENA = 0,
  GLIBC_PREVIOUS_HEAP = 8,
  GLIBC_HEAP_SIZE = 16,
  GLIBC_HEAP_INFO = 0x30,     ///< the size since 2.35
  GLIBC_MIN_HEAP_INFO = 0x20, ///< the size up to 2.34
  GLIBC_MAX_HEAP_INFO = 0x100,
  GLIBC_HEAP_LIMIT = 64 << 20, ///< most bytes of a heap; each heap begins at a multiple of this

  // a chunk: the size of the previous chunk, its own size with flags, then the program's memory
  GLIBC_CHUNK_SIZE = 8,
  GLIBC_CHUNK_MEMORY = 16,
  GLIBC_ALIGNMENT = 16,
  GLIBC_MIN_CHUNK = 32,
  GLIBC_CHUNK_FLAGS = 7,
  GLIBC_PREVIOUS_IN_USE = 1,
  GLIBC_IS_MAPPED = 2,
  GLIBC_IS_HUGE_MAPPED = 1, ///< flag in the first word of a mapped chunk, since 2.43: the mapping has huge pages
  GLIBC_NOT_MAIN_ARENA = 4,
  GLIBC_MAPPED_LIMIT = 65536, ///< usual limit of the blocks with a mapping of their own (M_MMAP_MAX)
  GLIBC_FENCEPOST = 16,       ///< size of a dummy chunk: two of them end a piece of a heap that does not continue

  // a thread's cache: for each bin, a number of 16 bits and the address of the first entry
  GLIBC_SMALL_CACHE_BINS = 64, ///< the bins that hold chunks of one size each
  GLIBC_MAX_CACHE_BINS = 76,
  GLIBC_CACHE_KEY = 8,               ///< offset in a cached block, after the address of the next block
  GLIBC_MAX_CACHED_CHUNK = 1 << 22,  ///< bytes
  GLIBC_FIRST_WITH_LATE_CACHES = 43, ///< in 2.43 and later, a thread has no cache before its first free
  /// Since 2.43, glibc clears the key of a block that leaves a cache, even if its thread ends. Before, a block from the
  /// cache of an exited thread may be allocated again and keep its key.
  GLIBC_FIRST_WITH_CLEARED_KEYS = 43,
  GLIBC_LAST_KNOWN = 43, ///< the newest release whose layouts were compared with these
};

/// A layout of malloc_state, and of the mapped chunks of the same releases.
struct lt_glibc_arena_layout {
  uint16_t bins;          ///< offset of the bins
  uint16_t fastbins;      ///< number of fast bins
  uint16_t mappedTrailer; ///< bytes between the end of a mapped chunk and the end of its mapping
  uint16_t mappedLost;    ///< bytes of a mapped chunk that the program may not use
};
enum { GLIBC_ARENA_LAYOUTS = 2 };
/// The first layout is for 2.31 to 2.42, the second for 2.43, which has no fast bins.
static const struct lt_glibc_arena_layout lt_glibc_arena_layouts[GLIBC_ARENA_LAYOUTS] = {{0x70, 10, 0, 16},
                                                                                         {0x18, 0, 16, 8}};

/// A layout of a thread's cache. Each cache is a chunk.
struct lt_glibc_cache_layout {
  uint16_t bins;
  uint16_t chunk;    ///< least bytes of the chunk
  uint16_t maxChunk; ///< most bytes of the chunk: it includes a remainder that is too small for another chunk
  bool hasSlots;     ///< the numbers count the free slots of a bin; otherwise they count its blocks
};
enum { GLIBC_CACHE_LAYOUTS = 2 };
/// The first layout is for 2.31 to 2.41, the second for 2.42 and 2.43. 2.43 may round the size of a cache up twice.
static const struct lt_glibc_cache_layout lt_glibc_cache_layouts[GLIBC_CACHE_LAYOUTS] = {{64, 0x290, 0x2A0, false},
                                                                                         {76, 0x300, 0x320, true}};

/// Returns the layout of a cache whose chunk has `chunkBytes` bytes; NULL if no cache has this size.
static inline const struct lt_glibc_cache_layout *lt_glibc_cache_layout(uint64_t chunkBytes) {
  for (unsigned i = 0; i < GLIBC_CACHE_LAYOUTS; i++)
    if (chunkBytes >= lt_glibc_cache_layouts[i].chunk && chunkBytes <= lt_glibc_cache_layouts[i].maxChunk)
      return &lt_glibc_cache_layouts[i];
  return NULL;
}

/// Returns the most bytes of the chunk of a thread's cache, in 2.31 to 2.41. The first chunk of an arena is the cache
/// of the thread that made the arena.
static inline uint64_t lt_glibc_first_cache_bytes(void) { return lt_glibc_cache_layouts[0].maxChunk; }

/// Returns the bytes before the first chunk of an arena that is not a main arena, in 2.35 to 2.42. They hold heap_info
/// and malloc_state.
static inline uint64_t lt_glibc_arena_state_bytes(void) {
  uint64_t end = GLIBC_HEAP_INFO + (uint64_t)lt_glibc_arena_layouts[0].bins + GLIBC_ARENA_BEHIND_BINS;
  return (end + GLIBC_ALIGNMENT - 1) / GLIBC_ALIGNMENT * GLIBC_ALIGNMENT;
}

/// The sizes of the chunks in a bin of a thread's cache. A bin has one size, or all sizes from one power of two up to
/// the next.
struct lt_chunk_sizes {
  uint64_t least, most;
};
static inline struct lt_chunk_sizes lt_glibc_cache_sizes(uint64_t bin) {
  if (bin < GLIBC_SMALL_CACHE_BINS)
    return (struct lt_chunk_sizes){GLIBC_MIN_CHUNK + 16 * bin, GLIBC_MIN_CHUNK + 16 * bin};
  uint64_t power = 1024ull << (bin - GLIBC_SMALL_CACHE_BINS);
  return (struct lt_chunk_sizes){power, 2 * power - 16};
}

/// Returns the bytes of each chunk in a fast bin.
static inline uint64_t lt_glibc_bin_chunk(uint64_t bin) { return GLIBC_MIN_CHUNK + 16 * bin; }

#endif
