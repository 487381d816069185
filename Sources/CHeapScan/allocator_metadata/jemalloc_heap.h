// Finds the blocks of a process in the metadata of jemalloc.

#ifndef LEAKTRACE_JEMALLOC_HEAP_H
#define LEAKTRACE_JEMALLOC_HEAP_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/word_window.h"

/// The blocks and figures of jemalloc, read from its metadata in memory.
struct lt_jemalloc_heap {
  uint64_t root;                                ///< of the tree of extents
  const struct lt_jemalloc_tree_layout *layout; ///< of the tree of extents
  uint64_t blocks, blockBytes;                  ///< allocated blocks
  uint64_t cached, cachedBytes;                 ///< freed blocks in threads' caches
  uint64_t slabFreeBytes;                       ///< free regions of slabs
  uint64_t dirtyBytes;                          ///< pages that were freed and not yet returned to the kernel
  uint64_t muzzyBytes;                          ///< freed pages that the kernel may reclaim
  uint64_t retainedBytes;                       ///< address space that is kept without physical memory
  uint64_t caches;                              ///< number of threads' caches that were recognised
  uint64_t oddExtents;                          ///< extents left out because their records are contradictory
  bool isShort;                                 ///< the reading process lacked memory

  // The walk's own state.
  const struct lt_allocator_memory *metadata;
  struct lt_growing_list kept;   ///< addresses of blocks in caches
  struct lt_growing_list stacks; ///< struct lt_address_range: the memory of the caches' stacks
};

/// Finds the tree of extents, by the relations among its words, and the threads' caches. Returns false if the process
/// has no jemalloc with a known layout, or has not used it. Call lt_jemalloc_heap_free in either case.
///
/// - `metadata`: must outlive `heap`.
/// - Complexity: linear in the data of images, and the blocks in caches.
bool lt_jemalloc_heap_find(struct lt_jemalloc_heap *heap, const struct lt_allocator_memory *metadata);

/// Calls `block` once for each allocated block, with its usable bytes, in order of address. Fills in the figures.
/// Linear in the extents and the regions of slabs.
void lt_jemalloc_heap_walk(struct lt_jemalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context);

void lt_jemalloc_heap_free(struct lt_jemalloc_heap *heap);

#endif
