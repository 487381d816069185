// Layouts of jemalloc.

#ifndef LEAKTRACE_JEMALLOC_LAYOUT_H
#define LEAKTRACE_JEMALLOC_LAYOUT_H

#include <stdint.h>

/// Offsets, bits and sizes of jemalloc 5.3 on x86-64 with pages of 4 KiB and addresses of 48 bits
/// (include/jemalloc/internal/rtree.h, edata.h, cache_bin.h, sc.h); seen with 5.3.0. 5.0 to 5.2 are laid out otherwise.
enum {
  // rtree_t: a root of 2^18 words, each 0 or the address of a leaf of 2^18 words, one a page
  JEMALLOC_TREE_BITS = 18,
  JEMALLOC_TREE_WORDS = 1 << JEMALLOC_TREE_BITS,
  JEMALLOC_TREE_BYTES = JEMALLOC_TREE_WORDS * 8,
  JEMALLOC_PAGE_SHIFT = 12,

  // a word of a leaf: the size class, the address of the extent's edata_t, its state, and whether it is a slab
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

/// Bytes of blocks of a size class.
static inline uint64_t lt_jemalloc_class_bytes(unsigned index) {
  if (index == 0) return 8;
  unsigned group = (index - 1) >> 2, step = (index - 1) & 3;
  uint64_t base = group ? 32ull << group : 0;
  return base + ((uint64_t)(step + 1) << ((group ? group : 1) + 3));
}

#endif
