// Walks jemalloc's tree of extents. A word of the root leads to a leaf, or to a node whose words lead to leaves. A word
// of a leaf leads to an extent's record.

#include "allocator_metadata/jemalloc_tree.h"

#include "check.h"

#include <string.h>

enum { WINDOW = 64 << 10 };
/// The most words that a walk reads. The leaves for a heap of 1 TiB have 2^28.
static const uint64_t WALK_LIMIT = 1ull << 30;

bool lt_jemalloc_tree_init(struct lt_jemalloc_tree *tree, const struct lt_allocator_memory *metadata) {
  memset(tree, 0, sizeof *tree);
  tree->metadata = metadata;
  return lt_word_window_init(&tree->root, metadata, WINDOW) &&
         lt_word_window_init(&tree->candidate, metadata, WINDOW) &&
         lt_word_window_init(&tree->node, metadata, WINDOW) && lt_word_window_init(&tree->leaf, metadata, WINDOW) &&
         lt_word_window_init(&tree->extents, metadata, WINDOW);
}

void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree) {
  if (!tree->metadata) return;
  lt_word_window_free(&tree->root);
  lt_word_window_free(&tree->candidate);
  lt_word_window_free(&tree->node);
  lt_word_window_free(&tree->leaf);
  lt_word_window_free(&tree->extents);
}

/// Reads an entry of a leaf, in the one-word form of narrow leaves. Returns false if the entry cannot be read.
static bool read_entry(struct lt_jemalloc_tree *tree, uint64_t at, uint64_t *word) {
  uint64_t figures;
  if (!lt_window_word(&tree->leaf, at, word)) return false;
  if (tree->layout->leafEntry == sizeof(uint64_t)) return true;
  if (!lt_window_word(&tree->leaf, at + sizeof(uint64_t), &figures)) return false;
  // An address that does not fit into the word leads to no record.
  const struct lt_jemalloc_record_layout *record = tree->layout->record;
  if (*word >> JEMALLOC_LEAF_CLASS_SHIFT || (*word & (uint64_t)(record->alignment - 1))) *word = 0;
  if (record->isBefore53) {
    // The class and a Boolean take 32 bits each. If their values are impossible, set a class that no entry has.
    uint64_t class = figures & UINT32_MAX, isSlab = figures >> 32;
    if (class > JEMALLOC_CLASSES || isSlab > JEMALLOC_LEAF_SLAB) class = JEMALLOC_CLASS_MASK;
    *word |= class << JEMALLOC_LEAF_CLASS_SHIFT | (isSlab & JEMALLOC_LEAF_SLAB);
    return true;
  }
  figures &= UINT32_MAX;
  *word |= figures >> JEMALLOC_WIDE_CLASS_SHIFT << JEMALLOC_LEAF_CLASS_SHIFT | (figures & JEMALLOC_WIDE_LOW_BITS);
  return true;
}

bool lt_jemalloc_each_word(struct lt_jemalloc_tree *tree, uint64_t leaf,
                           bool (*word)(void *context, uint64_t index, uint64_t word), void *context) {
  struct lt_address_range run = {0, leaf};
  uint64_t bytes = lt_jemalloc_leaf_bytes(tree->layout), entry = tree->layout->leafEntry;
  while (lt_allocator_memory_next_present(tree->metadata, run.end, leaf + bytes, &run)) {
    for (uint64_t at = lt_round_up(run.start, entry); at < run.end && run.end - at >= entry; at += entry) {
      uint64_t value;
      if (tree->wordsLeft == 0) return false;
      LT_CHECK(at >= leaf && at - leaf < bytes);
      tree->wordsLeft--;
      if (!read_entry(tree, at, &value)) break;
      if (value && !word(context, (at - leaf) / entry, value)) return false;
    }
  }
  return true;
}

bool lt_jemalloc_each_table(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t start,
                            uint64_t bytes, bool (*table)(void *context, uint64_t index, uint64_t address),
                            void *context) {
  struct lt_address_range run = {0, start};
  while (lt_allocator_memory_next_present(tree->metadata, run.end, start + bytes, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t address;
      if (tree->wordsLeft == 0) return false;
      tree->wordsLeft--;
      if (!lt_window_word(window, at, &address)) break;
      if (address && !table(context, (at - start) / 8, address)) return false;
    }
  }
  return true;
}

bool lt_jemalloc_has_room(const struct lt_jemalloc_tree *tree, uint64_t table, uint64_t bytes) {
  if ((table & 63) || table < LT_ALLOCATOR_PAGE || table >= LT_ALLOCATOR_ADDRESS_LIMIT - bytes) return false;
  const struct lt_snapshot_region *region = lt_allocator_memory_region(tree->metadata, table);
  return region && region->kind == LT_REGION_ANONYMOUS && (region->flags & LT_REGION_CAPTURED) &&
         region->end - table >= bytes;
}

struct leaves {
  struct lt_jemalloc_tree *tree;
  uint64_t node; ///< index of the node in the root
  bool (*leaf)(void *context, uint64_t index, uint64_t leaf);
  void *context;
};

static bool visit_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct leaves *leaves = context;
  return leaves->leaf(leaves->context, leaves->node << leaves->tree->layout->nodeBits | index, leaf);
}

