// Finds jemalloc's tree of extents by its shape: a word of the root leads to a leaf, a word of the leaf to an extent's
// record, and that has the address by which both were found.

#include "allocator_books/jemalloc_tree.h"

#include "check.h"

#include <string.h>

enum {
  WINDOW = 64 << 10,
  /// Words of a leaf, none of them 0, that are looked at to tell whether it is one; and how many of them may contradict
  /// their extents: a thread may have been stopped while it wrote one.
  TRIED_WORDS = 8,
  ODD_WORDS = 1,
  /// Words of each leaf that are looked at to tell whether a root is one, and of how many one may be odd. The words of
  /// a tree agree with their extents; those of other memory do by chance alone.
  SAMPLED_WORDS = 256,
  WORDS_TO_AN_ODD_ONE = 16,
};
static const uint64_t SEARCH_LIMIT = 1ull << 28;
/// Words of leaves that are looked at, to find the root and to walk: a heap of 1 TiB has 2^28.
static const uint64_t FIND_LIMIT = 1ull << 27, WALK_LIMIT = 1ull << 30;

bool lt_jemalloc_tree_init(struct lt_jemalloc_tree *tree, const struct lt_books_memory *books) {
  memset(tree, 0, sizeof *tree);
  tree->books = books;
  return lt_word_window_init(&tree->root, books, WINDOW) && lt_word_window_init(&tree->candidate, books, WINDOW) &&
         lt_word_window_init(&tree->node, books, WINDOW) && lt_word_window_init(&tree->leaf, books, WINDOW) &&
         lt_word_window_init(&tree->extents, books, WINDOW);
}

void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree) {
  if (!tree->books) return;
  lt_word_window_free(&tree->root);
  lt_word_window_free(&tree->candidate);
  lt_word_window_free(&tree->node);
  lt_word_window_free(&tree->leaf);
  lt_word_window_free(&tree->extents);
}

static uint64_t record_of(uint64_t word) {
  return word & ((1ull << JEMALLOC_LEAF_CLASS_SHIFT) - 1) & ~(uint64_t)(JEMALLOC_EXTENT_ALIGNMENT - 1);
}

/// A word of a leaf whose page has no extent any more: no record, and a size class behind all others.
static bool is_cleared(uint64_t word) {
  return !record_of(word) && word >> JEMALLOC_LEAF_CLASS_SHIFT == JEMALLOC_CLASSES;
}

/// Reads the extent to which a word of a leaf leads; false if its record contradicts the word.
static bool read_extent(struct lt_jemalloc_tree *tree, uint64_t word, struct lt_jemalloc_extent *extent) {
  uint64_t record = record_of(word), bits, size;
  if (!record || !lt_window_word(&tree->extents, record, &bits) ||
      !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_ADDRESS, &extent->address) ||
      !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_SIZE, &size))
    return false;
  extent->bytes = size & ~(uint64_t)(LT_BOOKS_PAGE - 1);
  extent->state = (unsigned)(bits >> JEMALLOC_STATE_SHIFT & JEMALLOC_STATE_MASK);
  extent->isSlab = bits >> JEMALLOC_SLAB_SHIFT & 1;
  extent->sizeClass = (unsigned)(bits >> JEMALLOC_CLASS_SHIFT & JEMALLOC_CLASS_MASK);
  uint64_t first = extent->address & ~(uint64_t)(LT_BOOKS_PAGE - 1);
  if (extent->state != (word >> JEMALLOC_LEAF_STATE_SHIFT & JEMALLOC_STATE_MASK) || !extent->bytes || !first ||
      extent->bytes >= LT_BOOKS_ADDRESS_LIMIT || first >= LT_BOOKS_ADDRESS_LIMIT - extent->bytes)
    return false;
  if (extent->state != JEMALLOC_ACTIVE) return true;
  if (extent->isSlab != ((word & JEMALLOC_LEAF_SLAB) != 0) ||
      extent->sizeClass != (word >> JEMALLOC_LEAF_CLASS_SHIFT & JEMALLOC_CLASS_MASK) ||
      extent->sizeClass >= JEMALLOC_CLASSES)
    return false;
  uint64_t blockBytes = extent->blockBytes = lt_jemalloc_class_bytes(extent->sizeClass);
  if (!extent->isSlab) {
    if (blockBytes <= extent->bytes - (extent->address - first)) return true;
    // Since 5.3.1, a large block has the bytes that were asked for, in whole pages, and a page beside.
    extent->blockBytes = extent->bytes - LT_BOOKS_PAGE;
    return extent->sizeClass > 0 && extent->blockBytes <= blockBytes &&
           extent->blockBytes > lt_jemalloc_class_bytes(extent->sizeClass - 1);
  }
  if (blockBytes > extent->bytes || extent->bytes / blockBytes > JEMALLOC_SLAB_REGIONS || extent->address != first)
    return false;
  for (unsigned i = 0; i < 8; i++)
    if (!lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_BITMAP + 8 * i, &extent->freeRegions[i])) return false;
  return true;
}

