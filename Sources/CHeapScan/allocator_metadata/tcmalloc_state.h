// Finds tcmalloc's variables in an image's data.

#ifndef LEAKTRACE_TCMALLOC_STATE_H
#define LEAKTRACE_TCMALLOC_STATE_H

#include "allocator_metadata/tcmalloc_layout.h"
#include "allocator_metadata/tcmalloc_threads.h"
#include "allocator_metadata/word_window.h"

/// Addresses of tcmalloc's variables, and its size classes.
struct lt_tcmalloc_state {
  struct lt_tcmalloc_classes classes;
  uint64_t central;   ///< CentralFreeList of class 0
  uint64_t spanCount; ///< number of spans of small objects
  uint64_t root;      ///< of the page map
  struct lt_tcmalloc_cache_list caches;
  uint64_t statistics; ///< of PageHeap; 0 if not found
  unsigned copies;     ///< number of images that have a tcmalloc in use
};

/// Finds the variables in the images' data by the relations among their words, and checks each variable against the
/// others. If several images have a tcmalloc in use, chooses the one with the most spans. Returns false if there is
/// none.
///
/// - Complexity: linear in the data of images.
bool lt_tcmalloc_find_state(struct lt_tcmalloc_state *state, const struct lt_allocator_memory *metadata);

#endif
