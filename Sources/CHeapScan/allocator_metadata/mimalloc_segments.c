// Finds mimalloc's segments by their cookies. A cookie is the segment's own address, XORed with a number that a
// variable of an image holds.

#include "allocator_metadata/mimalloc_segments.h"

#include "allocator_metadata/image_data.h"
#include "allocator_metadata/mimalloc_layout.h"

#include <string.h>

enum {
  /// The bytes of a segment's own data, rounded up to whole pages.
  SEGMENT_WINDOW = 48 << 10,
  WINDOW = 64 << 10,
};

/// A segment's header.
struct segment {
  uint64_t address, used, cookie, count, info, kind, entries, thread;
};

/// A possible segment. Its number is its address XORed with its cookie; all segments of an allocator have the same
/// number.
struct candidate {
  uint64_t address, number;
};

static bool read_segment(struct lt_word_window *window, uint64_t address, struct segment *segment) {
  uint64_t first;
  segment->address = address;
  // Reading the first word moves the window to the start of the segment.
  if (!lt_window_word(window, address, &first) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_USED, &segment->used) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_COOKIE, &segment->cookie) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_COUNT, &segment->count) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_INFO, &segment->info) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_KIND, &segment->kind) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_ENTRIES, &segment->entries) ||
      !lt_window_word(window, address + MIMALLOC_SEGMENT_THREAD, &segment->thread))
    return false;
  segment->kind &= UINT32_MAX;
  bool isNormal = segment->kind == MIMALLOC_SEGMENT_NORMAL;
  return segment->entries <= MIMALLOC_SEGMENT_SLICE_LIMIT && segment->info > 0 && segment->info < segment->entries &&
         segment->count >= segment->entries && segment->count < LT_ALLOCATOR_ADDRESS_LIMIT >> MIMALLOC_SLICE_SHIFT &&
         segment->address < LT_ALLOCATOR_ADDRESS_LIMIT - (segment->count << MIMALLOC_SLICE_SHIFT) &&
         (isNormal || segment->kind == MIMALLOC_SEGMENT_HUGE) && (!isNormal || segment->count == segment->entries) &&
         segment->used < segment->entries && (segment->thread & 7) == 0 && segment->cookie != 0;
}

static uint64_t segment_bytes(const struct segment *segment) { return segment->count << MIMALLOC_SLICE_SHIFT; }

/// A page of a segment, or a free span.
struct span {
  uint64_t slices;
  uint32_t blockBytes; ///< the value in the page's metadata: 0 if the span is free
  struct lt_mimalloc_page page;
  uint64_t heap;
};

static bool read_span(struct lt_word_window *window, const struct segment *segment, uint64_t index, struct span *span) {
  uint64_t at = segment->address + MIMALLOC_SEGMENT_SLICES + index * MIMALLOC_SLICE_BYTES, bits, used, counts;
  struct lt_mimalloc_page *page = &span->page;
  memset(span, 0, sizeof *span);
  LT_CHECK(index < MIMALLOC_SEGMENT_SLICE_LIMIT);
  if (!lt_window_word(window, at + MIMALLOC_SLICE_COUNTS, &counts) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_BITS, &bits) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_FREE, &page->free) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_USED, &used) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_LOCAL_FREE, &page->localFree) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_THREAD_FREE, &page->threadFree) ||
      !lt_window_word(window, at + MIMALLOC_SLICE_HEAP, &span->heap))
    return false;
  // The first slice of a page holds the page's number of slices. Its upper half, the distance from the first slice, is
  // 0.
  span->slices = counts & UINT32_MAX;
  if (counts >> 32 || !span->slices || span->slices > segment->count - index) return false;
  span->blockBytes = (uint32_t)(used >> 32);
  page->used = (uint32_t)used;
  page->capacity = (uint16_t)(bits >> MIMALLOC_SLICE_CAPACITY_SHIFT);
  page->reserved = (uint16_t)(bits >> MIMALLOC_SLICE_RESERVED_SHIFT);
  page->hasInterior = bits >> MIMALLOC_SLICE_FLAGS_SHIFT & MIMALLOC_HAS_ALIGNED;
  page->threadFree &= ~(uint64_t)MIMALLOC_THREAD_FREE_BITS;
  page->isAbandoned = segment->thread == 0;
  page->start = segment->address + (index << MIMALLOC_SLICE_SHIFT);
  page->blockBytes = span->blockBytes;
  uint64_t room = span->slices << MIMALLOC_SLICE_SHIFT, offset = 0;
  if (page->blockBytes >= 8 && page->blockBytes <= MIMALLOC_SMALL_OFFSET_LIMIT) offset = MIMALLOC_SMALL_OFFSET;
  if (page->blockBytes >= MIMALLOC_HUGE_BLOCK) page->blockBytes = room;
  page->start += offset;
  // In a page that is not in use yet, `reserved` is 0.
  return span->blockBytes <= MIMALLOC_SLICE_IS_CLEARED || !page->reserved ||
         page->reserved == (room - offset) / page->blockBytes;
}

