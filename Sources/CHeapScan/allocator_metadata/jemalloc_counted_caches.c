// Recognises the caches of jemalloc 5.1 and 5.2. A cache has an array of bins. Each bin stores the address after its
// stack, and the number of its blocks. The blocks are at the stack's end, and the next bin's stack begins after it. The
// tree of extents leads to the block that holds the stacks.

#include "allocator_metadata/jemalloc_counted_caches.h"

struct counted_bin {
  int32_t lowest, count; ///< -1 if the bin ran empty
  uint64_t past;         ///< the address after its stack
};

struct counted_cache {
  uint64_t bins;
  const struct lt_jemalloc_cache_layout *layout;
  unsigned largeBins;            ///< number of large classes' bins in use
  uint64_t start;                ///< of the first stack
  struct lt_address_range block; ///< the block that holds the stacks
};

void lt_jemalloc_counted_caches_init(struct lt_jemalloc_counted_caches *caches, struct lt_jemalloc_tree *tree,
                                     uint64_t root) {
  *caches = (struct lt_jemalloc_counted_caches){.tree = tree, .root = root};
  lt_list_init(&caches->threads, tree->metadata->memory, sizeof(uint64_t));
  lt_list_init(&caches->others, tree->metadata->memory, sizeof(uint64_t));
}

void lt_jemalloc_counted_caches_free(struct lt_jemalloc_counted_caches *caches) {
  lt_list_free(&caches->threads);
  lt_list_free(&caches->others);
}

/// Reads a bin. Returns false if there is no bin, or if its stack cannot begin at `start`.
///
/// - `start`: 0 if it is unknown.
static bool read_bin(struct lt_word_window *window, uint64_t at, uint64_t start, struct counted_bin *bin) {
  uint64_t counts;
  if (!lt_window_word(window, at + JEMALLOC_BIN_PAST, &bin->past) || (bin->past & 7) || bin->past < LT_ALLOCATOR_PAGE ||
      bin->past >= LT_ALLOCATOR_ADDRESS_LIMIT || !lt_window_word(window, at + JEMALLOC_BIN_COUNTS, &counts))
    return false;
  bin->lowest = (int32_t)(uint32_t)counts;
  bin->count = (int32_t)(counts >> 32);
  uint64_t slots = JEMALLOC_STACK_SLOTS;
  if (start) {
    if (bin->past <= start || bin->past - start > 8 * slots) return false;
    slots = (bin->past - start) / 8;
  }
  return bin->lowest >= -1 && bin->lowest <= (int64_t)slots && bin->count >= -1 && bin->count <= (int64_t)slots;
}

/// True if the words between the bins of small and of large classes belong to a cache that is in use.
static bool has_layout(struct lt_word_window *window, uint64_t bins, const struct lt_jemalloc_cache_layout *layout) {
  uint64_t descriptor = bins + layout->descriptor, next, small, large, arena;
  if (!lt_window_word(window, bins + layout->arena, &arena) || arena < LT_ALLOCATOR_PAGE ||
      arena >= LT_ALLOCATOR_ADDRESS_LIMIT || (arena & (JEMALLOC_ARENA_ALIGNMENT - 1)) ||
      !lt_window_word(window, descriptor + JEMALLOC_DESCRIPTOR_NEXT, &next) ||
      !lt_window_word(window, descriptor + JEMALLOC_DESCRIPTOR_SMALL, &small) ||
      !lt_window_word(window, descriptor + JEMALLOC_DESCRIPTOR_LARGE, &large))
    return false;
  return (small == bins && large == bins + layout->largeBins) || !(next | small | large);
}

/// Reads the bins of a cache, and finds the block that holds their stacks. Returns false if there is no cache.
static bool read_cache(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window, uint64_t bins,
                       struct counted_cache *cache) {
  struct counted_bin first, bin;
  if (bins < JEMALLOC_CACHE_SMALL_BINS || bins >= LT_ALLOCATOR_ADDRESS_LIMIT || !read_bin(window, bins, 0, &first))
    return false;
  uint64_t past = first.past;
  for (unsigned i = 1; i < JEMALLOC_SMALL_CLASSES; i++, past = bin.past)
    if (!read_bin(window, bins + i * JEMALLOC_BIN_BYTES, past, &bin)) return false;
  const struct lt_jemalloc_cache_layout *layout = NULL;
  for (unsigned i = 0; i < JEMALLOC_CACHE_LAYOUTS && !layout; i++)
    if (has_layout(window, bins, &lt_jemalloc_cache_layouts[i])) layout = &lt_jemalloc_cache_layouts[i];
  if (!layout) return false;
  *cache = (struct counted_cache){.bins = bins, .layout = layout};
  for (; cache->largeBins < JEMALLOC_CLASSES - JEMALLOC_SMALL_CLASSES; cache->largeBins++, past = bin.past) {
    uint64_t at = bins + layout->largeBins + cache->largeBins * JEMALLOC_BIN_BYTES, word;
    if (!lt_window_word(window, at + JEMALLOC_BIN_PAST, &word)) return false;
    if (word == 0) break;
    if (!read_bin(window, at, past, &bin)) return false;
  }
  // A cache that the program made with mallctl is in the same block as its stacks.
  uint64_t own = bins - JEMALLOC_CACHE_SMALL_BINS, ownBytes = JEMALLOC_CACHE_SMALL_BINS + layout->end;
  if (!lt_jemalloc_tree_block(caches->tree, caches->root, first.past - 8, ownBytes + 8 * JEMALLOC_STACK_SLOTS,
                              &cache->block))
    return false;
  cache->start = cache->block.start + (cache->block.start == own ? ownBytes : 0);
  return (cache->block.start & (JEMALLOC_CACHE_ALIGNMENT - 1)) == 0 && past <= cache->block.end &&
         cache->start < first.past && read_bin(window, bins, cache->start, &first);
}