/// Reads an entry of a leaf as one word, as narrow leaves have it. False if the entry is not known.
static bool read_entry(struct lt_jemalloc_tree *tree, uint64_t at, uint64_t *word) {
  uint64_t figures;
  if (!lt_window_word(&tree->leaf, at, word)) return false;
  if (tree->layout->leafEntry == sizeof(uint64_t)) return true;
  if (!lt_window_word(&tree->leaf, at + sizeof(uint64_t), &figures)) return false;
  // An address that does not fit leads to no record.
  if (*word >> JEMALLOC_LEAF_CLASS_SHIFT || (*word & (JEMALLOC_EXTENT_ALIGNMENT - 1))) *word = 0;
  figures &= UINT32_MAX;
  *word |= figures >> JEMALLOC_WIDE_CLASS_SHIFT << JEMALLOC_LEAF_CLASS_SHIFT | (figures & JEMALLOC_WIDE_LOW_BITS);
  return true;
}

/// Goes through a leaf's entries, as words. Returns false as soon as `word` does.
static bool each_word(struct lt_jemalloc_tree *tree, uint64_t leaf,
                      bool (*word)(void *context, uint64_t index, uint64_t word), void *context) {
  struct lt_address_range run = {0, leaf};
  uint64_t bytes = lt_jemalloc_leaf_bytes(tree->layout), entry = tree->layout->leafEntry;
  while (lt_books_next_present(tree->books, run.end, leaf + bytes, &run)) {
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

/// Goes through the words of a root or a node that are not 0. Returns false as soon as `table` does.
static bool each_table(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t start, uint64_t bytes,
                       bool (*table)(void *context, uint64_t index, uint64_t address), void *context) {
  struct lt_address_range run = {0, start};
  while (lt_books_next_present(tree->books, run.end, start + bytes, &run)) {
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

struct leaves {
  struct lt_jemalloc_tree *tree;
  uint64_t node; ///< index of the node in the root
  bool (*leaf)(void *context, uint64_t index, uint64_t leaf);
  void *context;
};

static bool has_room(struct lt_jemalloc_tree *tree, uint64_t table, uint64_t bytes);

static bool visit_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct leaves *leaves = context;
  return leaves->leaf(leaves->context, leaves->node << leaves->tree->layout->nodeBits | index, leaf);
}

static bool visit_node(void *context, uint64_t index, uint64_t node) {
  struct leaves *leaves = context;
  uint64_t bytes = lt_jemalloc_node_bytes(leaves->tree->layout);
  if (!has_room(leaves->tree, node, bytes)) return false;
  leaves->node = index;
  return each_table(leaves->tree, &leaves->tree->node, node, bytes, visit_leaf, leaves);
}

/// Goes through the leaves of a root. Returns false as soon as `leaf` does, or where a word leads to no node.
static bool each_leaf(struct lt_jemalloc_tree *tree, struct lt_word_window *window, uint64_t root,
                      bool (*leaf)(void *context, uint64_t index, uint64_t leaf), void *context) {
  struct leaves leaves = {tree, 0, leaf, context};
  return each_table(tree, window, root, lt_jemalloc_root_bytes(tree->layout),
                    tree->layout->nodeBits ? visit_node : visit_leaf, &leaves);
}

// --- the root --------------------------------------------------------------------------------------------------------

/// Tells whether a word of a leaf leads to an extent that has the word's page. Pages count from any multiple of a
/// leaf's. The word of an extent's first page agrees with its record in all; of the last one's, the rest may be old.
static bool is_of_page(struct lt_jemalloc_tree *tree, uint64_t word, uint64_t page, uint64_t *first) {
  uint64_t record = record_of(word), address, size;
  struct lt_jemalloc_extent extent;
  if (!record || !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_ADDRESS, &address) ||
      !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_SIZE, &size) || address >= LT_BOOKS_ADDRESS_LIMIT)
    return false;
  *first = address >> JEMALLOC_PAGE_SHIFT;
  uint64_t distance = (page - *first) & ((1ull << tree->layout->leafBits) - 1);
  return distance < size >> JEMALLOC_PAGE_SHIFT && (distance || read_extent(tree, word, &extent));
}

struct trial {
  struct lt_jemalloc_tree *tree;
  unsigned left, odd;
  bool isFound;
  uint64_t index; ///< of the leaf
};

static bool try_word(void *context, uint64_t index, uint64_t word) {
  struct trial *trial = context;
  uint64_t first;
  if (is_cleared(word)) return true;
  if (!is_of_page(trial->tree, word, index, &first)) {
    if (++trial->odd > ODD_WORDS) return false;
  } else if ((first & ((1ull << trial->tree->layout->leafBits) - 1)) == index) {
    trial->isFound = true;
    trial->index = first >> trial->tree->layout->leafBits;
  }
  return --trial->left > 0;
}

/// True if memory can be a node's or a leaf's.
static bool has_room(struct lt_jemalloc_tree *tree, uint64_t table, uint64_t bytes) {
  if ((table & 63) || table < LT_BOOKS_PAGE || table >= LT_BOOKS_ADDRESS_LIMIT - bytes) return false;
  const struct lt_snapshot_region *region = lt_books_region(tree->books, table);
  return region && region->kind == LT_REGION_ANONYMOUS && (region->flags & LT_REGION_CAPTURED) &&
         region->end - table >= bytes;
}

/// True if a word is the address of a leaf. Finds the leaf's index in the tree.
static bool is_leaf(struct lt_jemalloc_tree *tree, uint64_t leaf, uint64_t *index) {
  const struct lt_jemalloc_tree_layout *layout = tree->layout;
  if (!has_room(tree, leaf, lt_jemalloc_leaf_bytes(layout))) return false;
  struct trial trial = {.tree = tree, .left = TRIED_WORDS};
  each_word(tree, leaf, try_word, &trial);
  *index = trial.index;
  return trial.isFound && trial.odd <= ODD_WORDS && trial.index >> layout->nodeBits >> layout->rootBits == 0;
}

struct node_trial {
  struct lt_jemalloc_tree *tree;
  bool isFound;
  uint64_t index; ///< in the root, of the node
};

/// The first leaf of a node decides.
static bool try_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct node_trial *trial = context;
  uint64_t found, mask = (1ull << trial->tree->layout->nodeBits) - 1;
  trial->isFound = is_leaf(trial->tree, leaf, &found) && (found & mask) == index;
  trial->index = found >> trial->tree->layout->nodeBits;
  return false;
}

