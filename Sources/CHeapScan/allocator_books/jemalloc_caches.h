// What jemalloc's threads keep of what was freed.

#ifndef LEAKTRACE_JEMALLOC_CACHES_H
#define LEAKTRACE_JEMALLOC_CACHES_H

#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

/// Finds threads' caches among their variables, by the stacks of their bins, which stand side by side. Appends the
/// addresses of blocks in them to `kept`, and the stacks of each cache, as struct lt_address_range, to `stacks`.
/// Returns how many caches there are. Linear in the threads' variables and the blocks.
uint64_t lt_jemalloc_find_caches(const struct lt_books_memory *books, struct lt_growing_list *kept,
                                 struct lt_growing_list *stacks);

#endif
