// Finds the blocks of a process in the metadata of glibc's allocator.

#ifndef LEAKTRACE_GLIBC_HEAP_H
#define LEAKTRACE_GLIBC_HEAP_H

#include "allocator_metadata/glibc_arenas.h"
#include "allocator_metadata/malloc_parameters.h"

/// The state of glibc's allocator, read from its metadata in memory.
struct lt_glibc_heap {
  struct lt_growing_list arenas; ///< struct lt_glibc_arena, main arenas first
  /// The parameters of the first libc; `address` is 0 if they are unknown.
  struct lt_malloc_parameters parameters;
  uint64_t blocks, blockBytes; ///< all allocated blocks, including mapped ones, and their usable bytes
  uint64_t mapped, mappedBytes;
  /// The number of mapped blocks by the allocators' own counts; LT_GLIBC_UNKNOWN if a count is unknown.
  uint64_t mappedByCount;
  uint64_t caches; ///< number of threads' caches that were recognised
  /// No thread's cache was recognised, although the glibc release has such caches or is unknown. Freed blocks may count
  /// as allocated.
  bool areCachesUnread;
  /// The random number that glibc stores in the second word of each cached block, and of no other block. 0 if the
  /// number is unknown, and before glibc 2.43.
  uint64_t cacheKey;
  int32_t failure; ///< LT_METADATA_… or ENOMEM if lt_glibc_heap_find found nothing; otherwise 0
  /// The places where a chunk does not lead to another chunk, and the bytes that were skipped there.
  uint64_t breaks, skippedBytes;
  bool isIncomplete; ///< some memory of the allocator was not found
  bool isShort;      ///< the reading process lacked memory

  // The walk's own state.
  const struct lt_allocator_memory *metadata;
  struct lt_growing_list pieces, kept, mappedChunks;
};
#define LT_GLIBC_UNKNOWN UINT64_MAX

/// Finds arenas, their memory, and freed blocks that their neighbours record as in use. Returns false if the process
/// has no glibc allocator, or has not used it. Call lt_glibc_heap_free in either case.
///
/// - `metadata`: must outlive `heap`.
/// - Complexity: linear in the memory of the allocator and the pages of anonymous memory. Takes 16 bytes of memory for
/// each block in caches and fast bins, and memory for mapped blocks.
bool lt_glibc_heap_find(struct lt_glibc_heap *heap, const struct lt_allocator_memory *metadata);

/// Walks all chunks again, and calls `block` once for each allocated block, in order of address. Passes the address
/// that malloc returned, and the usable bytes (malloc_usable_size). Fills in the figures of the heap and of its arenas.
/// Linear in the memory of the allocator.
void lt_glibc_heap_walk(struct lt_glibc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                        void *context);

void lt_glibc_heap_free(struct lt_glibc_heap *heap);

static inline const struct lt_glibc_arena *lt_glibc_heap_arena(const struct lt_glibc_heap *heap, uint64_t index) {
  return index < heap->arenas.count ? lt_list_item(&heap->arenas, index) : NULL;
}

#endif
