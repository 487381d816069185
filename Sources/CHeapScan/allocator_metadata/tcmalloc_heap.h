// Finds the blocks of a process in the metadata of tcmalloc.

#ifndef LEAKTRACE_TCMALLOC_HEAP_H
#define LEAKTRACE_TCMALLOC_HEAP_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/tcmalloc_free_lists.h"

/// The blocks and figures of gperftools tcmalloc, read from its metadata in memory.
struct lt_tcmalloc_heap {
  struct lt_tcmalloc_state state;
  struct lt_tcmalloc_free_lists lists;
  uint64_t blocks, blockBytes;  ///< blocks in use
  uint64_t cached, cachedBytes; ///< freed blocks in transfer caches and threads' caches
  uint64_t spanFreeBytes;       ///< free objects of spans that also have objects in use
  uint64_t freeBytes;           ///< pages that were freed and not returned to the kernel
  uint64_t retainedBytes;       ///< freed pages that were returned to the kernel: address space without physical memory
  uint64_t oddSpans;            ///< spans that were skipped because their records are contradictory
  uint64_t brokenSpans;         ///< spans with a link that leaves the span
  uint64_t oddCounts;           ///< spans whose number of free objects differs from the recorded number
  uint64_t strayBlocks;         ///< cached blocks that are in no span of their size class
  uint64_t systemBytes;         ///< bytes from the kernel by tcmalloc's own count; 0 if unknown
  uint64_t spanBytes;           ///< bytes of all spans
  bool isShort;                 ///< the reading process lacked memory

  // For the walk.
  const struct lt_allocator_memory *metadata;
  struct lt_growing_list cachedBlocks; ///< numbers from lt_tcmalloc_cached, in order of address
};

/// Finds tcmalloc's variables, by the relations among their words, and the blocks in caches. Returns false if the
/// process has no tcmalloc with a known layout. Also returns false if tcmalloc was not used yet, or is the debugging
/// variant. Call lt_tcmalloc_heap_free in either case.
///
/// - `metadata`: must outlive `heap`.
/// - Complexity: linear in the data of images; n log n in the blocks in caches.
bool lt_tcmalloc_heap_find(struct lt_tcmalloc_heap *heap, const struct lt_allocator_memory *metadata);

/// Calls `block` once for each block in use, with its usable size, in order of address. Fills in the figures.
///
/// - Complexity: linear in the page map and the objects of spans.
void lt_tcmalloc_heap_walk(struct lt_tcmalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context);

/// True if the walk may have missed blocks, or reported freed ones.
bool lt_tcmalloc_heap_is_incomplete(const struct lt_tcmalloc_heap *heap);

void lt_tcmalloc_heap_free(struct lt_tcmalloc_heap *heap);

#endif
