// Finds jemalloc's tree of extents by its shape: a word of the root leads to a leaf, a word of the leaf to an extent's
// record, and that has the address by which both were found.

#include "allocator_books/jemalloc_tree.h"

#include "allocator_books/jemalloc_layout.h"
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
         lt_word_window_init(&tree->leaf, books, WINDOW) && lt_word_window_init(&tree->extents, books, WINDOW);
}

void lt_jemalloc_tree_free(struct lt_jemalloc_tree *tree) {
  if (!tree->books) return;
  lt_word_window_free(&tree->root);
  lt_word_window_free(&tree->candidate);
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
  uint64_t blockBytes = lt_jemalloc_class_bytes(extent->sizeClass);
  if (blockBytes > extent->bytes - (extent->isSlab ? 0 : extent->address - first)) return false;
  if (!extent->isSlab) return true;
  if (extent->bytes / blockBytes > JEMALLOC_SLAB_REGIONS || extent->address != first) return false;
  for (unsigned i = 0; i < 8; i++)
    if (!lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_BITMAP + 8 * i, &extent->freeRegions[i])) return false;
  return true;
}

/// Goes through a leaf's words. Returns false as soon as `word` does.
static bool each_word(struct lt_jemalloc_tree *tree, uint64_t leaf,
                      bool (*word)(void *context, uint64_t index, uint64_t word), void *context) {
  struct lt_address_range run = {0, leaf};
  while (lt_books_next_present(tree->books, run.end, leaf + JEMALLOC_TREE_BYTES, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t value;
      if (tree->wordsLeft == 0) return false;
      LT_CHECK(at >= leaf && at - leaf < JEMALLOC_TREE_BYTES);
      tree->wordsLeft--;
      if (!lt_window_word(&tree->leaf, at, &value)) break;
      if (value && !word(context, (at - leaf) / 8, value)) return false;
    }
  }
  return true;
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
  uint64_t distance = (page - *first) & (JEMALLOC_TREE_WORDS - 1);
  return distance < size >> JEMALLOC_PAGE_SHIFT && (distance || read_extent(tree, word, &extent));
}

struct trial {
  struct lt_jemalloc_tree *tree;
  unsigned left, odd;
  bool isFound;
  uint64_t index; ///< in the root, of the leaf
};

static bool try_word(void *context, uint64_t index, uint64_t word) {
  struct trial *trial = context;
  uint64_t first;
  if (is_cleared(word)) return true;
  if (!is_of_page(trial->tree, word, index, &first)) {
    if (++trial->odd > ODD_WORDS) return false;
  } else if ((first & (JEMALLOC_TREE_WORDS - 1)) == index) {
    trial->isFound = true;
    trial->index = first >> JEMALLOC_TREE_BITS;
  }
  return --trial->left > 0;
}

/// Tells whether memory can be a leaf's.
static bool has_room_for_leaf(struct lt_jemalloc_tree *tree, uint64_t leaf) {
  if ((leaf & 63) || leaf < LT_BOOKS_PAGE || leaf >= LT_BOOKS_ADDRESS_LIMIT - JEMALLOC_TREE_BYTES) return false;
  const struct lt_snapshot_region *region = lt_books_region(tree->books, leaf);
  return region && region->kind == LT_REGION_ANONYMOUS && (region->flags & LT_REGION_CAPTURED) &&
         region->end - leaf >= JEMALLOC_TREE_BYTES;
}

/// Tells whether a word is the address of a leaf, and the place of the word in its root.
static bool is_leaf(struct lt_jemalloc_tree *tree, uint64_t leaf, uint64_t *index) {
  if (!has_room_for_leaf(tree, leaf)) return false;
  struct trial trial = {.tree = tree, .left = TRIED_WORDS};
  each_word(tree, leaf, try_word, &trial);
  *index = trial.index;
  return trial.isFound && trial.odd <= ODD_WORDS && trial.index < JEMALLOC_TREE_WORDS;
}

struct sample {
  struct lt_jemalloc_tree *tree;
  uint64_t leafIndex;
  uint64_t looked, odd;
  unsigned left; ///< of the leaf
};

static bool sample_word(void *context, uint64_t index, uint64_t word) {
  struct sample *sample = context;
  uint64_t page = sample->leafIndex << JEMALLOC_TREE_BITS | index, first;
  if (is_cleared(word)) return true;
  sample->looked++;
  // A huge extent begins in an earlier leaf.
  if (!is_of_page(sample->tree, word, page, &first) || first > page) sample->odd++;
  return --sample->left > 0;
}

/// Tells whether all that a root leads to is a tree of extents: each of its words is 0 or leads to a leaf, and the
/// leaves' words lead to extents that have the pages of these words.
static bool is_root(struct lt_jemalloc_tree *tree, uint64_t root) {
  struct sample sample = {.tree = tree};
  struct lt_address_range run = {0, root};
  while (lt_books_next_present(tree->books, run.end, root + JEMALLOC_TREE_BYTES, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t leaf;
      if (tree->wordsLeft == 0 || !lt_window_word(&tree->candidate, at, &leaf)) return false;
      tree->wordsLeft--;
      if (!leaf) continue;
      if (!has_room_for_leaf(tree, leaf)) return false;
      sample.leafIndex = (at - root) / 8;
      sample.left = SAMPLED_WORDS;
      each_word(tree, leaf, sample_word, &sample);
      if (sample.odd > ODD_WORDS + sample.looked / WORDS_TO_AN_ODD_ONE) return false;
    }
  }
  return sample.looked > sample.odd;
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
        if (!word || (word & 63) || !is_leaf(tree, word, &index) || at < 8 * index) continue;
        uint64_t root = at - 8 * index;
        if (root >= imageStart && is_root(tree, root)) return root;
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
  uint64_t page = (walk->leafIndex << JEMALLOC_TREE_BITS | index) << JEMALLOC_PAGE_SHIFT;
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

uint64_t lt_jemalloc_tree_walk(struct lt_jemalloc_tree *tree, uint64_t root,
                               void (*extent)(void *context, const struct lt_jemalloc_extent *extent), void *context) {
  struct walk walk = {.tree = tree, .extent = extent, .context = context};
  struct lt_address_range run = {0, root};
  tree->wordsLeft = WALK_LIMIT;
  while (lt_books_next_present(tree->books, run.end, root + JEMALLOC_TREE_BYTES, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t leaf;
      if (!lt_window_word(&tree->root, at, &leaf)) break;
      if ((leaf & 63) || leaf < LT_BOOKS_PAGE || leaf >= LT_BOOKS_ADDRESS_LIMIT - JEMALLOC_TREE_BYTES) continue;
      walk.leafIndex = (at - root) / 8;
      each_word(tree, leaf, walk_word, &walk);
    }
  }
  return walk.odd + (tree->wordsLeft == 0);
}
