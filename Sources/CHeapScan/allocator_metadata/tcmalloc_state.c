// Finds tcmalloc's variables. The central free lists are found first, since the head of an empty list refers to itself.
// The number of lists confirms the size classes, and the lists' spans confirm the page map. The size classes confirm
// the threads' caches.

#include "allocator_metadata/tcmalloc_state.h"

#include "allocator_metadata/image_data.h"
#include "allocator_metadata/tcmalloc_pages.h"
#include "check.h"

#include <string.h>

enum {
  SCAN_WINDOW = 64 << 10,
  PROBE_WINDOW = 8 << 10,
  /// tcmalloc has at least 46 classes. With fewer lists than this minimum, other data could match by chance.
  MIN_CLASSES = 16,
  /// The most spans that are used to check a page map. All of them must confirm it.
  PROOFS = 32,
};

/// A span in a central list, and its first page.
struct proof {
  uint64_t span, page;
};

/// The search in an image.
struct search {
  const struct lt_allocator_memory *metadata;
  struct lt_tcmalloc_state state; ///< variables found in the image so far
  struct lt_tcmalloc_pages pages;
  struct lt_word_window scan, probe;
  struct lt_address_range data; ///< of the image
  struct proof proofs[PROOFS];
  unsigned proofCount;
  uint64_t cacheScore; ///< score of the best list of caches
  uint64_t visitsLeft; ///< how many more caches may be visited; memory has no room for more
};

static void each_word(struct search *search, bool (*visit)(void *context, uint64_t at, uint64_t word)) {
  lt_window_each_word(&search->scan, search->data.start, search->data.end, visit, search);
}

// --- central free lists ----------------------------------------------------------------------------------------------

static bool is_list_head(struct lt_word_window *window, uint64_t head) {
  uint64_t start, length, next, previous;
  return lt_window_word(window, head + TCMALLOC_SPAN_START, &start) && start == 0 &&
         lt_window_word(window, head + TCMALLOC_SPAN_LENGTH, &length) && length == 0 &&
         lt_window_word(window, head + TCMALLOC_SPAN_NEXT, &next) && next && (next & 7) == 0 &&
         lt_window_word(window, head + TCMALLOC_SPAN_PREVIOUS, &previous) && previous && (previous & 7) == 0 &&
         (next == head) == (previous == head);
}

static bool is_central_list(struct lt_word_window *window, uint64_t list, unsigned sizeClass) {
  uint64_t class;
  uint32_t used, limit;
  return lt_window_word(window, list + TCMALLOC_CENTRAL_CLASS, &class) && class == sizeClass &&
         is_list_head(window, list + TCMALLOC_CENTRAL_EMPTY) &&
         is_list_head(window, list + TCMALLOC_CENTRAL_NONEMPTY) &&
         lt_window_half(window, list + TCMALLOC_CENTRAL_USED, &used) && used <= TCMALLOC_SLOTS &&
         lt_window_half(window, list + TCMALLOC_CENTRAL_SLOT_LIMIT, &limit) && limit - 1 < TCMALLOC_SLOTS;
}

static bool find_central(void *context, uint64_t at, uint64_t word) {
  struct search *search = context;
  // Class 0 has no spans, so the head of its list refers to itself.
  if (word != at - TCMALLOC_SPAN_NEXT) return true;
  uint64_t list = word - TCMALLOC_CENTRAL_EMPTY;
  unsigned count = 0;
  while (count < TCMALLOC_CLASSES &&
         is_central_list(&search->probe, list + (uint64_t)count * TCMALLOC_CENTRAL_BYTES, count))
    count++;
  if (count < MIN_CLASSES) return true;
  search->state.central = list;
  search->state.classes.count = count;
  return false;
}

// --- size classes ----------------------------------------------------------------------------------------------------

static bool read_classes(struct lt_word_window *window, uint64_t map, struct lt_tcmalloc_classes *classes) {
  for (unsigned c = 1; c < classes->count; c++) {
    if (!lt_window_half(window, map + TCMALLOC_MAP_BATCHES + 4 * c, &classes->batch[c]) ||
        !lt_window_half(window, map + TCMALLOC_MAP_SIZES + 4 * c, &classes->bytes[c]) ||
        !lt_window_word(window, map + TCMALLOC_MAP_PAGES + 8 * c, &classes->pages[c]))
      return false;
    uint32_t bytes = classes->bytes[c], most = bytes ? TCMALLOC_BATCH_BYTES / bytes : 0;
    if ((bytes & 7) || bytes <= classes->bytes[c - 1] || bytes > TCMALLOC_LARGEST ||
        classes->pages[c] >= LT_ALLOCATOR_ADDRESS_LIMIT >> TCMALLOC_PAGE_SHIFT ||
        classes->pages[c] << TCMALLOC_PAGE_SHIFT < bytes ||
        (classes->pages[c] << TCMALLOC_PAGE_SHIFT) / bytes > TCMALLOC_SPAN_OBJECT_LIMIT ||
        classes->batch[c] - 1 >= (most < 2 ? 2 : most))
      return false;
  }
  return classes->bytes[classes->count - 1] == TCMALLOC_LARGEST;
}

