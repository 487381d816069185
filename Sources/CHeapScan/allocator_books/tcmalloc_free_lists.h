// Freed blocks in tcmalloc's transfer caches and thread caches.

#ifndef LEAKTRACE_TCMALLOC_FREE_LISTS_H
#define LEAKTRACE_TCMALLOC_FREE_LISTS_H

#include "allocator_books/growing_list.h"
#include "allocator_books/tcmalloc_state.h"

/// A block and its size class in one number. Numbers are in order of address.
static inline uint64_t lt_tcmalloc_cached(uint64_t address, unsigned sizeClass) { return address << 8 | sizeClass; }

struct lt_tcmalloc_free_lists {
  uint64_t caches;          ///< of threads
  uint64_t brokenLists;     ///< lists with a link that is no address, or without an end
  uint64_t unexpectedCount; ///< lists whose length is not the recorded one: a thread was about to change it
};

/// Appends each cached block to `cached`, as lt_tcmalloc_cached has it. False without memory.
///
/// - Complexity: linear in the cached blocks.
bool lt_tcmalloc_read_free_lists(const struct lt_tcmalloc_state *state, const struct lt_books_memory *books,
                                 struct lt_growing_list *cached, struct lt_tcmalloc_free_lists *lists);

#endif
