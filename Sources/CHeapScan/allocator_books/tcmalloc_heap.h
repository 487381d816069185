// The blocks of a process by tcmalloc's metadata.

#ifndef LEAKTRACE_TCMALLOC_HEAP_H
#define LEAKTRACE_TCMALLOC_HEAP_H

#include "allocator_books/growing_list.h"
#include "allocator_books/tcmalloc_free_lists.h"

/// The blocks and figures of gperftools tcmalloc, read from its metadata in memory.
struct lt_tcmalloc_heap {
  struct lt_tcmalloc_state state;
  struct lt_tcmalloc_free_lists lists;
  uint64_t blocks, blockBytes;  ///< in use
  uint64_t cached, cachedBytes; ///< freed, in transfer caches and threads' caches
  uint64_t spanFreeBytes;       ///< free objects of spans that have others in use
  uint64_t freeBytes;           ///< pages that were freed and not given back to the kernel
  uint64_t retainedBytes;       ///< freed pages that were given back: addresses without memory
  uint64_t oddSpans;            ///< spans whose records contradict each other: skipped
  uint64_t brokenSpans;         ///< spans with a link that leaves the span
  uint64_t oddCounts;           ///< spans whose number of free objects is not the recorded one
  uint64_t strayBlocks;         ///< cached blocks that no span of their class has
  uint64_t systemBytes;         ///< bytes from the kernel as tcmalloc counts them; 0 if not known
  uint64_t spanBytes;           ///< bytes of all spans
  bool isShort;                 ///< the reading process lacked memory

  // For the walk.
  const struct lt_books_memory *books;
  struct lt_growing_list cachedBlocks; ///< lt_tcmalloc_cached, in order
};

/// Finds tcmalloc's variables by their shape, and the blocks in caches. False if the process has no tcmalloc of a known
/// layout, if no image has used it, or if it is the debugging variant. The caller calls lt_tcmalloc_heap_free in any
/// case.
///
/// - `books`: must outlive `heap`.
/// - Complexity: linear in the data of images; n log n in the blocks in caches.
bool lt_tcmalloc_heap_find(struct lt_tcmalloc_heap *heap, const struct lt_books_memory *books);

/// Reports each block in use with its usable size, in order of address, each once. Fills in the figures.
///
/// - Complexity: linear in the page map and the objects of spans.
void lt_tcmalloc_heap_walk(struct lt_tcmalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context);

/// True if the walk may have missed blocks, or reported freed ones.
bool lt_tcmalloc_heap_is_incomplete(const struct lt_tcmalloc_heap *heap);

void lt_tcmalloc_heap_free(struct lt_tcmalloc_heap *heap);

#endif
