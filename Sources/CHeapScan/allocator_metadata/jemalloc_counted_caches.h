// Finds the caches of jemalloc 5.1 and 5.2, whose bins store the number of their blocks.

#ifndef LEAKTRACE_JEMALLOC_COUNTED_CACHES_H
#define LEAKTRACE_JEMALLOC_COUNTED_CACHES_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/jemalloc_tree.h"

/// Collects caches, first from the threads' variables, then from the rings that link the caches of each arena.
struct lt_jemalloc_counted_caches {
  struct lt_jemalloc_tree *tree;
  uint64_t root;
  /// The addresses of the bins of threads' caches, and of the bins of other caches in the rings.
  struct lt_growing_list threads, others;
};

/// - `tree`: its layout must be set, and it must outlive `caches`.
void lt_jemalloc_counted_caches_init(struct lt_jemalloc_counted_caches *caches, struct lt_jemalloc_tree *tree,
                                     uint64_t root);
void lt_jemalloc_counted_caches_free(struct lt_jemalloc_counted_caches *caches);

/// Adds the cache whose bins begin at an address. Returns false if there is no cache, or if it is not in use.
bool lt_jemalloc_counted_cache_add(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                   uint64_t bins);

/// Appends the blocks in all caches to `kept`. Appends the block that holds each cache's stacks to `stacks`, as struct
/// lt_address_range. Also finds caches that belong to no thread. Returns the number of caches.
///
/// - `window`, `stack`: are moved to the caches and to their stacks.
/// - Complexity: linear in the caches and the blocks, if the rings are intact.
uint64_t lt_jemalloc_counted_caches_keep(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                         struct lt_word_window *stack, struct lt_growing_list *kept,
                                         struct lt_growing_list *stacks);

#endif
