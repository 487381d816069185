// Reads tcmalloc's page map: a root, leaves, and the spans that the leaves refer to.

#include "allocator_metadata/tcmalloc_pages.h"

#include "allocator_metadata/growing_list.h"
#include "check.h"

#include <string.h>

enum {
  TABLE_WINDOW = 64 << 10,
  /// The record of the next span is often near.
  SPAN_WINDOW = 8 << 10,
};

bool lt_tcmalloc_pages_init(struct lt_tcmalloc_pages *pages, const struct lt_allocator_memory *metadata,
                            const struct lt_tcmalloc_classes *classes) {
  memset(pages, 0, sizeof *pages);
  pages->metadata = metadata;
  pages->classes = classes;
  return lt_word_window_init(&pages->root, metadata, TABLE_WINDOW) &&
         lt_word_window_init(&pages->leaf, metadata, TABLE_WINDOW) &&
         lt_word_window_init(&pages->spans, metadata, SPAN_WINDOW);
}

void lt_tcmalloc_pages_free(struct lt_tcmalloc_pages *pages) {
  if (!pages->metadata) return;
  lt_word_window_free(&pages->root);
  lt_word_window_free(&pages->leaf);
  lt_word_window_free(&pages->spans);
}

bool lt_tcmalloc_may_own(const struct lt_allocator_memory *metadata, uint64_t address, uint64_t bytes) {
  if ((address & 7) || address < LT_ALLOCATOR_PAGE || address >= LT_ALLOCATOR_ADDRESS_LIMIT) return false;
  const struct lt_snapshot_region *region = lt_allocator_memory_region(metadata, address);
  return region && (region->kind == LT_REGION_ANONYMOUS || region->kind == LT_REGION_BREAK) &&
         (region->flags & LT_REGION_CAPTURED) && region->end - address >= bytes;
}

/// True if regions cover a range without a gap, and the first region is readable.
static bool is_mapped(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end) {
  const struct lt_snapshot_region *region = lt_allocator_memory_region(metadata, start);
  if (!region || !(region->flags & LT_REGION_CAPTURED)) return false;
  for (; region->end < end; region++)
    if (region + 1 == metadata->regions + metadata->regionCount || region[1].start != region->end) return false;
  return true;
}

bool lt_tcmalloc_read_span(struct lt_tcmalloc_pages *pages, uint64_t address, struct lt_tcmalloc_span *span) {
  struct lt_word_window *window = &pages->spans;
  uint64_t bits;
  if (!lt_tcmalloc_may_own(pages->metadata, address, TCMALLOC_SPAN_BYTES) ||
      !lt_window_word(window, address + TCMALLOC_SPAN_START, &span->start) ||
      !lt_window_word(window, address + TCMALLOC_SPAN_LENGTH, &span->length) ||
      !lt_window_word(window, address + TCMALLOC_SPAN_OBJECTS, &span->objects) ||
      !lt_window_word(window, address + TCMALLOC_SPAN_BITS, &bits))
    return false;
  span->references = bits & TCMALLOC_REFERENCES_MASK;
  span->sizeClass = bits >> TCMALLOC_CLASS_SHIFT & TCMALLOC_CLASS_MASK;
  span->location = bits >> TCMALLOC_LOCATION_SHIFT & TCMALLOC_LOCATION_MASK;
  span->isSampled = bits >> TCMALLOC_SAMPLED_SHIFT & 1;
  const uint64_t limit = LT_ALLOCATOR_ADDRESS_LIMIT >> TCMALLOC_PAGE_SHIFT;
  if (span->start == 0 || span->start >= limit || span->length == 0 || span->length > limit - span->start) return false;
  if (span->location > TCMALLOC_RETURNED || span->sizeClass >= pages->classes->count) return false;
  if (span->sizeClass && (span->location != TCMALLOC_IN_USE || span->length != pages->classes->pages[span->sizeClass]))
    return false;
  uint64_t first = lt_tcmalloc_span_address(span);
  return is_mapped(pages->metadata, first, first + lt_tcmalloc_span_bytes(span));
}

struct root_check {
  const struct lt_allocator_memory *metadata;
  struct lt_growing_list leaves;
};

static bool add_leaf(void *context, uint64_t address, uint64_t leaf) {
  struct root_check *check = context;
  (void)address;
  return lt_tcmalloc_may_own(check->metadata, leaf, TCMALLOC_LEAF_BYTES) && lt_list_append(&check->leaves, &leaf);
}

bool lt_tcmalloc_is_root(struct lt_tcmalloc_pages *pages, uint64_t root) {
  struct root_check check = {.metadata = pages->metadata};
  lt_list_init(&check.leaves, pages->metadata->memory, sizeof(uint64_t));
  bool isRoot =
      lt_window_each_word(&pages->root, root, root + TCMALLOC_ROOT_BYTES, add_leaf, &check) && check.leaves.count > 0;
  lt_list_sort(&check.leaves);
  // Leaves must not overlap, so that the size of the memory limits the time of a walk.
  for (size_t i = 1; i < check.leaves.count && isRoot; i++)
    isRoot = lt_list_number(&check.leaves, i) - lt_list_number(&check.leaves, i - 1) >= TCMALLOC_LEAF_BYTES;
  lt_list_free(&check.leaves);
  return isRoot;
}

struct walk {
  struct lt_tcmalloc_pages *pages;
  uint64_t root, leaf;
  uint64_t firstPage; ///< of the leaf
  uint64_t end;       ///< the page after the previous span
  uint64_t odd;
  bool (*visit)(void *context, const struct lt_tcmalloc_span *span);
  void *context;
};

static bool visit_page(void *context, uint64_t address, uint64_t word) {
  struct walk *walk = context;
  uint64_t page = walk->firstPage + (address - walk->leaf) / 8;
  struct lt_tcmalloc_span span;
  // Inside a span, the page map may still refer to older spans that were merged into it.
  if (page < walk->end) return true;
  if (!lt_tcmalloc_read_span(walk->pages, word, &span) || span.start != page) {
    walk->odd++;
    return true;
  }
  walk->end = page + span.length;
  LT_CHECK(walk->end > page);
  return walk->visit(walk->context, &span);
}

static bool visit_leaf(void *context, uint64_t address, uint64_t leaf) {
  struct walk *walk = context;
  if (!lt_tcmalloc_may_own(walk->pages->metadata, leaf, TCMALLOC_LEAF_BYTES)) {
    walk->odd++;
    return true;
  }
  walk->leaf = leaf;
  walk->firstPage = (address - walk->root) / 8 << TCMALLOC_LEAF_BITS;
  return lt_window_each_word(&walk->pages->leaf, leaf, leaf + TCMALLOC_LEAF_BYTES, visit_page, walk);
}

uint64_t lt_tcmalloc_pages_walk(struct lt_tcmalloc_pages *pages, uint64_t root,
                                bool (*visit)(void *context, const struct lt_tcmalloc_span *span), void *context) {
  struct walk walk = {.pages = pages, .root = root, .visit = visit, .context = context};
  LT_CHECK(root);
  lt_window_each_word(&pages->root, root, root + TCMALLOC_ROOT_BYTES, visit_leaf, &walk);
  return walk.odd;
}
