// Layouts of glibc's allocator.

#ifndef LEAKTRACE_GLIBC_LAYOUT_H
#define LEAKTRACE_GLIBC_LAYOUT_H

#include <stdint.h>

/// Offsets and sizes in bytes of glibc 2.31 to 2.41 on 64-bit machines (malloc/malloc.c, malloc/arena.c). 2.42 has
/// other thread caches.
enum {
  // malloc_state
  GLIBC_ARENA_FLAGS = 0x4, ///< 4 bytes
  GLIBC_FASTBINS = 0x10,
  GLIBC_FASTBIN_COUNT = 10,
  GLIBC_TOP = 0x60,
  GLIBC_BINS = 0x70,
  GLIBC_BIN_PAIRS = 127, ///< pairs of words: a bin's first and last chunk
  GLIBC_NEXT_ARENA = 0x870,
  GLIBC_SYSTEM_MEMORY = 0x888,
  GLIBC_ARENA_SIZE = 0x898,
  GLIBC_NONCONTIGUOUS = 2, ///< of the flags: some memory did not come from the break

  // heap_info, before the chunks of each heap of an arena that is not the main one
  GLIBC_HEAP_ARENA = 0,
  GLIBC_PREVIOUS_HEAP = 8,
  GLIBC_HEAP_SIZE = 16,
  GLIBC_LEAST_HEAP_INFO = 0x20, ///< up to 2.34; 0x30 since
  GLIBC_MOST_HEAP_INFO = 0x100,

  // a chunk: the size of the one before, its own size with flags, then the program's memory
  GLIBC_CHUNK_SIZE = 8,
  GLIBC_CHUNK_MEMORY = 16,
  GLIBC_ALIGNMENT = 16,
  GLIBC_LEAST_CHUNK = 32,
  GLIBC_CHUNK_FLAGS = 7,
  GLIBC_PREVIOUS_IN_USE = 1,
  GLIBC_IS_MAPPED = 2,
  GLIBC_NOT_MAIN_ARENA = 4,
  GLIBC_FENCEPOST = 16, ///< a chunk that is none: two of them end a piece of a heap that does not go on

  // a thread cache: 64 counts of 16 bits, 64 first entries
  GLIBC_CACHE_BINS = 64,
  GLIBC_CACHE_CHUNK = 0x290,
  GLIBC_CACHE_KEY = 8,           ///< of a cached block, behind the next one's address
  GLIBC_FIRST_OTHER_CACHES = 42, ///< the first release, 2.42, whose caches are laid out otherwise
};

/// Chunks of a bin of thread caches, or of a fast bin.
static inline uint64_t lt_glibc_bin_chunk(uint64_t bin) { return GLIBC_LEAST_CHUNK + 16 * bin; }

#endif
