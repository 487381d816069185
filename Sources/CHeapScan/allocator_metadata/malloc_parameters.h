// Finds the parameters of glibc's allocator, which the program or its environment may set.

#ifndef LEAKTRACE_MALLOC_PARAMETERS_H
#define LEAKTRACE_MALLOC_PARAMETERS_H

#include "allocator_metadata/word_window.h"

/// The variable `mp_` of glibc (malloc/malloc.c, malloc_par). It has three layouts: up to 2.34, 2.35 to 2.42, and 2.43.
struct lt_malloc_parameters {
  uint64_t address;
  uint64_t trimThreshold;         ///< a top with at least this many bytes is returned to the kernel
  uint64_t arenaMax;              ///< the most arenas that the environment or the program allows; 0: glibc's own limit
  uint64_t mapped, mappedBytes;   ///< blocks with a separate mapping
  uint64_t breakStart;            ///< where the main arena begins in the program break; 0 if it has no memory there
  uint64_t cacheBins, cacheLimit; ///< of threads' caches: the bins of one size each, and the most blocks of a bin
};

/// Finds the parameters of the libc that owns a main arena. Searches the data near the arena for plausible values.
/// Tries the layout of the process's glibc release first, then the other layouts. Returns false if nothing fits a known
/// layout. Linear in the region's initialised data.
bool lt_glibc_find_parameters(const struct lt_allocator_memory *metadata, uint64_t mainArena,
                              struct lt_malloc_parameters *parameters);

#endif
