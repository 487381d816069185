// Finds the blocks of a process in the metadata of mimalloc.

#ifndef LEAKTRACE_MIMALLOC_HEAP_H
#define LEAKTRACE_MIMALLOC_HEAP_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/mimalloc_map.h"
#include "allocator_metadata/mimalloc_segments.h"

/// The blocks and figures of mimalloc, read from its metadata.
///
/// mimalloc does not record where in a block an aligned allocation begins. For such an allocation,
/// lt_mimalloc_heap_walk passes on the block that contains it. `interiorBlocks` counts the blocks that may contain one.
struct lt_mimalloc_heap {
  uint64_t root;                ///< address of the variable that led to the allocator's data
  uint64_t blocks, blockBytes;  ///< live blocks
  uint64_t internalBlocks;      ///< blocks that hold mimalloc's own data about threads; left out
  uint64_t interiorBlocks;      ///< live blocks that may begin before the address that the program got
  uint64_t cached, cachedBytes; ///< blocks that other threads freed and the owner has not collected yet
  uint64_t freeBytes;           ///< free blocks of pages
  uint64_t unusedBytes;         ///< room in pages for blocks that do not exist yet
  uint64_t freeSpanBytes;       ///< parts of segments without a page; 0 for mimalloc 3
  uint64_t pages, abandonedPages;
  uint64_t oddPages;   ///< pages and segments left out because their data are contradictory
  uint64_t allocators; ///< number of copies of mimalloc that have blocks; only the first copy is read
  bool isShort;        ///< the reading process lacked memory

  // The walk's own data.
  const struct lt_allocator_memory *metadata;
  struct lt_growing_list mapped;        ///< struct lt_address_range: adjacent mappings, merged
  struct lt_mimalloc_map map;           ///< of mimalloc 3
  struct lt_mimalloc_segments segments; ///< of mimalloc 2
};

/// Finds mimalloc 3 by its map of pages, or mimalloc 2 by its segments. Returns false if the process has no mimalloc
/// with a known layout, or if mimalloc has no blocks. Call lt_mimalloc_heap_free in either case.
///
/// - `metadata`: must outlive `heap`.
/// - Complexity: linear in the data of images, in the map or the segments, and in the blocks that other threads freed.
bool lt_mimalloc_heap_find(struct lt_mimalloc_heap *heap, const struct lt_allocator_memory *metadata);

/// Calls `block` once for each live block, with the bytes that the program may use, in order of address. Fills in the
/// figures. Linear in the blocks.
///
/// - `block`: may be NULL.
void lt_mimalloc_heap_walk(struct lt_mimalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context);

void lt_mimalloc_heap_free(struct lt_mimalloc_heap *heap);

#endif
