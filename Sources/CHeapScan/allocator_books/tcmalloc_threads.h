// The list of tcmalloc's thread caches.

#ifndef LEAKTRACE_TCMALLOC_THREADS_H
#define LEAKTRACE_TCMALLOC_THREADS_H

#include "allocator_books/tcmalloc_layout.h"
#include "allocator_books/word_window.h"

/// A list of ThreadCache.
struct lt_tcmalloc_cache_list {
  uint64_t first;
  uint64_t links; ///< offset of next_ in a cache; prev_ is the next word
};

/// True if memory is a ThreadCache with the size classes.
bool lt_tcmalloc_is_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes, uint64_t cache);

/// Reads the links of a cache. False if they are not known.
bool lt_tcmalloc_read_links(struct lt_word_window *window, uint64_t cache, uint64_t links, uint64_t *next,
                            uint64_t *previous);

/// Visits the caches of a list, each once. Stops at a link that the next cache does not confirm.
///
/// - `visit`: may be NULL.
/// - `isWhole`: becomes true if the list ends with a null pointer.
/// - Returns: the number of caches.
uint64_t lt_tcmalloc_each_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes,
                                const struct lt_tcmalloc_cache_list *list, void (*visit)(void *context, uint64_t cache),
                                void *context, bool *isWhole);

#endif
