// Reads the list of tcmalloc's thread caches.

#ifndef LEAKTRACE_TCMALLOC_THREADS_H
#define LEAKTRACE_TCMALLOC_THREADS_H

#include "allocator_metadata/tcmalloc_layout.h"
#include "allocator_metadata/word_window.h"

/// A list of ThreadCache.
struct lt_tcmalloc_cache_list {
  uint64_t first;
  uint64_t links; ///< offset of next_ in a cache; prev_ is in the word after it
};

/// True if the memory at an address is a ThreadCache with these size classes.
bool lt_tcmalloc_is_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes, uint64_t cache);

/// Reads the links of a cache. Returns false if they cannot be read.
bool lt_tcmalloc_read_links(struct lt_word_window *window, uint64_t cache, uint64_t links, uint64_t *next,
                            uint64_t *previous);

/// Visits each cache of a list once. Stops at a cache that does not refer back to the previous cache.
///
/// - `visit`: may be NULL.
/// - `isWhole`: set to true if the list ends with a null pointer, otherwise to false.
/// - Returns: the number of caches.
uint64_t lt_tcmalloc_each_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes,
                                const struct lt_tcmalloc_cache_list *list, void (*visit)(void *context, uint64_t cache),
                                void *context, bool *isWhole);

#endif
