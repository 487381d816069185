// Finds the freed blocks in tcmalloc's transfer caches and thread caches.

#ifndef LEAKTRACE_TCMALLOC_FREE_LISTS_H
#define LEAKTRACE_TCMALLOC_FREE_LISTS_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/tcmalloc_state.h"

/// Returns a block's address and its size class as one number. These numbers sort by address.
static inline uint64_t lt_tcmalloc_cached(uint64_t address, unsigned sizeClass) { return address << 8 | sizeClass; }

struct lt_tcmalloc_free_lists {
  uint64_t caches;          ///< number of threads' caches
  uint64_t brokenLists;     ///< lists without an end, or with a link that is not an address
  uint64_t unexpectedCount; ///< lists that do not have the recorded length, because a thread was changing them
};

/// Appends each cached block to `cached`, as the number that lt_tcmalloc_cached returns. Returns false if there is no
/// memory.
///
/// - Complexity: linear in the cached blocks.
bool lt_tcmalloc_read_free_lists(const struct lt_tcmalloc_state *state, const struct lt_allocator_memory *metadata,
                                 struct lt_growing_list *cached, struct lt_tcmalloc_free_lists *lists);

#endif
