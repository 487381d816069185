// Finds the root of jemalloc's tree of extents.

#ifndef LEAKTRACE_JEMALLOC_ROOT_H
#define LEAKTRACE_JEMALLOC_ROOT_H

#include "allocator_metadata/jemalloc_tree.h"

/// Finds the root in the images' data, by the records that its leaves refer to, and sets the tree's layout. Returns
/// the root's address; 0 if there is none.
uint64_t lt_jemalloc_root_find(struct lt_jemalloc_tree *tree);

#endif
