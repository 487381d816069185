// Finds the root of jemalloc's tree of extents. A word of the root leads to a leaf, and a word of the leaf leads to an
// extent's record. The extent's address in that record must match the positions of both words.

#include "allocator_metadata/jemalloc_root.h"

#include "check.h"

enum {
  /// A leaf is recognised by this many words that are not 0. One of them may contradict its extent, because a thread
  /// may have been stopped while it wrote the word.
  TRIED_WORDS = 8,
  ODD_WORDS = 1,
  /// A root is recognised by up to this many words of each leaf. One word in 16 may be odd. In a tree, words agree with
  /// their extents. In other memory, words agree only by chance.
  SAMPLED_WORDS = 256,
  WORDS_TO_AN_ODD_ONE = 16,
};
static const uint64_t SEARCH_LIMIT = 1ull << 28;
/// The most words that are read to find the root.
static const uint64_t FIND_LIMIT = 1ull << 27;

/// True if a word of a leaf leads to an extent that contains the word's page. `page` may be relative to the leaf's
/// first page. The word of an extent's first page must agree with the record completely. In the word of its last page,
/// only the record's address must be right: the other bits may be stale.
static bool is_of_page(struct lt_jemalloc_tree *tree, uint64_t word, uint64_t page, uint64_t *first) {
  const struct lt_jemalloc_record_layout *layout = tree->layout->record;
  uint64_t record = lt_jemalloc_record_of(layout, word), address, size;
  struct lt_jemalloc_extent extent;
  if (!record || !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_ADDRESS, &address) ||
      !lt_window_word(&tree->extents, record + JEMALLOC_EXTENT_SIZE, &size) || address >= LT_ALLOCATOR_ADDRESS_LIMIT)
    return false;
  *first = address >> layout->pageShift;
  uint64_t distance = (page - *first) & ((1ull << tree->layout->leafBits) - 1);
  if (distance >= size >> layout->pageShift) return false;
  return distance || (lt_jemalloc_read_extent(&tree->extents, layout, word, &extent) &&
                      lt_jemalloc_extent_is_consistent(layout, &extent));
}

struct trial {
  struct lt_jemalloc_tree *tree;
  unsigned left, odd;
  bool isFound;
  bool hasCleared; ///< a word's page no longer has an extent
  uint64_t index;  ///< of the leaf
};

static bool try_word(void *context, uint64_t index, uint64_t word) {
  struct trial *trial = context;
  uint64_t first;
  if (lt_jemalloc_is_cleared(trial->tree->layout->record, word)) return trial->hasCleared = true;
  if (!is_of_page(trial->tree, word, index, &first)) {
    if (++trial->odd > ODD_WORDS) return false;
  } else if ((first & ((1ull << trial->tree->layout->leafBits) - 1)) == index) {
    trial->isFound = true;
    trial->index = first >> trial->tree->layout->leafBits;
  }
  return --trial->left > 0;
}

/// True if `leaf` is the address of a leaf. Finds the leaf's index in the tree.
///
/// - `isCleared`: set to true if all words in that memory are cleared. Then it is unknown whether it is a leaf.
static bool is_leaf(struct lt_jemalloc_tree *tree, uint64_t leaf, uint64_t *index, bool *isCleared) {
  const struct lt_jemalloc_tree_layout *layout = tree->layout;
  if (!lt_jemalloc_has_room(tree, leaf, lt_jemalloc_leaf_bytes(layout))) return false;
  struct trial trial = {.tree = tree, .left = TRIED_WORDS};
  lt_jemalloc_each_word(tree, leaf, try_word, &trial);
  *index = trial.index;
  *isCleared = trial.hasCleared && trial.left == TRIED_WORDS && !trial.odd;
  return trial.isFound && trial.odd <= ODD_WORDS && trial.index >> layout->nodeBits >> layout->rootBits == 0;
}

struct node_trial {
  struct lt_jemalloc_tree *tree;
  bool isFound;
  uint64_t index; ///< in the root, of the node
};

/// Decides whether the memory is a node, by its first leaf that is not cleared. A destroyed arena leaves cleared
/// leaves.
static bool try_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct node_trial *trial = context;
  uint64_t found = 0, mask = (1ull << trial->tree->layout->nodeBits) - 1;
  bool isCleared = false;
  trial->isFound = is_leaf(trial->tree, leaf, &found, &isCleared) && (found & mask) == index;
  if (isCleared) return true;
  trial->index = found >> trial->tree->layout->nodeBits;
  return false;
}

/// True if a word may be one of the root's words. Finds the word's index in the root.
static bool is_root_word(struct lt_jemalloc_tree *tree, uint64_t word, uint64_t *index) {
  bool isCleared;
  if (!tree->layout->nodeBits) return is_leaf(tree, word, index, &isCleared);
  uint64_t bytes = lt_jemalloc_node_bytes(tree->layout);
  if (!lt_jemalloc_has_room(tree, word, bytes)) return false;
  struct node_trial trial = {.tree = tree};
  lt_jemalloc_each_table(tree, &tree->node, word, bytes, try_leaf, &trial);
  *index = trial.index;
  return trial.isFound;
}

