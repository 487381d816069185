// Walks jemalloc's tree of extents.

#ifndef LEAKTRACE_JEMALLOC_TREE_H
#define LEAKTRACE_JEMALLOC_TREE_H

#include "allocator_metadata/jemalloc_extent.h"
#include "allocator_metadata/word_window.h"

struct lt_jemalloc_tree {
  const struct lt_allocator_memory *metadata;
  const struct lt_jemalloc_tree_layout *layout; ///< set by lt_jemalloc_root_find, or by the caller before a walk
  struct lt_word_window root, candidate, node, leaf, extents;
  uint64_t wordsLeft; ///< words that may still be read; a damaged root may lead anywhere
};

/// Returns false if there is no memory. Call lt_jemalloc_tree_free in either case.
bool lt_jemalloc_tree_init(struct lt_jemalloc_tree *tree, const struct lt_allocator_memory *metadata);
void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree);

/// Calls `word` for each nonzero entry of a leaf, with the entry's index and the entry as one word. Stops and returns
/// false when `word` does, or when no more words may be read.
bool lt_jemalloc_each_word(struct lt_jemalloc_tree *tree, uint64_t leaf,
                           bool (*word)(void *context, uint64_t index, uint64_t word), void *context);

/// Calls `table` for each word of a root or a node that is not 0, with the word and its index. Stops and returns false
/// when `table` does, or when no more words may be read.
///
/// - `window`: moves along the words.
/// - `start`, `bytes`: the address and size of the root or the node.
bool lt_jemalloc_each_table(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t start,
                            uint64_t bytes, bool (*table)(void *context, uint64_t index, uint64_t address),
                            void *context);

/// Calls `leaf` for each leaf of a root, with its index and address. Stops and returns false when `leaf` does. Also
/// stops when a word of the root does not lead to a node, or when no more words may be read.
bool lt_jemalloc_each_leaf(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t root,
                           bool (*leaf)(void *context, uint64_t index, uint64_t leaf), void *context);

/// True if the memory at an address can be a node or a leaf of `bytes` bytes.
bool lt_jemalloc_has_room(const struct lt_jemalloc_tree *tree, uint64_t table, uint64_t bytes);

/// Calls `extent` for each extent, in order of address. Returns the number of extents that were left out because their
/// records are contradictory. A thread may be about to change them, or they may be damaged.
uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context);

/// Finds the block in use that contains an address. Returns false if there is none.
///
/// - `reach`: the most bytes from the block's start to the address.
/// - Complexity: linear in the pages of `reach`.
bool lt_jemalloc_tree_block(struct lt_jemalloc_tree *tree, uint64_t root, uint64_t address, uint64_t reach,
                            struct lt_address_range *block);

#endif
