// Reads tcmalloc's heap. The page map leads to the spans. The blocks in use are the spans' objects that are in no free
// list and no cache.

#include "allocator_metadata/tcmalloc_heap.h"

#include "allocator_metadata/tcmalloc_pages.h"
#include "check.h"

#include <string.h>

enum {
  /// Nearly all spans of small objects fit into this window.
  OBJECT_WINDOW = 64 << 10,
  BIT_WORDS = TCMALLOC_SPAN_OBJECT_LIMIT / 64 + 1,
  /// The most objects that are examined for headers of the debugging variant.
  DEBUG_SAMPLES = 4096,
  /// If more than one object in this many has such a header, the heap belongs to the debugging variant. There, only
  /// freed objects have no header. In another heap, two words look like a header only by chance.
  DEBUG_OBJECTS_TO_A_HEADER = 16,
};

// --- objects of a span -----------------------------------------------------------------------------------------------

struct block_walk {
  struct lt_tcmalloc_heap *heap;
  void (*block)(void *context, uint64_t address, uint64_t size);
  void *context;
  struct lt_word_window objects, link; ///< `link` is for spans that do not fit into `objects`
  uint64_t *freeBits;                  ///< BIT_WORDS words: a bit for each object of a span
  size_t cursor;                       ///< in the list of cached blocks
};

static void report(struct block_walk *w, uint64_t address, uint64_t size) {
  w->heap->blocks++;
  w->heap->blockBytes += size;
  if (w->block) w->block(w->context, address, size);
}

/// Marks the free objects of a span, and returns their number. Stops where the list leaves the span or returns to a
/// marked object.
static uint64_t mark_free(struct block_walk *w, const struct lt_tcmalloc_span *span, uint64_t count, uint64_t size) {
  uint64_t start = lt_tcmalloc_span_address(span), marked = 0, next, object = span->objects;
  struct lt_word_window *window = lt_tcmalloc_span_bytes(span) <= w->objects.capacity ? &w->objects : &w->link;
  // Move the window to the start of the span. Then the window contains all links, whatever their order.
  if (object && start + lt_tcmalloc_span_bytes(span) > window->start + window->known)
    lt_word_window_move(window, start, &next);
  for (; object; object = next) {
    uint64_t index = (object - start) / size;
    if (object < start || index >= count || start + index * size != object) break;
    if (w->freeBits[index / 64] >> index % 64 & 1) break;
    if (!lt_window_word(window, object, &next)) break;
    w->freeBits[index / 64] |= 1ull << index % 64;
    marked++;
  }
  LT_CHECK(marked <= count);
  if (object) w->heap->brokenSpans++;
  if (marked + span->references != count) w->heap->oddCounts++;
  return marked;
}

/// True if a block is cached. Counts the cached blocks before it as stray.
static bool is_cached(struct block_walk *w, uint64_t address, unsigned sizeClass) {
  const struct lt_growing_list *cached = &w->heap->cachedBlocks;
  uint64_t number = lt_tcmalloc_cached(address, sizeClass);
  while (w->cursor < cached->count && lt_list_number(cached, w->cursor) < number) {
    w->cursor++;
    w->heap->strayBlocks++;
  }
  bool isCached = false;
  for (; w->cursor < cached->count && lt_list_number(cached, w->cursor) == number; w->cursor++) {
    // The block is in two lists.
    w->heap->strayBlocks += isCached;
    isCached = true;
  }
  return isCached;
}

static void visit_objects(struct block_walk *w, const struct lt_tcmalloc_span *span) {
  struct lt_tcmalloc_heap *heap = w->heap;
  uint64_t size = heap->state.classes.bytes[span->sizeClass], start = lt_tcmalloc_span_address(span);
  uint64_t count = lt_tcmalloc_span_bytes(span) / size;
  LT_CHECK(count <= TCMALLOC_SPAN_OBJECT_LIMIT);
  memset(w->freeBits, 0, (size_t)(count / 64 + 1) * sizeof *w->freeBits);
  heap->spanFreeBytes += size * mark_free(w, span, count, size);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t address = start + i * size;
    if (w->freeBits[i / 64] >> i % 64 & 1) continue;
    if (!is_cached(w, address, span->sizeClass)) {
      report(w, address, size);
      continue;
    }
    heap->cached++;
    heap->cachedBytes += size;
  }
}

/// Returns the usable bytes of a block that is a whole span. A sampled block has the size of its size class.
static uint64_t usable_bytes(struct block_walk *w, const struct lt_tcmalloc_span *span) {
  uint64_t bytes = lt_tcmalloc_span_bytes(span), asked;
  const struct lt_tcmalloc_classes *classes = &w->heap->state.classes;
  if (!span->isSampled || !lt_tcmalloc_may_own(w->heap->metadata, span->objects, sizeof asked) ||
      !lt_window_word(&w->link, span->objects, &asked) || asked > TCMALLOC_LARGEST)
    return bytes;
  uint64_t rounded = classes->bytes[lt_tcmalloc_class_of(classes, asked)];
  // The size class may be larger than the span.
  return asked <= bytes && rounded < bytes ? rounded : bytes;
}

