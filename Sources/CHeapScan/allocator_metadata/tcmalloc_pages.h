// Reads tcmalloc's page map.

#ifndef LEAKTRACE_TCMALLOC_PAGES_H
#define LEAKTRACE_TCMALLOC_PAGES_H

#include "allocator_metadata/tcmalloc_layout.h"
#include "allocator_metadata/word_window.h"

/// A run of pages.
struct lt_tcmalloc_span {
  uint64_t start, length; ///< in pages
  uint64_t objects;
  unsigned references; ///< number of objects that are not in the list `objects`
  unsigned sizeClass;  ///< 0 if the span is a single block
  unsigned location;   ///< TCMALLOC_IN_USE, TCMALLOC_FREE or TCMALLOC_RETURNED
  bool isSampled;
};

static inline uint64_t lt_tcmalloc_span_address(const struct lt_tcmalloc_span *span) {
  return span->start << TCMALLOC_PAGE_SHIFT;
}
static inline uint64_t lt_tcmalloc_span_bytes(const struct lt_tcmalloc_span *span) {
  return span->length << TCMALLOC_PAGE_SHIFT;
}

/// Reads page maps. Owns its windows.
struct lt_tcmalloc_pages {
  const struct lt_allocator_memory *metadata;
  const struct lt_tcmalloc_classes *classes; ///< for checks of spans
  struct lt_word_window root, leaf, spans;
};

/// Returns false if there is no memory. Call lt_tcmalloc_pages_free in either case.
///
/// - `classes`: must outlive `pages`.
bool lt_tcmalloc_pages_init(struct lt_tcmalloc_pages *pages, const struct lt_allocator_memory *metadata,
                            const struct lt_tcmalloc_classes *classes);
void lt_tcmalloc_pages_free(struct lt_tcmalloc_pages *pages);

/// True if a range may be memory that tcmalloc uses for itself: it is readable, and not a file's.
bool lt_tcmalloc_may_own(const struct lt_allocator_memory *metadata, uint64_t address, uint64_t bytes);

/// Reads a Span. Returns false if its fields contradict each other, the size classes or the mappings.
bool lt_tcmalloc_read_span(struct lt_tcmalloc_pages *pages, uint64_t address, struct lt_tcmalloc_span *span);

/// True if each word of a root is 0 or the address of a leaf, and no leaves overlap. Linear in the root.
bool lt_tcmalloc_is_root(struct lt_tcmalloc_pages *pages, uint64_t root);

/// Calls `visit` once for each span, in order of address, until `visit` returns false. Skips odd spans, and returns
/// their number. The record of an odd span contradicts the page map. A thread may have been about to change the span,
/// or memory may be damaged.
///
/// - `root`: must have passed lt_tcmalloc_is_root.
/// - Complexity: linear in the leaves.
uint64_t lt_tcmalloc_pages_walk(struct lt_tcmalloc_pages *pages, uint64_t root,
                                bool (*visit)(void *context, const struct lt_tcmalloc_span *span), void *context);

#endif
