// jemalloc's tree of extents.

#ifndef LEAKTRACE_JEMALLOC_TREE_H
#define LEAKTRACE_JEMALLOC_TREE_H

#include "allocator_books/jemalloc_layout.h"
#include "allocator_books/word_window.h"

/// A range of pages that jemalloc has, as its edata_t says.
struct lt_jemalloc_extent {
  uint64_t address; ///< of its first block; behind the first page's beginning where blocks are spread over cache lines
  uint64_t bytes;
  unsigned state;
  unsigned sizeClass;
  uint64_t blockBytes; ///< bytes of each block that a program may use, if the extent is active
  bool isSlab;
  uint64_t freeRegions[8]; ///< of a slab
};

struct lt_jemalloc_tree {
  const struct lt_books_memory *books;
  const struct lt_jemalloc_tree_layout *layout; ///< set by lt_jemalloc_tree_find, or by the caller before a walk
  struct lt_word_window root, candidate, node, leaf, extents;
  uint64_t wordsLeft; ///< of leaves, that are still looked at: damaged roots may lead anywhere
};

/// False without memory; lt_jemalloc_tree_free is to be called in any case.
bool lt_jemalloc_tree_init(struct lt_jemalloc_tree *tree, const struct lt_books_memory *books);
void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree);

/// The address of a root, found in images' data by what its leaves lead to; 0 if there is none.
uint64_t lt_jemalloc_tree_find(struct lt_jemalloc_tree *tree);

/// Hands over all extents, in order of address. Returns how many were left out since their records contradict each
/// other: a thread is about to change them, or they are damaged.
uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context);

#endif