static bool visit_span(void *context, const struct lt_tcmalloc_span *span) {
  struct block_walk *w = context;
  uint64_t bytes = lt_tcmalloc_span_bytes(span);
  w->heap->spanBytes += bytes;
  switch (span->location) {
    case TCMALLOC_FREE: w->heap->freeBytes += bytes; break;
    case TCMALLOC_RETURNED: w->heap->retainedBytes += bytes; break;
    default:
      if (span->sizeClass) visit_objects(w, span);
      else report(w, lt_tcmalloc_span_address(span), usable_bytes(w, span));
  }
  return true;
}

// --- the debugging variant -------------------------------------------------------------------------------------------

struct debug_check {
  struct lt_word_window *window;
  const struct lt_tcmalloc_classes *classes;
  unsigned objects, headers;
};

static bool sample_span(void *context, const struct lt_tcmalloc_span *span) {
  struct debug_check *check = context;
  uint64_t size = check->classes->bytes[span->sizeClass], magic, type;
  if (!span->sizeClass || size < TCMALLOC_DEBUG_BYTES) return true;
  uint64_t count = lt_tcmalloc_span_bytes(span) / size;
  for (uint64_t i = 0; i < count && check->objects < DEBUG_SAMPLES; i++) {
    uint64_t object = lt_tcmalloc_span_address(span) + i * size;
    if (!lt_window_word(check->window, object + TCMALLOC_DEBUG_MAGIC, &magic) ||
        !lt_window_word(check->window, object + TCMALLOC_DEBUG_TYPE, &type))
      break;
    // Memory that was never in use holds zeros.
    check->objects += magic != 0;
    check->headers += lt_tcmalloc_is_debug_header(magic, type);
  }
  return check->objects < DEBUG_SAMPLES;
}

/// True if tcmalloc is the debugging variant. Its blocks have headers, and freed blocks wait in a queue. So the
/// metadata alone does not say which blocks are in use.
static bool is_debugging(struct lt_tcmalloc_heap *heap) {
  struct lt_tcmalloc_pages pages;
  struct lt_word_window window = {0};
  struct debug_check check = {&window, &heap->state.classes, 0, 0};
  bool hasRoom = lt_tcmalloc_pages_init(&pages, heap->metadata, &heap->state.classes) &&
                 lt_word_window_init(&window, heap->metadata, LT_ALLOCATOR_PAGE);
  if (hasRoom) lt_tcmalloc_pages_walk(&pages, heap->state.root, sample_span, &check);
  else heap->isShort = true;
  lt_tcmalloc_pages_free(&pages);
  lt_word_window_free(&window);
  return check.headers > check.objects / DEBUG_OBJECTS_TO_A_HEADER;
}

// --- the heap --------------------------------------------------------------------------------------------------------

bool lt_tcmalloc_heap_find(struct lt_tcmalloc_heap *heap, const struct lt_allocator_memory *metadata) {
  memset(heap, 0, sizeof *heap);
  heap->metadata = metadata;
  lt_list_init(&heap->cachedBlocks, metadata->memory, sizeof(uint64_t));
  if (!lt_tcmalloc_find_state(&heap->state, metadata) || is_debugging(heap)) return false;
  if (!lt_tcmalloc_read_free_lists(&heap->state, metadata, &heap->cachedBlocks, &heap->lists)) heap->isShort = true;
  lt_list_sort(&heap->cachedBlocks);
  return true;
}

void lt_tcmalloc_heap_free(struct lt_tcmalloc_heap *heap) { lt_list_free(&heap->cachedBlocks); }

void lt_tcmalloc_heap_walk(struct lt_tcmalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context) {
  struct lt_tcmalloc_pages pages = {0};
  struct block_walk w = {.heap = heap, .block = block, .context = context};
  heap->blocks = heap->blockBytes = heap->cached = heap->cachedBytes = heap->spanFreeBytes = heap->freeBytes = 0;
  heap->retainedBytes = heap->oddSpans = heap->brokenSpans = heap->oddCounts = heap->strayBlocks = heap->systemBytes =
      heap->spanBytes = 0;
  w.freeBits = heap->metadata->memory->allocate(BIT_WORDS * sizeof *w.freeBits);
  bool hasRoom = w.freeBits && lt_tcmalloc_pages_init(&pages, heap->metadata, &heap->state.classes) &&
                 lt_word_window_init(&w.objects, heap->metadata, OBJECT_WINDOW) &&
                 lt_word_window_init(&w.link, heap->metadata, LT_ALLOCATOR_PAGE);
  if (hasRoom) {
    heap->oddSpans = lt_tcmalloc_pages_walk(&pages, heap->state.root, visit_span, &w);
    heap->strayBlocks += heap->cachedBlocks.count - w.cursor;
    if (heap->state.statistics) lt_window_word(&w.link, heap->state.statistics, &heap->systemBytes);
  } else {
    heap->isShort = true;
  }
  if (w.freeBits) heap->metadata->memory->release(w.freeBits, BIT_WORDS * sizeof *w.freeBits);
  lt_tcmalloc_pages_free(&pages);
  lt_word_window_free(&w.objects);
  lt_word_window_free(&w.link);
}

bool lt_tcmalloc_heap_is_incomplete(const struct lt_tcmalloc_heap *heap) {
  return heap->isShort || heap->state.copies > 1 || heap->oddSpans || heap->brokenSpans || heap->strayBlocks ||
         heap->lists.brokenLists || (heap->systemBytes && heap->systemBytes != heap->spanBytes);
}