static bool visit_node(void *context, uint64_t index, uint64_t node) {
  struct leaves *leaves = context;
  uint64_t bytes = lt_jemalloc_node_bytes(leaves->tree->layout);
  if (!lt_jemalloc_has_room(leaves->tree, node, bytes)) return false;
  leaves->node = index;
  return lt_jemalloc_each_table(leaves->tree, &leaves->tree->node, node, bytes, visit_leaf, leaves);
}

bool lt_jemalloc_each_leaf(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t root,
                           bool (*leaf)(void *context, uint64_t index, uint64_t leaf), void *context) {
  struct leaves leaves = {tree, 0, leaf, context};
  return lt_jemalloc_each_table(tree, window, root, lt_jemalloc_root_bytes(tree->layout),
                                tree->layout->nodeBits ? visit_node : visit_leaf, &leaves);
}

// --- extents ---------------------------------------------------------------------------------------------------------

struct walk {
  struct lt_jemalloc_tree *tree;
  uint64_t leafIndex, odd;
  uint64_t end; ///< of the last extent
  void (*extent)(void *context, const struct lt_jemalloc_extent *extent);
  void *context;
};

static bool walk_word(void *context, uint64_t index, uint64_t word) {
  struct walk *walk = context;
  struct lt_jemalloc_extent extent;
  const struct lt_jemalloc_record_layout *layout = walk->tree->layout->record;
  uint64_t page = (walk->leafIndex << walk->tree->layout->leafBits | index) << layout->pageShift;
  if (!lt_jemalloc_record_of(layout, word) || page < walk->end) return true;
  if (!lt_jemalloc_read_extent(&walk->tree->extents, layout, word, &extent)) {
    walk->odd++;
    return true;
  }
  // The words of an extent's first and last page lead to its record. In a slab, the words of all pages do so. Only the
  // first page's word is used.
  if ((extent.address & ~(lt_jemalloc_page(layout) - 1)) != page) return true;
  walk->end = page + extent.bytes;
  LT_CHECK(walk->end > page);
  walk->extent(walk->context, &extent);
  return true;
}

static bool walk_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct walk *walk = context;
  if (!lt_jemalloc_has_room(walk->tree, leaf, lt_jemalloc_leaf_bytes(walk->tree->layout))) return true;
  walk->leafIndex = index;
  lt_jemalloc_each_word(walk->tree, leaf, walk_word, walk);
  return walk->tree->wordsLeft > 0;
}

uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context) {
  struct walk walk = {.tree = tree, .extent = extent, .context = context};
  LT_CHECK(tree->layout && root);
  tree->wordsLeft = WALK_LIMIT;
  bool isWhole = lt_jemalloc_each_leaf(tree, &tree->root, root, walk_leaf, &walk);
  return walk.odd + !isWhole;
}

// --- one block -------------------------------------------------------------------------------------------------------

/// Reads the word of a page. Returns false if the tree has no leaf for the page.
static bool word_of_page(struct lt_jemalloc_tree *tree, uint64_t root, uint64_t page, uint64_t *word) {
  const struct lt_jemalloc_tree_layout *layout = tree->layout;
  uint64_t leafIndex = page >> layout->leafBits, rootIndex = leafIndex >> layout->nodeBits, table;
  if (rootIndex >> layout->rootBits || !lt_window_word(&tree->root, root + 8 * rootIndex, &table)) return false;
  if (layout->nodeBits) {
    uint64_t index = leafIndex & ((1ull << layout->nodeBits) - 1);
    if (!lt_jemalloc_has_room(tree, table, lt_jemalloc_node_bytes(layout)) ||
        !lt_window_word(&tree->node, table + 8 * index, &table))
      return false;
  }
  uint64_t index = page & ((1ull << layout->leafBits) - 1);
  return lt_jemalloc_has_room(tree, table, lt_jemalloc_leaf_bytes(layout)) &&
         read_entry(tree, table + index * layout->leafEntry, word);
}

bool lt_jemalloc_tree_block(struct lt_jemalloc_tree *tree, uint64_t root, uint64_t address, uint64_t reach,
                            struct lt_address_range *block) {
  struct lt_jemalloc_extent extent;
  const struct lt_jemalloc_record_layout *layout = tree->layout->record;
  if (address >= LT_ALLOCATOR_ADDRESS_LIMIT || reach > address) return false;
  uint64_t lowest = (address - reach) >> layout->pageShift, word = 0;
  // The inner pages of a large extent have no words.
  for (uint64_t page = address >> layout->pageShift;; page--) {
    if (word_of_page(tree, root, page, &word) && lt_jemalloc_read_extent(&tree->extents, layout, word, &extent) &&
        extent.address <= address && address - extent.address < extent.bytes)
      break;
    if (page == lowest) return false;
  }
  if (extent.state != JEMALLOC_ACTIVE) return false;
  uint64_t index = extent.isSlab ? (address - extent.address) / extent.blockBytes : 0;
  if (extent.isSlab &&
      (index >= extent.bytes / extent.blockBytes || (extent.freeRegions[index / 64] >> index % 64 & 1)))
    return false;
  block->start = extent.address + index * extent.blockBytes;
  block->end = block->start + extent.blockBytes;
  return address < block->end;
}