bool lt_jemalloc_counted_cache_add(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                   uint64_t bins) {
  struct counted_cache cache;
  return read_cache(caches, window, bins, &cache) && lt_list_append(&caches->threads, &bins);
}

/// Appends the blocks of consecutive bins, whose stacks begin at `start`, to `kept`. Returns the end of the last stack.
static uint64_t keep_bins(struct lt_word_window *window, struct lt_word_window *stack, uint64_t at, unsigned count,
                          uint64_t start, struct lt_growing_list *kept) {
  for (unsigned i = 0; i < count; i++) {
    struct counted_bin bin;
    if (!read_bin(window, at + i * JEMALLOC_BIN_BYTES, start, &bin)) break;
    for (int32_t n = bin.count; n > 0; n--) {
      uint64_t block;
      if (lt_window_word(stack, bin.past - 8 * (uint64_t)n, &block)) lt_list_append(kept, &block);
    }
    start = bin.past;
  }
  return start;
}

static bool keep_cache(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                       struct lt_word_window *stack, uint64_t bins, struct lt_growing_list *kept,
                       struct lt_growing_list *stacks) {
  struct counted_cache cache;
  if (!read_cache(caches, window, bins, &cache)) return false;
  uint64_t past = keep_bins(window, stack, bins, JEMALLOC_SMALL_CLASSES, cache.start, kept);
  keep_bins(window, stack, bins + cache.layout->largeBins, cache.largeBins, past, kept);
  lt_list_append(stacks, &cache.block);
  return true;
}

/// Returns the bins of the next cache in an arena's ring; 0 if there is none.
static uint64_t next_cache(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window, uint64_t bins) {
  struct counted_cache cache, other;
  uint64_t next;
  if (!read_cache(caches, window, bins, &cache) ||
      !lt_window_word(window, bins + cache.layout->descriptor + JEMALLOC_DESCRIPTOR_NEXT, &next) ||
      next < cache.layout->descriptor)
    return 0;
  next -= cache.layout->descriptor;
  return read_cache(caches, window, next, &other) && other.layout == cache.layout ? next : 0;
}

/// Adds the caches in a ring between a thread's cache and the next thread's cache.
static void add_others(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window, uint64_t bins) {
  // A damaged ring may lead back to a cache in its middle. To detect that, the mark moves on after 1, 2, 4, … caches.
  uint64_t mark = bins, steps = 0, markSteps = 1;
  while ((bins = next_cache(caches, window, bins)) && bins != mark && !lt_list_has(&caches->threads, bins)) {
    if (!lt_list_append(&caches->others, &bins)) return;
    if (++steps == markSteps) {
      mark = bins;
      steps = 0;
      markSteps *= 2;
    }
  }
}

uint64_t lt_jemalloc_counted_caches_keep(struct lt_jemalloc_counted_caches *caches, struct lt_word_window *window,
                                         struct lt_word_window *stack, struct lt_growing_list *kept,
                                         struct lt_growing_list *stacks) {
  uint64_t found = 0, last = 0;
  lt_list_sort(&caches->threads);
  for (size_t i = 0; i < caches->threads.count; i++) add_others(caches, window, lt_list_number(&caches->threads, i));
  lt_list_sort(&caches->others);
  for (size_t i = 0; i < caches->threads.count; i++)
    found += keep_cache(caches, window, stack, lt_list_number(&caches->threads, i), kept, stacks);
  for (size_t i = 0; i < caches->others.count; i++) {
    uint64_t bins = lt_list_number(&caches->others, i);
    if (bins != last) found += keep_cache(caches, window, stack, bins, kept, stacks);
    last = bins;
  }
  kept->isShort |= caches->threads.isShort || caches->others.isShort;
  return found;
}