/// Calls `visit` for each page and free span of a segment, except for the segment's own data. Returns false if these do
/// not fill the segment, or if `visit` returns false.
static bool each_span(struct lt_word_window *window, const struct segment *segment,
                      bool (*visit)(void *context, const struct segment *segment, const struct span *span),
                      void *context) {
  uint64_t index = 0;
  while (index < segment->entries) {
    struct span span;
    if (!read_span(window, segment, index, &span)) return false;
    if (index == 0 ? span.slices != segment->info : !visit(context, segment, &span)) return false;
    index += span.slices;
  }
  // The page of a huge segment has more slices than the table has entries.
  return segment->kind == MIMALLOC_SEGMENT_HUGE || index == segment->entries;
}

static bool is_in_use(const struct span *span) {
  return span->blockBytes > MIMALLOC_SLICE_IS_CLEARED && span->page.capacity > 0;
}

// --- segments --------------------------------------------------------------------------------------------------------

struct search {
  const struct lt_allocator_memory *metadata;
  const struct lt_growing_list *mapped;
  struct lt_mimalloc_segments *segments;
  struct lt_word_window window, heap;
  struct lt_growing_list candidates; ///< struct candidate, in order of address
  struct lt_growing_list numbers;    ///< uint64_t: the candidates' numbers, in order
  struct lt_growing_list heaps;      ///< uint64_t: heaps that own pages
  uint64_t number, variable;         ///< of the segments that are read
  uint64_t variables;                ///< how many different numbers were found in variables
  uint64_t capacity;                 ///< blocks of all pages
};

static bool check_span(void *context, const struct segment *segment, const struct span *span) {
  const struct search *search = context;
  (void)segment;
  return !is_in_use(span) || lt_mimalloc_page_is_sound(search->mapped, &span->page);
}

/// Appends the candidates in a region. A segment begins at a multiple of its size.
static void find_candidates(struct search *search, const struct lt_snapshot_region *region) {
  uint64_t step = 1ull << MIMALLOC_SEGMENT_SHIFT;
  // Skip the kernel's page, at whose end addresses overflow.
  if ((region->end - 1) >> LT_SCANNED_ADDRESS_BITS) return;
  for (uint64_t at = lt_round_up(region->start, step); at < region->end; at += step) {
    struct segment segment;
    struct lt_address_range run;
    uint64_t cookie;
    if (!lt_allocator_memory_next_present(search->metadata, at, at + MIMALLOC_SEGMENT_SLICES, &run) ||
        run.start != at || !lt_window_word(&search->window, at, &cookie) ||
        !lt_window_word(&search->window, at + MIMALLOC_SEGMENT_COOKIE, &cookie) || !cookie)
      continue;
    struct candidate candidate = {at, at ^ cookie};
    lt_list_append(&search->candidates, &candidate);
    if (read_segment(&search->window, at, &segment) && segment.used &&
        each_span(&search->window, &segment, check_span, search))
      lt_list_append(&search->numbers, &candidate.number);
  }
}

static bool find_number(void *context, uint64_t address, uint64_t word) {
  struct search *search = context;
  if (!lt_list_has(&search->numbers, word)) return true;
  if (!search->variables) {
    search->number = word;
    search->variable = address;
  } else if (word == search->number) {
    return true;
  }
  search->variables++;
  return search->variables < 2;
}

/// Keeps the candidates that have the allocator's number. A candidate inside a segment is memory of the program.
static void keep_segments(struct search *search) {
  struct lt_mimalloc_segments *segments = search->segments;
  uint64_t end = 0;
  for (size_t i = 0; i < search->candidates.count; i++) {
    const struct candidate *candidate = lt_list_item(&search->candidates, i);
    struct segment segment;
    if (candidate->number != search->number || candidate->address < end) continue;
    if (!read_segment(&search->window, candidate->address, &segment)) {
      segments->odd++;
      continue;
    }
    // The header of a freed segment may still be in memory.
    if (!segment.used) continue;
    lt_list_append(&segments->segments, &candidate->address);
    end = candidate->address + segment_bytes(&segment);
  }
}

// --- blocks that other threads freed ---------------------------------------------------------------------------------

static bool note_heap(void *context, const struct segment *segment, const struct span *span) {
  struct search *search = context;
  uint64_t owner;
  if (!is_in_use(span)) return true;
  search->capacity += span->page.capacity;
  // Adjacent pages often belong to the same heap, which is added once.
  size_t count = search->heaps.count;
  if (!span->heap || (count && lt_list_number(&search->heaps, count - 1) == span->heap)) return true;
  if (!lt_window_word(&search->heap, span->heap + MIMALLOC_HEAP_THREAD, &owner) || owner != segment->thread)
    return true;
  lt_list_append(&search->heaps, &span->heap);
  return true;
}

