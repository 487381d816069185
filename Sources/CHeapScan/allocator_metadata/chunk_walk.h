// Walks from chunk to chunk through a heap of glibc.

#ifndef LEAKTRACE_CHUNK_WALK_H
#define LEAKTRACE_CHUNK_WALK_H

#include "allocator_metadata/word_window.h"
#include "check.h"

struct lt_heap_chunk {
  uint64_t address, size; ///< multiples of 16
  bool isInUse;           ///< by the next chunk's flag; also true for freed chunks in threads' caches and fast bins
  bool isMarked;          ///< the chunk's flag says that the chunk is not in the main arena
};

/// A walk through pieces of heaps. Each walk through a piece visits the same chunks.
struct lt_chunk_walk {
  const struct lt_allocator_memory *metadata;
  struct lt_word_window window;
  struct lt_word_window probe; ///< reads possible chunks, so that `window` does not have to move
  uint64_t searchLeft;         ///< bytes that may still be searched for the next chunk after a break
  /// The number of breaks, and the bytes from each break to the next chunk. A break is a place where a chunk does not
  /// lead to another chunk. A thread may be changing the chunk, other code may have moved the program break, or the
  /// heap may be damaged.
  uint64_t breaks, skippedBytes;
  bool isMain; ///< whether the piece belongs to a main arena
};

/// Returns false if there is no memory. Call lt_chunk_walk_free in either case.
bool lt_chunk_walk_init(struct lt_chunk_walk *walk, const struct lt_allocator_memory *metadata);
void lt_chunk_walk_free(struct lt_chunk_walk *walk);
/// Resets the counts of breaks and bytes, for another walk through the same pieces.
void lt_chunk_walk_rewind(struct lt_chunk_walk *walk);

/// Calls `visit` for each chunk of a range, in order of address. `mayBeginLate` says that the range may begin with
/// memory of other code.
void lt_chunk_walk_run(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, bool mayBeginLate,
                       void (*visit)(void *context, const struct lt_heap_chunk *chunk), void *context);

/// Returns the bytes from `start` to the end of the sequence of chunks that begins there. The sequence ends at the
/// arena's top, or after fenceposts. Returns 0 if the sequence reaches neither before `end`.
uint64_t lt_chunk_walk_length(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, uint64_t top);

#endif
