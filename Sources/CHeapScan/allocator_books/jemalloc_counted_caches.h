// Caches of jemalloc 5.1 and 5.2, whose bins count their blocks.

#ifndef LEAKTRACE_JEMALLOC_COUNTED_CACHES_H
#define LEAKTRACE_JEMALLOC_COUNTED_CACHES_H

#include "allocator_books/growing_list.h"
#include "allocator_books/jemalloc_tree.h"

/// Collects caches, first by the threads' variables, then by the rings that link the caches of each arena.
struct lt_jemalloc_counted_caches {
  struct lt_jemalloc_tree *tree;
  uint64_t root;
  struct lt_growing_list threads, others; ///< addresses of bins: of threads' caches, and of further ones in the rings
};

/// - `tree`: has its layout, and outlives `caches`.
void lt_jemalloc_counted_caches_init(struct lt_jemalloc_counted_caches *caches, struct lt_jemalloc_tree *tree,
                                     uint64_t root);
void lt_jemalloc_counted_caches_free(struct lt_jemalloc_counted_caches *caches);

/// Adds the cache whose bins begin at an address. False if no cache in use does.
bool lt_jemalloc_counted_cache_add(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                   uint64_t bins);

/// Appends the blocks in all caches to `kept`, and the block that has each cache's stacks, as struct lt_address_range,
/// to `stacks`. Finds caches that belong to no thread. Returns the number of caches.
///
/// - `window`, `stack`: move to caches and their stacks.
/// - Complexity: linear in the caches and the blocks, if the rings are sound.
uint64_t lt_jemalloc_counted_caches_keep(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                         struct lt_word_window *stack, struct lt_growing_list *kept,
                                         struct lt_growing_list *stacks);

#endif