/// True if a word of the root may be at an address. Finds its index in the root.
static bool is_root_word(struct lt_jemalloc_tree *tree, uint64_t word, uint64_t *index) {
  if (!tree->layout->nodeBits) return is_leaf(tree, word, index);
  uint64_t bytes = lt_jemalloc_node_bytes(tree->layout);
  if (!has_room(tree, word, bytes)) return false;
  struct node_trial trial = {.tree = tree};
  each_table(tree, &tree->node, word, bytes, try_leaf, &trial);
  *index = trial.index;
  return trial.isFound;
}

struct sample {
  struct lt_jemalloc_tree *tree;
  uint64_t leafIndex;
  uint64_t looked, odd;
  unsigned left; ///< of the leaf
};

static bool sample_word(void *context, uint64_t index, uint64_t word) {
  struct sample *sample = context;
  uint64_t page = sample->leafIndex << sample->tree->layout->leafBits | index, first;
  if (is_cleared(word)) return true;
  sample->looked++;
  // A huge extent begins in an earlier leaf.
  if (!is_of_page(sample->tree, word, page, &first) || first > page) sample->odd++;
  return --sample->left > 0;
}

static bool sample_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct sample *sample = context;
  if (!has_room(sample->tree, leaf, lt_jemalloc_leaf_bytes(sample->tree->layout))) return false;
  sample->leafIndex = index;
  sample->left = SAMPLED_WORDS;
  each_word(sample->tree, leaf, sample_word, sample);
  return sample->odd <= ODD_WORDS + sample->looked / WORDS_TO_AN_ODD_ONE;
}

