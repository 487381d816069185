// The blocks of a process by mimalloc's metadata.

#ifndef LEAKTRACE_MIMALLOC_HEAP_H
#define LEAKTRACE_MIMALLOC_HEAP_H

#include "allocator_books/growing_list.h"
#include "allocator_books/mimalloc_map.h"
#include "allocator_books/mimalloc_segments.h"

/// The blocks and figures of mimalloc, read from its metadata.
///
/// mimalloc does not record where in a block an aligned allocation begins. For such an allocation, `walk` hands over
/// the block around it: `interiorBlocks` counts the blocks of pages that may have some.
struct lt_mimalloc_heap {
  uint64_t root;                ///< address of a variable of the allocator's image that proves it
  uint64_t blocks, blockBytes;  ///< live blocks
  uint64_t internalBlocks;      ///< mimalloc's data of threads that are in pages as blocks: left out
  uint64_t interiorBlocks;      ///< live blocks whose address may be below the one that the program has
  uint64_t cached, cachedBytes; ///< freed by other threads, and not yet collected by the owner
  uint64_t freeBytes;           ///< free blocks of pages
  uint64_t unusedBytes;         ///< room in pages for blocks that do not exist yet
  uint64_t freeSpanBytes;       ///< parts of segments without a page; 0 for mimalloc 3
  uint64_t pages, abandonedPages;
  uint64_t oddPages;   ///< pages and segments that contradict themselves: left out
  uint64_t allocators; ///< copies of mimalloc that have blocks; only the first one is read
  bool isShort;        ///< for lack of memory in the process that reads

  // The walk's own data.
  const struct lt_books_memory *books;
  struct lt_growing_list mapped;        ///< struct lt_address_range: mappings without gaps
  struct lt_mimalloc_map map;           ///< of mimalloc 3
  struct lt_mimalloc_segments segments; ///< of mimalloc 2
};

/// Finds the map of pages of mimalloc 3 or the segments of mimalloc 2, by their shape. False if the process has no
/// mimalloc of a layout that is known, or has one without blocks. Call lt_mimalloc_heap_free in any case.
///
/// - `books`: outlives `heap`.
/// - Complexity: linear in the data of images, in the map or the segments, and in the blocks that other threads freed.
bool lt_mimalloc_heap_find(struct lt_mimalloc_heap *heap, const struct lt_books_memory *books);

/// Hands over each live block, with the bytes that the program may use, in order of address, each once. Fills in the
/// figures. Linear in the blocks.
///
/// - `block`: may be NULL.
void lt_mimalloc_heap_walk(struct lt_mimalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context);

void lt_mimalloc_heap_free(struct lt_mimalloc_heap *heap);

#endif
