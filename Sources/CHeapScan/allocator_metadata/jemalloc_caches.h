// Finds jemalloc's thread caches, which keep freed blocks.

#ifndef LEAKTRACE_JEMALLOC_CACHES_H
#define LEAKTRACE_JEMALLOC_CACHES_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/jemalloc_tree.h"

/// Finds the threads' caches in their thread-local variables. A cache has an array of bins, and the bins' stacks of
/// freed blocks are adjacent. Before jemalloc 5.3, also finds the caches that the program made with mallctl. Appends
/// the addresses of the blocks in the caches to `kept`. Appends the memory of each cache's stacks to `stacks`, as
/// struct lt_address_range. Returns the number of caches.
///
/// - `tree`: its layout must be set.
/// - `root`: the address of the tree's root.
/// - Complexity: linear in the threads' variables, the caches and the blocks.
uint64_t lt_jemalloc_find_caches(struct lt_jemalloc_tree *tree, uint64_t root, struct lt_growing_list *kept,
                                 struct lt_growing_list *stacks);

#endif