/// True if a root leads to a tree of extents: each of its words is 0 or leads to a table, and the leaves' entries lead
/// to extents that have the pages of these entries.
static bool is_root(struct lt_jemalloc_tree *tree, uint64_t root) {
  struct sample sample = {.tree = tree};
  return each_leaf(tree, &tree->candidate, root, sample_leaf, &sample) && sample.looked > sample.odd;
}

uint64_t lt_jemalloc_tree_find(struct lt_jemalloc_tree *tree) {
  const struct lt_books_memory *books = tree->books;
  uint64_t left = SEARCH_LIMIT, imageStart = 0, last = 0;
  tree->wordsLeft = FIND_LIMIT;
  for (uint32_t i = 0; i < books->regionCount && left; i++) {
    const struct lt_snapshot_region *region = &books->regions[i];
    bool isWritable = (region->flags & LT_REGION_WRITABLE) && (region->flags & LT_REGION_CAPTURED);
    if (region->kind == LT_REGION_FILE && isWritable && region[0].start != last) imageStart = region->start;
    // The root is data without an initial value: it is mapped right behind an image's initialised data.
    bool isBehind = i && region->start == last && imageStart &&
                    (region->kind == LT_REGION_ANONYMOUS || region->kind == LT_REGION_BREAK);
    if (!(region->kind == LT_REGION_FILE && isWritable) && !(isBehind && isWritable)) {
      imageStart = 0;
      last = 0;
      continue;
    }
    last = region->end;
    struct lt_address_range run = {0, region->start};
    while (left && lt_books_next_present(books, run.end, region->end, &run)) {
      for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8 && left; at += 8) {
        uint64_t word, index;
        left -= 8;
        if (!lt_window_word(&tree->root, at, &word)) break;
        if (!word || (word & 63)) continue;
        for (unsigned i = 0; i < JEMALLOC_TREE_LAYOUTS; i++) {
          tree->layout = &lt_jemalloc_tree_layouts[i];
          if (!is_root_word(tree, word, &index) || at < 8 * index) continue;
          uint64_t root = at - 8 * index;
          if (root >= imageStart && is_root(tree, root)) return root;
        }
      }
    }
  }
  return 0;
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
  uint64_t page = (walk->leafIndex << walk->tree->layout->leafBits | index) << JEMALLOC_PAGE_SHIFT;
  if (!record_of(word) || page < walk->end) return true;
  if (!read_extent(walk->tree, word, &extent)) {
    walk->odd++;
    return true;
  }
  // A record stands for its first and last page, and a slab's for all.
  if ((extent.address & ~(uint64_t)(LT_BOOKS_PAGE - 1)) != page) return true;
  walk->end = page + extent.bytes;
  LT_CHECK(walk->end > page);
  walk->extent(walk->context, &extent);
  return true;
}

static bool walk_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct walk *walk = context;
  if (!has_room(walk->tree, leaf, lt_jemalloc_leaf_bytes(walk->tree->layout))) return true;
  walk->leafIndex = index;
  each_word(walk->tree, leaf, walk_word, walk);
  return walk->tree->wordsLeft > 0;
}

uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context) {
  struct walk walk = {.tree = tree, .extent = extent, .context = context};
  LT_CHECK(tree->layout && root);
  tree->wordsLeft = WALK_LIMIT;
  bool isWhole = each_leaf(tree, &tree->root, root, walk_leaf, &walk);
  return walk.odd + !isWhole;
}