/// True if the table from size to class agrees with the classes.
static bool do_indexes_agree(struct lt_word_window *window, uint64_t map, const struct lt_tcmalloc_classes *classes) {
  for (unsigned i = 0; i < TCMALLOC_MAP_INDEXES; i++) {
    uint32_t half;
    if (!lt_window_half(window, (map + i) & ~3ull, &half)) return false;
    // Steps of 8 bytes up to 1 KiB, then of 128 bytes.
    uint64_t size = i <= 128 ? 8 * i : 128 * (i - 120);
    if ((half >> 8 * (i & 3) & 0xFF) != lt_tcmalloc_class_of(classes, size)) return false;
  }
  return true;
}

static bool find_classes(void *context, uint64_t at, uint64_t word) {
  struct search *search = context;
  struct lt_tcmalloc_classes *classes = &search->state.classes;
  if (word != classes->count) return true;
  for (uint64_t offset = TCMALLOC_MAP_COUNT; offset <= TCMALLOC_MAP_COUNT + 8; offset += 8) {
    classes->bytes[0] = 0;
    if (at >= offset && read_classes(&search->probe, at - offset, classes) &&
        do_indexes_agree(&search->probe, at - offset, classes))
      return false;
    classes->bytes[classes->count - 1] = 0;
  }
  return true;
}

// --- the page map ----------------------------------------------------------------------------------------------------

/// Adds the first span of a list to the proofs, if the list has one. Returns false if that span contradicts the list.
static bool add_proof(struct search *search, uint64_t head, unsigned sizeClass) {
  uint64_t next, previous;
  struct lt_tcmalloc_span span;
  if (!lt_window_word(&search->probe, head + TCMALLOC_SPAN_NEXT, &next)) return false;
  if (next == head || search->proofCount == PROOFS) return true;
  if (!lt_tcmalloc_read_span(&search->pages, next, &span) || span.sizeClass != sizeClass ||
      !lt_window_word(&search->pages.spans, next + TCMALLOC_SPAN_PREVIOUS, &previous) || previous != head)
    return false;
  search->proofs[search->proofCount++] = (struct proof){next, span.start};
  return true;
}

/// Collects spans of central lists. Each thread may have been stopped while it changed a list, so a few lists may be
/// odd.
static bool collect_proofs(struct search *search) {
  unsigned odd = 0;
  for (unsigned c = 1; c < search->state.classes.count; c++) {
    uint64_t list = search->state.central + (uint64_t)c * TCMALLOC_CENTRAL_BYTES, count;
    odd +=
        !add_proof(search, list + TCMALLOC_CENTRAL_EMPTY, c) || !add_proof(search, list + TCMALLOC_CENTRAL_NONEMPTY, c);
    if (lt_window_word(&search->probe, list + TCMALLOC_CENTRAL_SPANS, &count)) search->state.spanCount += count;
  }
  return search->proofCount > 0 && odd <= search->metadata->threadCount;
}

static bool is_confirmed(struct search *search, uint64_t root, const struct proof *proof) {
  uint64_t leaf, span;
  return lt_window_word(&search->probe, root + 8 * (proof->page >> TCMALLOC_LEAF_BITS), &leaf) &&
         lt_tcmalloc_may_own(search->metadata, leaf, TCMALLOC_LEAF_BYTES) &&
         lt_window_word(&search->pages.leaf, leaf + 8 * (proof->page & ((1ull << TCMALLOC_LEAF_BITS) - 1)), &span) &&
         span == proof->span;
}

static bool find_root(void *context, uint64_t at, uint64_t word) {
  struct search *search = context;
  uint64_t index = search->proofs[0].page >> TCMALLOC_LEAF_BITS;
  if (!lt_tcmalloc_may_own(search->metadata, word, TCMALLOC_LEAF_BYTES)) return true;
  uint64_t root = at - 8 * index;
  if (index >> TCMALLOC_ROOT_BITS || at < search->data.start + 8 * index ||
      root > search->data.end - TCMALLOC_ROOT_BYTES)
    return true;
  for (unsigned i = 0; i < search->proofCount; i++)
    if (!is_confirmed(search, root, &search->proofs[i])) return true;
  if (lt_tcmalloc_is_root(&search->pages, root)) search->state.root = root;
  return false;
}

