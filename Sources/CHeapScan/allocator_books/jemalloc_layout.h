// Layouts of jemalloc.

#ifndef LEAKTRACE_JEMALLOC_LAYOUT_H
#define LEAKTRACE_JEMALLOC_LAYOUT_H

#include <stdint.h>

/// Offsets, bits and sizes of jemalloc 5.3 on x86-64 with pages of 4 KiB (include/jemalloc/internal/rtree.h, edata.h,
/// cache_bin.h, sc.h); seen with 5.3.0 and 5.3.1. 5.0 to 5.2 are laid out otherwise.
enum {
  JEMALLOC_PAGE_SHIFT = 12,

  // the second word of an entry of a wide leaf
  JEMALLOC_WIDE_CLASS_SHIFT = 5,
  JEMALLOC_WIDE_LOW_BITS = 0x1F, ///< as the low bits of a narrow entry

  // an entry of a narrow leaf: the size class, the address of the extent's edata_t, its state, and whether it is a slab
  JEMALLOC_LEAF_CLASS_SHIFT = 48,
  JEMALLOC_LEAF_STATE_SHIFT = 2,
  JEMALLOC_LEAF_SLAB = 1,
  JEMALLOC_EXTENT_ALIGNMENT = 128,

  // edata_t
  JEMALLOC_EXTENT_ADDRESS = 8,
  JEMALLOC_EXTENT_SIZE = 16,   ///< the low 12 bits are a number
  JEMALLOC_EXTENT_BITMAP = 64, ///< of a slab: 8 words, a bit for each free region
  JEMALLOC_EXTENT_BYTES = 128,
  JEMALLOC_SLAB_SHIFT = 12, ///< of its bits
  JEMALLOC_STATE_SHIFT = 17,
  JEMALLOC_STATE_MASK = 7,
  JEMALLOC_CLASS_SHIFT = 20,
  JEMALLOC_CLASS_MASK = 0xFF,
  JEMALLOC_SLAB_REGIONS = 512, ///< that a slab has at most

  JEMALLOC_ACTIVE = 0,
  JEMALLOC_DIRTY = 1,
  JEMALLOC_MUZZY = 2,
  JEMALLOC_RETAINED = 3,
  JEMALLOC_STATES = 7,

  JEMALLOC_CLASSES = 232,

  // cache_bin_t: a stack that grows down; its bounds are the low 16 bits of addresses
  JEMALLOC_BIN_BYTES = 24,
  JEMALLOC_BIN_FULL = 18,
  JEMALLOC_BIN_EMPTY = 20,
};

/// A layout of rtree_t. Each entry of the root and of a node is 0 or the address of the next level's table. Leaves have
/// an entry a page.
struct lt_jemalloc_tree_layout {
  uint8_t nodeBits;  ///< log2 of a node's entries; 0 if the root leads to leaves
  uint8_t rootBits;  ///< log2 of the root's entries
  uint8_t leafBits;  ///< log2 of a leaf's entries
  uint8_t leafEntry; ///< bytes: a record's address and its figures share a word if addresses leave room for them
};
enum { JEMALLOC_TREE_LAYOUTS = 2 };
/// Addresses of 48 bits, and of 57 bits. The machine that builds jemalloc decides.
static const struct lt_jemalloc_tree_layout lt_jemalloc_tree_layouts[JEMALLOC_TREE_LAYOUTS] = {{0, 18, 18, 8},
                                                                                               {15, 15, 15, 16}};

static inline uint64_t lt_jemalloc_root_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return 8ull << layout->rootBits;
}
static inline uint64_t lt_jemalloc_node_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return 8ull << layout->nodeBits;
}
static inline uint64_t lt_jemalloc_leaf_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return (uint64_t)layout->leafEntry << layout->leafBits;
}

/// Bytes of blocks of a size class.
static inline uint64_t lt_jemalloc_class_bytes(unsigned index) {
  if (index == 0) return 8;
  unsigned group = (index - 1) >> 2, step = (index - 1) & 3;
  uint64_t base = group ? 32ull << group : 0;
  return base + ((uint64_t)(step + 1) << ((group ? group : 1) + 3));
}

#endif
