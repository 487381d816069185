// Layouts of jemalloc.

#ifndef LEAKTRACE_JEMALLOC_LAYOUT_H
#define LEAKTRACE_JEMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/// Offsets, bits and sizes of jemalloc. The sources are include/jemalloc/internal/rtree.h, edata.h (5.3) or
/// extent_structs.h (5.1, 5.2), cache_bin.h, tcache_structs.h and sc.h. Seen with 5.1.0, 5.2.1, 5.3.0 and 5.3.1. 5.0
/// has other records.
///
/// The build of jemalloc chooses the size of its pages, whatever the kernel's size is. On x86-64 this is 4 KiB.
enum {
  // the second word of an entry of a wide leaf
  JEMALLOC_WIDE_CLASS_SHIFT = 5,
  JEMALLOC_WIDE_LOW_BITS = 0x1F, ///< the same bits as the low bits of a narrow entry

  // an entry of a narrow leaf: size class, address of the extent's edata_t, state, and slab flag
  JEMALLOC_LEAF_CLASS_SHIFT = 48,
  JEMALLOC_LEAF_STATE_SHIFT = 2,
  JEMALLOC_LEAF_SLAB = 1,

  // edata_t, and extent_t before 5.3
  JEMALLOC_EXTENT_ADDRESS = 8,
  JEMALLOC_EXTENT_SIZE = 16,   ///< the bits below the page size are a serial number
  JEMALLOC_EXTENT_BITMAP = 64, ///< of a slab: a set bit for each free region, in as many words as the regions need
  JEMALLOC_EXTENT_BYTES = 128,
  JEMALLOC_SLAB_SHIFT = 12, ///< of the slab flag in the first word
  JEMALLOC_CLASS_MASK = 0xFF,
  JEMALLOC_FREE_COUNT_MASK = 0x3FF,
  JEMALLOC_SLAB_WORDS = 128, ///< the most words of a slab's bitmap, which pages of 64 KiB need

  JEMALLOC_ACTIVE = 0,
  JEMALLOC_DIRTY = 1,
  JEMALLOC_MUZZY = 2,
  JEMALLOC_RETAINED = 3,
  JEMALLOC_CHANGING = 7, ///< not a state of jemalloc: a thread is about to free, split or return the extent

  JEMALLOC_CLASSES = 232,
  JEMALLOC_SMALL_CLASSES = 36,
  JEMALLOC_PROMOTED_BYTES = 16384, ///< size of the extent that the profiler makes for a sampled small block

  // cache_bin_t of 5.3: a stack that grows down; its bounds are the low 16 bits of addresses
  JEMALLOC_BIN_BYTES = 24,
  JEMALLOC_BIN_FULL = 18,
  JEMALLOC_BIN_EMPTY = 20,

  // cache_bin_t before 5.3: a stack that grows down, and the number of its blocks
  JEMALLOC_BIN_COUNTS = 0, ///< the lowest number of blocks since the last collection, and the current number
  JEMALLOC_BIN_PAST = 16,  ///< the address after the stack

  // tcache_t before 5.3
  JEMALLOC_CACHE_SMALL_BINS = 16,
  JEMALLOC_CACHE_ALIGNMENT = 64, ///< of the block that holds a cache's stacks
  JEMALLOC_STACK_SLOTS = 1024,   ///< the most slots of a stack: twice the regions of a slab
  JEMALLOC_ARENA_ALIGNMENT = 64,

  // cache_bin_array_descriptor_t: a ring of the caches that belong to an arena
  JEMALLOC_DESCRIPTOR_NEXT = 0,
  JEMALLOC_DESCRIPTOR_SMALL = 16, ///< the address of a cache's bins of small classes
  JEMALLOC_DESCRIPTOR_LARGE = 24, ///< the address of its bins of large classes
};

/// A layout of tcache_t before 5.3. The fields are offsets from the bins of small classes.
struct lt_jemalloc_cache_layout {
  uint16_t descriptor; ///< of the descriptor, which is all zeros if jemalloc was built without statistics
  uint16_t arena;      ///< of the arena's address, which is 0 if the cache is off and its stacks were freed
  uint16_t largeBins;  ///< of the bins of large classes; unused bins are zeros
  uint16_t end;
};
enum { JEMALLOC_CACHE_LAYOUTS = 2 };
/// The first layout is for 5.2, the second for 5.1.
static const struct lt_jemalloc_cache_layout lt_jemalloc_cache_layouts[JEMALLOC_CACHE_LAYOUTS] = {
    {904, 936, 984, 5688}, {880, 912, 960, 5664}};