/// Returns the address of PageHeap's statistics, which follow its lists of free spans. Returns 0 if the lists are not
/// where they should be.
static uint64_t find_statistics(struct search *search) {
  for (unsigned i = 0; i < sizeof lt_tcmalloc_set_bytes / sizeof *lt_tcmalloc_set_bytes; i++) {
    uint64_t head = search->state.root + TCMALLOC_HEAP_SETS + lt_tcmalloc_set_bytes[i];
    unsigned count = 0;
    while (count < 2 * TCMALLOC_HEAP_LENGTHS && is_list_head(&search->probe, head)) {
      head += TCMALLOC_SPAN_BYTES;
      count++;
    }
    if (count == 2 * TCMALLOC_HEAP_LENGTHS) return head;
  }
  return 0;
}

// --- threads' caches -------------------------------------------------------------------------------------------------

static void try_list(struct search *search, struct lt_tcmalloc_cache_list list) {
  struct lt_tcmalloc_state *state = &search->state;
  bool isWhole;
  if (list.first == state->caches.first && list.links == state->caches.links) return;
  uint64_t count = lt_tcmalloc_each_cache(&search->probe, &state->classes, &list, NULL, NULL, &isWhole);
  search->visitsLeft -= count < search->visitsLeft ? count : search->visitsLeft;
  // A deleted cache still has links, but no other cache refers back to it. So the longest list is chosen.
  if (count && 2 * count + isWhole > search->cacheScore) {
    search->cacheScore = 2 * count + isWhole;
    state->caches = list;
  }
}

static bool find_caches(void *context, uint64_t at, uint64_t word) {
  struct search *search = context;
  (void)at;
  const struct lt_tcmalloc_classes *classes = &search->state.classes;
  if (!lt_tcmalloc_is_cache(&search->probe, classes, word)) return true;
  for (unsigned i = 0; i < sizeof lt_tcmalloc_cache_links / sizeof *lt_tcmalloc_cache_links; i++) {
    uint64_t next, previous;
    struct lt_tcmalloc_cache_list list = {word, lt_tcmalloc_cache_links[i]};
    if (!lt_tcmalloc_read_links(&search->probe, word, list.links, &next, &previous)) continue;
    // A thread may have been stopped while it inserted its cache at the front of the list.
    if (previous && lt_tcmalloc_is_cache(&search->probe, classes, previous)) list.first = previous;
    try_list(search, list);
  }
  return search->visitsLeft > 0;
}

// --- images ----------------------------------------------------------------------------------------------------------

static void search_image(struct search *search, struct lt_tcmalloc_state *best) {
  search->state = (struct lt_tcmalloc_state){0};
  search->proofCount = 0;
  search->cacheScore = 0;
  search->visitsLeft = 0;
  for (uint32_t i = 0; i < search->metadata->regionCount; i++)
    search->visitsLeft +=
        (search->metadata->regions[i].end - search->metadata->regions[i].start) / TCMALLOC_CACHE_BYTES;
  if (search->data.end - search->data.start < TCMALLOC_ROOT_BYTES) return;
  each_word(search, find_central);
  if (!search->state.central) return;
  each_word(search, find_classes);
  if (search->state.classes.bytes[search->state.classes.count - 1] != TCMALLOC_LARGEST || !collect_proofs(search))
    return;
  each_word(search, find_root);
  if (!search->state.root) return;
  each_word(search, find_caches);
  if (!search->state.caches.first) return;
  search->state.statistics = find_statistics(search);
  unsigned copies = best->copies + 1;
  if (!best->copies || search->state.spanCount > best->spanCount) *best = search->state;
  best->copies = copies;
}

bool lt_tcmalloc_find_state(struct lt_tcmalloc_state *state, const struct lt_allocator_memory *metadata) {
  struct search search = {.metadata = metadata};
  *state = (struct lt_tcmalloc_state){0};
  bool hasRoom = lt_word_window_init(&search.scan, metadata, SCAN_WINDOW) &&
                 lt_word_window_init(&search.probe, metadata, PROBE_WINDOW) &&
                 lt_tcmalloc_pages_init(&search.pages, metadata, &search.state.classes);
  uint32_t region = 0;
  while (hasRoom && lt_image_data_next(metadata, &region, &search.data)) search_image(&search, state);
  lt_tcmalloc_pages_free(&search.pages);
  lt_word_window_free(&search.scan);
  lt_word_window_free(&search.probe);
  return state->copies > 0;
}