struct sample {
  struct lt_jemalloc_tree *tree;
  uint64_t leafIndex;
  uint64_t looked, odd;
  unsigned left; ///< words of the leaf that are still to be read
};

static bool sample_word(void *context, uint64_t index, uint64_t word) {
  struct sample *sample = context;
  uint64_t page = sample->leafIndex << sample->tree->layout->leafBits | index, first;
  if (lt_jemalloc_is_cleared(sample->tree->layout->record, word)) return true;
  sample->looked++;
  // A huge extent may begin in an earlier leaf.
  if (!is_of_page(sample->tree, word, page, &first) || first > page) sample->odd++;
  return --sample->left > 0;
}

static bool sample_leaf(void *context, uint64_t index, uint64_t leaf) {
  struct sample *sample = context;
  if (!lt_jemalloc_has_room(sample->tree, leaf, lt_jemalloc_leaf_bytes(sample->tree->layout))) return false;
  sample->leafIndex = index;
  sample->left = SAMPLED_WORDS;
  lt_jemalloc_each_word(sample->tree, leaf, sample_word, sample);
  return sample->odd <= ODD_WORDS + sample->looked / WORDS_TO_AN_ODD_ONE;
}

/// True if a root leads to a tree of extents. Each word of the root must be 0 or lead to a table. The leaves' entries
/// must lead to extents that contain the entries' pages.
static bool is_root(struct lt_jemalloc_tree *tree, uint64_t root) {
  struct sample sample = {.tree = tree};
  return lt_jemalloc_each_leaf(tree, &tree->candidate, root, sample_leaf, &sample) && sample.looked > sample.odd;
}

/// The contiguous data of an image.
struct image_data {
  uint64_t start, end;   ///< `start` is 0 if no image's data is being searched
  uint64_t wordsLeft[2]; ///< how many more words may be read, for layouts since 5.3 and for earlier layouts
};

/// Returns the end of the contiguous mappings that begin with a region.
static uint64_t mapped_end(const struct lt_allocator_memory *metadata, uint32_t region) {
  uint64_t end = metadata->regions[region].end;
  while (++region < metadata->regionCount && metadata->regions[region].start == end)
    end = metadata->regions[region].end;
  return end;
}

/// Returns the address of the root that contains the word at an address; 0 if there is none. Sets the tree's layout.
static uint64_t root_with(struct lt_jemalloc_tree *tree, struct image_data *data, uint64_t at, uint64_t word) {
  const bool isArm64 = lt_has_variables_above(tree->metadata);
  const unsigned count = isArm64 ? JEMALLOC_TREE_LAYOUTS : JEMALLOC_TREE_LAYOUTS_OF_X86_64;
  for (unsigned i = 0; i < count; i++) {
    const struct lt_jemalloc_tree_layout *layout = tree->layout = &lt_jemalloc_tree_layouts[i];
    uint64_t index, bytes = lt_jemalloc_root_bytes(layout), *wordsLeft = &data->wordsLeft[layout->record->isBefore53];
    if (bytes > data->end - data->start) continue;
    tree->wordsLeft = *wordsLeft;
    bool isFound = is_root_word(tree, word, &index) && at - data->start >= 8 * index &&
                   at - 8 * index <= data->end - bytes && is_root(tree, at - 8 * index);
    *wordsLeft = tree->wordsLeft;
    if (isFound) return at - 8 * index;
  }
  return 0;
}

uint64_t lt_jemalloc_root_find(struct lt_jemalloc_tree *tree) {
  const struct lt_allocator_memory *metadata = tree->metadata;
  uint64_t left = SEARCH_LIMIT, last = 0;
  struct image_data data = {.wordsLeft = {FIND_LIMIT, FIND_LIMIT}};
  for (uint32_t i = 0; i < metadata->regionCount && left; i++) {
    const struct lt_snapshot_region *region = &metadata->regions[i];
    bool isWritable = (region->flags & LT_REGION_WRITABLE) && (region->flags & LT_REGION_CAPTURED);
    if (region->kind == LT_REGION_FILE && isWritable && region->start != last) {
      data.start = region->start;
      data.end = mapped_end(metadata, i);
    }
    // The root has no initial value. Such data (.bss) is mapped right after an image's initialised data.
    bool isBehind = i && region->start == last && data.start &&
                    (region->kind == LT_REGION_ANONYMOUS || region->kind == LT_REGION_BREAK);
    if (!(region->kind == LT_REGION_FILE && isWritable) && !(isBehind && isWritable)) {
      data.start = 0;
      last = 0;
      continue;
    }
    last = region->end;
    struct lt_address_range run = {0, region->start};
    while (left && lt_allocator_memory_next_present(metadata, run.end, region->end, &run)) {
      for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8 && left; at += 8) {
        uint64_t word;
        left -= 8;
        if (!lt_window_word(&tree->root, at, &word)) break;
        if (!word || (word & 63)) continue;
        uint64_t root = root_with(tree, &data, at, word);
        if (root) return root;
      }
    }
  }
  return 0;
}
