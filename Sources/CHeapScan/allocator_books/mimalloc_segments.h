// The segments of mimalloc 2.

#ifndef LEAKTRACE_MIMALLOC_SEGMENTS_H
#define LEAKTRACE_MIMALLOC_SEGMENTS_H

#include "allocator_books/mimalloc_page.h"

struct lt_mimalloc_segments {
  uint64_t variable;               ///< address of the variable that all segments refer to; 0 if there are none
  struct lt_growing_list segments; ///< uint64_t: addresses of segments with pages in use
  struct lt_growing_list delayed;  ///< uint64_t: blocks that other threads freed while their pages were full
  uint64_t odd;                    ///< segments that contradict themselves: left out
};

/// Finds segments by their shape where they may begin, and proves them by a variable of an image. Returns how many such
/// variables there are. Keeps the segments that belong to the first. Call lt_mimalloc_segments_free in any case.
///
/// - `mapped`: of lt_mimalloc_find_mapped.
/// - Complexity: linear in the mappings, the data of images, the pages of segments, and the blocks in `delayed`.
uint64_t lt_mimalloc_segments_find(const struct lt_books_memory *books, const struct lt_growing_list *mapped,
                                   struct lt_mimalloc_segments *segments, bool *isShort);
void lt_mimalloc_segments_free(struct lt_mimalloc_segments *segments);

/// Adds all pages to `pages`, in order of address. Returns how many segments and pages were left out since they
/// contradict themselves.
///
/// - `freeBytes`: is increased by the bytes of segments that no page has.
uint64_t lt_mimalloc_segments_walk(struct lt_mimalloc_segments *segments, struct lt_mimalloc_pages *pages,
                                   uint64_t *freeBytes, bool *isShort);

#endif
