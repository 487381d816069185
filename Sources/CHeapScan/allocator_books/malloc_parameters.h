// The parameters of glibc's allocator, as a program or its environment has set them.

#ifndef LEAKTRACE_MALLOC_PARAMETERS_H
#define LEAKTRACE_MALLOC_PARAMETERS_H

#include "allocator_books/word_window.h"

/// The variable `mp_` of glibc (malloc/malloc.c, malloc_par). It has three layouts: up to 2.34, 2.35 to 2.42, and 2.43.
struct lt_malloc_parameters {
  uint64_t address;
  uint64_t trimThreshold;         ///< bytes of a top that is given back to the kernel
  uint64_t arenaMax;              ///< arenas that the environment or the program allows; 0 for glibc's own limit
  uint64_t mapped, mappedBytes;   ///< blocks that are mappings of their own
  uint64_t breakStart;            ///< where the main arena begins; 0 if it has no memory of the break
  uint64_t cacheBins, cacheLimit; ///< of threads' caches: bins of one size each, and blocks a bin has at most
};

/// Finds the parameters of the libc that has a main arena, by their shape, in the arena's region. The layout of the
/// process's release comes before the others. False if there are none of a known layout. Linear in the region's
/// initialised data.
bool lt_glibc_find_parameters(const struct lt_books_memory *books, uint64_t mainArena,
                              struct lt_malloc_parameters *parameters);

#endif