/// Appends the blocks of a heap's list. Stops when the list has more blocks than exist, because such a list is damaged.
static void read_delayed(struct search *search, uint64_t heap) {
  uint64_t block;
  if (!lt_window_word(&search->heap, heap + MIMALLOC_HEAP_DELAYED, &block)) return;
  while (block && search->segments->delayed.count < search->capacity) {
    lt_list_append(&search->segments->delayed, &block);
    if (!lt_window_word(&search->heap, block, &block)) return;
  }
}

static void find_delayed(struct search *search) {
  struct lt_mimalloc_segments *segments = search->segments;
  for (size_t i = 0; i < segments->segments.count; i++) {
    struct segment segment;
    if (read_segment(&search->window, lt_list_number(&segments->segments, i), &segment))
      each_span(&search->window, &segment, note_heap, search);
  }
  lt_list_sort(&search->heaps);
  for (size_t i = 0; i < search->heaps.count; i++) {
    uint64_t heap = lt_list_number(&search->heaps, i);
    if (i == 0 || heap != lt_list_number(&search->heaps, i - 1)) read_delayed(search, heap);
  }
  lt_list_sort(&segments->delayed);
}

uint64_t lt_mimalloc_segments_find(const struct lt_allocator_memory *metadata, const struct lt_growing_list *mapped,
                                   struct lt_mimalloc_segments *segments, bool *isShort) {
  struct search search = {.metadata = metadata, .mapped = mapped, .segments = segments};
  struct lt_word_window data = {0};
  memset(segments, 0, sizeof *segments);
  lt_list_init(&segments->segments, metadata->memory, sizeof(uint64_t));
  lt_list_init(&segments->delayed, metadata->memory, sizeof(uint64_t));
  lt_list_init(&search.candidates, metadata->memory, sizeof(struct candidate));
  lt_list_init(&search.numbers, metadata->memory, sizeof(uint64_t));
  lt_list_init(&search.heaps, metadata->memory, sizeof(uint64_t));
  bool hasRoom = lt_word_window_init(&search.window, metadata, SEGMENT_WINDOW) &&
                 lt_word_window_init(&search.heap, metadata, LT_ALLOCATOR_PAGE) &&
                 lt_word_window_init(&data, metadata, WINDOW);
  for (uint32_t i = 0; hasRoom && i < metadata->regionCount; i++) {
    const struct lt_snapshot_region *region = &metadata->regions[i];
    if (region->kind == LT_REGION_ANONYMOUS && (region->flags & LT_REGION_CAPTURED)) find_candidates(&search, region);
  }
  lt_list_sort(&search.numbers);
  if (hasRoom && search.numbers.count) lt_image_data_each(metadata, &data, find_number, &search);
  segments->variable = search.variable;
  if (search.variables) {
    keep_segments(&search);
    find_delayed(&search);
  }
  if (!hasRoom || search.candidates.isShort || search.numbers.isShort || search.heaps.isShort ||
      segments->segments.isShort || segments->delayed.isShort)
    *isShort = true;
  lt_list_free(&search.candidates);
  lt_list_free(&search.numbers);
  lt_list_free(&search.heaps);
  if (search.window.metadata) lt_word_window_free(&search.window);
  if (search.heap.metadata) lt_word_window_free(&search.heap);
  if (data.metadata) lt_word_window_free(&data);
  return search.variables;
}

void lt_mimalloc_segments_free(struct lt_mimalloc_segments *segments) {
  if (segments->segments.memory) lt_list_free(&segments->segments);
  if (segments->delayed.memory) lt_list_free(&segments->delayed);
}

struct walk {
  struct lt_mimalloc_pages *pages;
  uint64_t odd, freeBytes;
};

static bool visit_span(void *context, const struct segment *segment, const struct span *span) {
  struct walk *walk = context;
  (void)segment;
  if (!is_in_use(span)) walk->freeBytes += span->slices << MIMALLOC_SLICE_SHIFT;
  else if (lt_mimalloc_page_is_sound(walk->pages->mapped, &span->page)) lt_mimalloc_pages_add(walk->pages, &span->page);
  else walk->odd++;
  return true;
}

uint64_t lt_mimalloc_segments_walk(struct lt_mimalloc_segments *segments, struct lt_mimalloc_pages *pages,
                                   uint64_t *freeBytes, bool *isShort) {
  struct walk walk = {.pages = pages};
  struct lt_word_window window;
  pages->delayed = &segments->delayed;
  if (!lt_word_window_init(&window, pages->metadata, SEGMENT_WINDOW)) {
    *isShort = true;
    return 0;
  }
  for (size_t i = 0; i < segments->segments.count; i++) {
    struct segment segment;
    if (!read_segment(&window, lt_list_number(&segments->segments, i), &segment) ||
        !each_span(&window, &segment, visit_span, &walk))
      walk.odd++;
  }
  lt_word_window_free(&window);
  *freeBytes += walk.freeBytes;
  return walk.odd + segments->odd;
}
