// Caches of jemalloc's threads, which keep freed blocks.

#ifndef LEAKTRACE_JEMALLOC_CACHES_H
#define LEAKTRACE_JEMALLOC_CACHES_H

#include "allocator_books/growing_list.h"
#include "allocator_books/jemalloc_tree.h"

/// Finds threads' caches among their variables, by the stacks of their bins, which are side by side. Before 5.3, it
/// also finds caches that a program made by mallctl. Appends the addresses of blocks in them to `kept`, and the stacks
/// of each cache, as struct lt_address_range, to `stacks`. Returns how many caches there are.
///
/// - `tree`: has its layout.
/// - Complexity: linear in the threads' variables, the caches and the blocks.
uint64_t lt_jemalloc_find_caches(struct lt_jemalloc_tree *tree, uint64_t root, struct lt_growing_list *kept,
                                 struct lt_growing_list *stacks);

#endif
