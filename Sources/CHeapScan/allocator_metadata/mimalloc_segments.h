// Finds the segments of mimalloc 2.

#ifndef LEAKTRACE_MIMALLOC_SEGMENTS_H
#define LEAKTRACE_MIMALLOC_SEGMENTS_H

#include "allocator_metadata/mimalloc_page.h"

struct lt_mimalloc_segments {
  uint64_t variable;               ///< address of the variable with the number that all segments share; 0: no segments
  struct lt_growing_list segments; ///< uint64_t: addresses of segments with pages in use
  struct lt_growing_list delayed;  ///< uint64_t: blocks that other threads freed while the blocks' pages were full
  uint64_t odd;                    ///< segments left out because their data are contradictory
};

/// Finds segments at the addresses where a segment may begin. A variable of an image must hold the number that the
/// segments' cookies share. Keeps the segments of the first such variable. Returns how many different numbers such
/// variables hold, but at most 2. Call lt_mimalloc_segments_free in any case.
///
/// - `mapped`: the list from lt_mimalloc_find_mapped.
/// - Complexity: linear in the mappings, the data of images, the pages of segments, and the blocks in `delayed`.
uint64_t lt_mimalloc_segments_find(const struct lt_allocator_memory *metadata, const struct lt_growing_list *mapped,
                                   struct lt_mimalloc_segments *segments, bool *isShort);
void lt_mimalloc_segments_free(struct lt_mimalloc_segments *segments);

/// Adds all pages to `pages`, in order of address. Returns how many segments and pages were left out because their data
/// are contradictory.
///
/// - `freeBytes`: is increased by the bytes of segments that are in no page.
uint64_t lt_mimalloc_segments_walk(struct lt_mimalloc_segments *segments, struct lt_mimalloc_pages *pages,
                                   uint64_t *freeBytes, bool *isShort);

#endif