/// A layout of the record that describes an extent.
struct lt_jemalloc_record_layout {
  uint8_t alignment;      ///< of the record
  uint8_t stateShift;     ///< of the state in the first word
  uint8_t stateMask;      ///< of the state after the shift
  uint8_t classShift;     ///< of the size class in the first word
  uint8_t freeCountShift; ///< of the count of free regions in the first word
  uint8_t pageShift;      ///< log2 of jemalloc's pages
  bool isBefore53;        ///< leaves have no state, large blocks have their class's size, and caches count their blocks
};
static const struct lt_jemalloc_record_layout lt_jemalloc_edata = {128, 17, 7, 20, 28, 12, false};
static const struct lt_jemalloc_record_layout lt_jemalloc_extent_t = {64, 16, 3, 18, 26, 12, true};
/// Version 5.3 with pages of 16 and 64 KiB.
static const struct lt_jemalloc_record_layout lt_jemalloc_edata_16 = {128, 17, 7, 20, 28, 14, false};
static const struct lt_jemalloc_record_layout lt_jemalloc_edata_64 = {128, 17, 7, 20, 28, 16, false};

/// Returns the bytes of jemalloc's pages.
static inline uint64_t lt_jemalloc_page(const struct lt_jemalloc_record_layout *layout) {
  return 1ull << layout->pageShift;
}
/// Returns the most regions of a slab: a slab of one page may have regions of 8 bytes.
static inline uint64_t lt_jemalloc_slab_regions(const struct lt_jemalloc_record_layout *layout) {
  return lt_jemalloc_page(layout) / 8;
}

/// A layout of rtree_t. Each entry of the root and of a node is 0 or the address of the next level's table. A leaf has
/// one entry for each page.
struct lt_jemalloc_tree_layout {
  uint8_t nodeBits;  ///< log2 of a node's entries; 0 if the root's entries are leaves
  uint8_t rootBits;  ///< log2 of the root's entries
  uint8_t leafBits;  ///< log2 of a leaf's entries
  uint8_t leafEntry; ///< bytes of a leaf's entry: 8 if a record's address leaves room for its figures, otherwise 16
  const struct lt_jemalloc_record_layout *record;
};
enum { JEMALLOC_TREE_LAYOUTS = 6, JEMALLOC_TREE_LAYOUTS_OF_X86_64 = 4 };
/// Layouts for addresses of 48 bits and of 57 bits, first for 5.3, then for earlier releases. The build of jemalloc
/// chooses the number of bits for the machine that builds it. Larger pages leave fewer bits to the tree.
/// The last two are for arm64 only.
static const struct lt_jemalloc_tree_layout lt_jemalloc_tree_layouts[JEMALLOC_TREE_LAYOUTS] = {
    {0, 18, 18, 8, &lt_jemalloc_edata},    {15, 15, 15, 16, &lt_jemalloc_edata},
    {0, 18, 18, 8, &lt_jemalloc_extent_t}, {15, 15, 15, 16, &lt_jemalloc_extent_t},
    {0, 17, 17, 8, &lt_jemalloc_edata_16}, {0, 16, 16, 8, &lt_jemalloc_edata_64},
};

static inline uint64_t lt_jemalloc_root_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return 8ull << layout->rootBits;
}
static inline uint64_t lt_jemalloc_node_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return 8ull << layout->nodeBits;
}
static inline uint64_t lt_jemalloc_leaf_bytes(const struct lt_jemalloc_tree_layout *layout) {
  return (uint64_t)layout->leafEntry << layout->leafBits;
}

/// Returns the bytes of each block of a size class.
static inline uint64_t lt_jemalloc_class_bytes(unsigned index) {
  if (index == 0) return 8;
  unsigned group = (index - 1) >> 2, step = (index - 1) & 3;
  uint64_t base = group ? 32ull << group : 0;
  return base + ((uint64_t)(step + 1) << ((group ? group : 1) + 3));
}

#endif
