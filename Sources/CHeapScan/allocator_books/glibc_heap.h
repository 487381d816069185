// The blocks of a process, from the books of glibc's allocator.

#ifndef LEAKTRACE_GLIBC_HEAP_H
#define LEAKTRACE_GLIBC_HEAP_H

#include "allocator_books/glibc_arenas.h"
#include "allocator_books/malloc_parameters.h"

/// The state of glibc's allocator, read from its books in memory.
struct lt_glibc_heap {
  struct lt_growing_list arenas; ///< struct lt_glibc_arena, main ones first
  /// The parameters of the first libc; `address` is 0 if they are not known.
  struct lt_malloc_parameters parameters;
  uint64_t blocks, blockBytes; ///< all that were given out, including mapped ones; usable bytes
  uint64_t mapped, mappedBytes;
  /// Mapped blocks by the allocators' own counts; LT_GLIBC_UNKNOWN if they are not known.
  uint64_t mappedByCount;
  uint64_t caches; ///< threads' caches that were recognised
  /// No thread's cache was recognised, and the release has such caches or is unknown. Freed blocks may count as given
  /// out.
  bool areCachesUnread;
  /// The second word of each block in a cache, and of no other block: a random number. 0 if it is not known, and before
  /// glibc 2.43.
  uint64_t cacheKey;
  int32_t failure; ///< LT_METADATA_ or ENOMEM if lt_glibc_heap_find has found nothing; otherwise 0
  /// Places where a chunk does not lead to the next, and the bytes that were skipped there.
  uint64_t breaks, skippedBytes;
  bool isIncomplete; ///< some memory of the allocator was not found
  bool isShort;      ///< the reading process lacked memory

  // The walk's own state.
  const struct lt_books_memory *books;
  struct lt_growing_list pieces, kept, mappedChunks;
};
#define LT_GLIBC_UNKNOWN UINT64_MAX

/// Finds arenas, their memory, and freed blocks that their neighbours record as in use. False if the process has no
/// glibc allocator, or has not used it; lt_glibc_heap_free must be called in any case.
///
/// - `books`: outlives `heap`.
/// - Complexity: linear in the memory of the allocator and the pages of anonymous memory. Takes 16 bytes of memory for
/// each block in caches and fast bins, and memory for mapped blocks.
bool lt_glibc_heap_find(struct lt_glibc_heap *heap, const struct lt_books_memory *books);

/// Walks all chunks again, and calls `block` for each block that was given out, in order of address, each once. Passes
/// the address that malloc returned, and the usable bytes (malloc_usable_size). Fills in the figures, including the
/// arenas'. Linear in the memory of the allocator.
void lt_glibc_heap_walk(struct lt_glibc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                        void *context);

void lt_glibc_heap_free(struct lt_glibc_heap *heap);

static inline const struct lt_glibc_arena *lt_glibc_heap_arena(const struct lt_glibc_heap *heap, uint64_t index) {
  return index < heap->arenas.count ? lt_list_item(&heap->arenas, index) : NULL;
}

#endif
