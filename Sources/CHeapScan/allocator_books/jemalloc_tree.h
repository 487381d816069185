// jemalloc's tree of extents.

#ifndef LEAKTRACE_JEMALLOC_TREE_H
#define LEAKTRACE_JEMALLOC_TREE_H

#include "allocator_books/jemalloc_extent.h"
#include "allocator_books/word_window.h"

struct lt_jemalloc_tree {
  const struct lt_books_memory *books;
  const struct lt_jemalloc_tree_layout *layout; ///< set by lt_jemalloc_root_find, or by the caller before a walk
  struct lt_word_window root, candidate, node, leaf, extents;
  uint64_t wordsLeft; ///< of leaves, that are still looked at: damaged roots may lead anywhere
};

/// False without memory. Callers must call lt_jemalloc_tree_free in any case.
bool lt_jemalloc_tree_init(struct lt_jemalloc_tree *tree, const struct lt_books_memory *books);
void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree);

/// Calls `word` with each entry of a leaf that is not 0, as one word, and its index. Returns false as soon as `word`
/// does.
bool lt_jemalloc_each_word(struct lt_jemalloc_tree *tree, uint64_t leaf,
                           bool (*word)(void *context, uint64_t index, uint64_t word), void *context);

/// Calls `table` with each word of a root or a node that is not 0, and its index. Returns false as soon as `table`
/// does.
///
/// - `window`: moves along the words. `start`, `bytes`: of the root or the node.
bool lt_jemalloc_each_table(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t start,
                            uint64_t bytes, bool (*table)(void *context, uint64_t index, uint64_t address),
                            void *context);

/// Calls `leaf` with each leaf of a root, and its index. Returns false as soon as `leaf` does, or if a word of the root
/// leads to no node.
bool lt_jemalloc_each_leaf(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t root,
                           bool (*leaf)(void *context, uint64_t index, uint64_t leaf), void *context);

/// True if memory can be a node's or a leaf's.
bool lt_jemalloc_has_room(const struct lt_jemalloc_tree *tree, uint64_t table, uint64_t bytes);

/// Hands over all extents, in order of address. Returns how many were left out since their records contradict each
/// other: a thread is about to change them, or they are damaged.
uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context);

/// Finds the block in use that has an address. False if there is none.
///
/// - `reach`: bytes between the block's beginning and the address, at most.
/// - Complexity: linear in the pages of `reach`.
bool lt_jemalloc_tree_block(struct lt_jemalloc_tree *tree, uint64_t root, uint64_t address, uint64_t reach,
                            struct lt_address_range *block);

#endif
