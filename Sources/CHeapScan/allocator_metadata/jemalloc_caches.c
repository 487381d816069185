// Recognises jemalloc's thread caches: each is an array of bins, and each bin's stack begins where the previous bin's
// stack ends.

#include "allocator_metadata/jemalloc_caches.h"

#include "allocator_metadata/jemalloc_counted_caches.h"

enum {
  /// Thread-local variables are at most this many bytes below the thread pointer.
  THREAD_LOCAL_BYTES = 1 << 16,
  /// A cache has a bin for each of the 36 small size classes, and further bins.
  MIN_BINS = 30,
  MAX_BINS = 512,
};

struct bin {
  uint64_t head, empty; ///< addresses in the bin's stack: of the first block, and of the end
  uint16_t full;        ///< the low 16 bits of the address where the stack begins
};

static bool read_bin(struct lt_word_window *window, uint64_t at, struct bin *bin) {
  uint64_t bounds;
  if (!lt_window_word(window, at, &bin->head) || !lt_window_word(window, at + 16, &bounds)) return false;
  if ((bin->head & 7) || bin->head < LT_ALLOCATOR_PAGE || bin->head >= LT_ALLOCATOR_ADDRESS_LIMIT) return false;
  uint16_t low = (uint16_t)bin->head, empty = (uint16_t)(bounds >> 8 * (JEMALLOC_BIN_EMPTY - 16));
  bin->full = (uint16_t)(bounds >> 8 * (JEMALLOC_BIN_FULL - 16));
  bin->empty = bin->head + (uint16_t)(empty - low);
  return ((empty | bin->full) & 7) == 0 && (uint16_t)(empty - low) <= (uint16_t)(empty - bin->full);
}

/// Returns the number of consecutive bins that begin at an address.
static unsigned count_bins(struct lt_word_window *window, uint64_t at) {
  struct bin bin, next;
  if (!read_bin(window, at, &bin)) return 0;
  // One word precedes the first stack, at the start of a page.
  if (((bin.full - 8u) & (LT_ALLOCATOR_PAGE - 1)) != 0) return 0;
  unsigned count = 1;
  for (; count < MAX_BINS && read_bin(window, at + (uint64_t)count * JEMALLOC_BIN_BYTES, &next); count++) {
    if (next.full != (uint16_t)bin.empty || next.empty != bin.empty + (uint16_t)((uint16_t)next.empty - next.full))
      break;
    bin = next;
  }
  return count;
}

static void keep_cache(struct lt_word_window *window, struct lt_word_window *stack, uint64_t at, unsigned count,
                       struct lt_growing_list *kept, struct lt_growing_list *stacks) {
  struct lt_address_range range = {0, 0};
  for (unsigned i = 0; i < count; i++) {
    struct bin bin;
    if (!read_bin(window, at + (uint64_t)i * JEMALLOC_BIN_BYTES, &bin)) return;
    if (i == 0) range.start = bin.empty - (uint16_t)((uint16_t)bin.empty - bin.full) - sizeof(uint64_t);
    range.end = bin.empty;
    for (uint64_t place = bin.head; place < bin.empty; place += 8) {
      uint64_t block;
      if (lt_window_word(stack, place, &block)) lt_list_append(kept, &block);
    }
  }
  lt_list_append(stacks, &range);
}

/// Finds the cache of one thread in its thread-local variables. Returns true if there is one.
static bool find_cache(struct lt_jemalloc_counted_caches *counted, struct lt_word_window *window,
                       struct lt_word_window *stack, uint64_t pointer, struct lt_growing_list *kept,
                       struct lt_growing_list *stacks) {
  uint64_t first = lt_has_variables_above(window->metadata) ? pointer : pointer - THREAD_LOCAL_BYTES;
  for (uint64_t at = first; at < first + THREAD_LOCAL_BYTES; at += 8) {
    uint64_t word;
    if (!lt_window_word(window, at, &word)) {
      // It is unknown where the variables begin and end, and the memory next to them may be unmapped. Continue in the
      // next page.
      at = (at | (LT_ALLOCATOR_PAGE - 1)) - 7;
      continue;
    }
    if (counted) {
      if (lt_jemalloc_counted_cache_add(counted, window, at)) return true;
      continue;
    }
    unsigned count = count_bins(window, at);
    if (count < MIN_BINS) continue;
    keep_cache(window, stack, at, count, kept, stacks);
    return true;
  }
  return false;
}

uint64_t lt_jemalloc_find_caches(struct lt_jemalloc_tree *tree, uint64_t root, struct lt_growing_list *kept,
                                 struct lt_growing_list *stacks) {
  const struct lt_allocator_memory *metadata = tree->metadata;
  struct lt_jemalloc_counted_caches counted;
  struct lt_word_window window, stack = {0};
  uint64_t found = 0;
  bool isCounted = tree->layout->record->isBefore53;
  if (isCounted) lt_jemalloc_counted_caches_init(&counted, tree, root);
  bool hasRoom = lt_word_window_init(&window, metadata, THREAD_LOCAL_BYTES + 2 * LT_ALLOCATOR_PAGE) &&
                 lt_word_window_init(&stack, metadata, 2 * LT_ALLOCATOR_PAGE);
  for (uint32_t i = 0; hasRoom && i < metadata->threadCount; i++) {
    uint64_t pointer = metadata->threads[i].threadPointer & ~7ull;
    if (pointer <= THREAD_LOCAL_BYTES || pointer >= LT_ALLOCATOR_ADDRESS_LIMIT) continue;
    found += find_cache(isCounted ? &counted : NULL, &window, &stack, pointer, kept, stacks);
  }
  if (isCounted) {
    if (hasRoom) found = lt_jemalloc_counted_caches_keep(&counted, &window, &stack, kept, stacks);
    lt_jemalloc_counted_caches_free(&counted);
  }
  lt_word_window_free(&window);
  lt_word_window_free(&stack);
  return found;
}
