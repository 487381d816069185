// Finds the arenas of glibc's allocator by their bins, and by the ring that links the arenas.

#include "allocator_metadata/glibc_arenas.h"

#include "allocator_metadata/glibc_layout.h"
#include "check.h"

#include <string.h>

enum {
  /// The most namespaces of a loader (DL_NNS), and so the most copies of libc.
  NAMESPACE_LIMIT = 16,
  /// The most bins of an arena whose links may be wrong. A thread may be changing the links, or the heap may be
  /// damaged.
  OTHER_BINS = 4,
  DATA_WINDOW = 64 << 10,
};
/// The most bytes of initialised data that are searched.
static const uint64_t DATA_LIMIT = 1ull << 28;

struct search {
  const struct lt_allocator_memory *metadata;
  struct lt_word_window data, elsewhere;
  bool hasBins;
};

static bool is_arena(struct search *s, uint64_t arena) {
  uint64_t heap = lt_glibc_first_heap(arena), owner;
  return arena < LT_ALLOCATOR_ADDRESS_LIMIT && arena - heap >= GLIBC_MIN_HEAP_INFO &&
         arena - heap <= GLIBC_MAX_HEAP_INFO && lt_window_word(&s->elsewhere, heap + GLIBC_HEAP_ARENA, &owner) &&
         owner == arena;
}

static bool has_arena(const struct lt_growing_list *arenas, size_t from, uint64_t address) {
  for (size_t i = from; i < arenas->count; i++)
    if (lt_list_number(arenas, i) == address) return true;
  return false;
}

/// Follows the ring that begins at a main arena, and appends the other arenas to `arenas`, unless it is NULL. Returns
/// true if the ring leads back to the main arena.
static bool follow_ring(struct search *s, uint64_t main, const struct lt_glibc_arena_layout *layout,
                        struct lt_growing_list *arenas) {
  // Programs with many threads have a few hundred arenas. If the ring is damaged and does not lead back, Brent's
  // algorithm detects the cycle.
  uint64_t at = main, mark = 0, next;
  for (uint64_t count = 1, markAt = 1; count < LT_GLIBC_ARENA_LIMIT; count++) {
    if (!lt_window_word(&s->elsewhere, at + layout->bins + GLIBC_NEXT_BEHIND_BINS, &next)) return false;
    if (next == main) return true;
    if (next == mark || !is_arena(s, next)) return false;
    if (arenas) {
      struct lt_glibc_arena arena = {.address = next, .layout = layout, .main = main};
      if (!lt_list_append(arenas, &arena)) return false;
    }
    at = next;
    if (count == markAt) {
      mark = at;
      markAt *= 2;
    }
  }
  return false;
}

/// True if a bin's first and last chunk refer to the bin.
static bool is_linked(struct search *s, uint64_t bin, uint64_t first, uint64_t last) {
  enum { NEXT = 16, PREVIOUS = 24 };
  uint64_t word;
  return first < LT_ALLOCATOR_ADDRESS_LIMIT && last < LT_ALLOCATOR_ADDRESS_LIMIT &&
         lt_window_word(&s->elsewhere, first + PREVIOUS, &word) && word == bin &&
         lt_window_word(&s->elsewhere, last + NEXT, &word) && word == bin;
}

/// True if an arena's bins are at an address, with the arena's `top` field before them.
static bool are_bins(struct search *s, uint64_t bins) {
  unsigned others = 0;
  uint64_t first, last, top, place = bins - GLIBC_TOP_BEFORE_BINS;
  for (uint64_t pair = 0; pair < GLIBC_BIN_PAIRS; pair++) {
    uint64_t bin = bins + 16 * pair;
    if (!lt_window_word(&s->data, bin, &first) || !lt_window_word(&s->data, bin + 8, &last)) return false;
    if (first == bin - 16 && last == bin - 16) continue;
    if (((first | last) & 15) || !first || !last) return false;
    if (!is_linked(s, bin - 16, first, last) && ++others > OTHER_BINS) return false;
  }
  if (!lt_window_word(&s->data, place, &top) || (top & 15)) return false;
  return top == place || lt_allocator_memory_region(s->metadata, top);
}

/// Finds the main arena that has an empty bin at an address. Each arena has an empty bin, because no chunk is large
/// enough for the last bin. Only one layout fits, since the ring of arenas must lead back to the start of the main
/// arena.
static bool arena_of_bin(struct search *s, uint64_t bin, struct lt_glibc_arena *arena) {
  for (uint64_t index = 0; index < GLIBC_BIN_PAIRS; index++) {
    uint64_t bins = bin - 16 * index;
    if (bin < 16 * index + 2 * LT_ALLOCATOR_PAGE) return false;
    if (bins >= LT_ALLOCATOR_ADDRESS_LIMIT || !are_bins(s, bins)) continue;
    s->hasBins = true;
    for (unsigned i = 0; i < GLIBC_ARENA_LAYOUTS; i++) {
      const struct lt_glibc_arena_layout *layout = &lt_glibc_arena_layouts[i];
      uint64_t address = bins - layout->bins;
      if (!follow_ring(s, address, layout, NULL)) continue;
      *arena = (struct lt_glibc_arena){.address = address, .layout = layout, .main = address};
      return true;
    }
  }
  return false;
}

static void search_run(struct search *s, struct lt_address_range run, struct lt_growing_list *arenas) {
  LT_CHECK(run.start < run.end);
  uint64_t at = lt_round_up(run.start, 8), first, last;
  while (at < run.end && run.end - at >= 16 && arenas->count < NAMESPACE_LIMIT) {
    struct lt_glibc_arena arena;
    bool isFound = lt_window_word(&s->data, at, &first) && first == at - 16 &&
                   lt_window_word(&s->data, at + 8, &last) && last == at - 16 && arena_of_bin(s, at, &arena);
    if (!isFound || has_arena(arenas, 0, arena.address)) {
      at += 8;
      continue;
    }
    lt_list_append(arenas, &arena);
    uint64_t behind = (lt_glibc_bins(&arena) + GLIBC_ARENA_BEHIND_BINS) & ~7ull;
    at = behind > at ? behind : at + 8;
  }
}

bool lt_glibc_find_arenas(const struct lt_allocator_memory *metadata, struct lt_growing_list *arenas, bool *hasBins) {
  struct search s = {.metadata = metadata};
  bool isWhole =
      lt_word_window_init(&s.data, metadata, DATA_WINDOW) && lt_word_window_init(&s.elsewhere, metadata, 4096);
  if (isWhole) {
    uint64_t left = DATA_LIMIT;
    for (uint32_t i = 0; i < metadata->dataCount && left; i++) {
      struct lt_address_range run = {0, metadata->data[i].start};
      while (left && lt_allocator_memory_next_present(metadata, run.end, metadata->data[i].end, &run)) {
        if (run.end - run.start > left) run.end = run.start + left;
        left -= run.end - run.start;
        search_run(&s, run, arenas);
      }
    }
    size_t mains = arenas->count;
    LT_CHECK(mains <= NAMESPACE_LIMIT);
    for (size_t i = 0; i < mains; i++) {
      // This is a copy, because the list moves when it grows.
      const struct lt_glibc_arena main = *(const struct lt_glibc_arena *)lt_list_item(arenas, i);
      isWhole &= follow_ring(&s, main.address, main.layout, arenas);
    }
  }
  *hasBins = s.hasBins;
  lt_word_window_free(&s.data);
  lt_word_window_free(&s.elsewhere);
  return isWhole && !arenas->isShort;
}
