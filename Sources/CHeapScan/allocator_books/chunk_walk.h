// Walks from chunk to chunk through a heap.

#ifndef LEAKTRACE_CHUNK_WALK_H
#define LEAKTRACE_CHUNK_WALK_H

#include "allocator_books/word_window.h"
#include "check.h"

struct lt_heap_chunk {
  uint64_t address, size; ///< multiples of 16
  bool isInUse;           ///< as its neighbour records it; true also in threads' caches and fast bins
  bool isMarked;          ///< marked as belonging to another arena than the main one
};

/// A walk through pieces of heaps. A piece is walked the same way each time.
struct lt_chunk_walk {
  const struct lt_books_memory *books;
  struct lt_word_window window;
  struct lt_word_window probe; ///< for possible chunks, so that `window` stays where it is
  uint64_t searchLeft;         ///< bytes left to search for chunks after breaks
  /// Places where one chunk does not lead to the next, and the bytes from these places to the next chunk found. A
  /// thread is about to change the chunk, other code has moved the break, or the heap is damaged.
  uint64_t breaks, skippedBytes;
  bool isMain; ///< of the arena whose piece is walked
};

/// False without memory; lt_chunk_walk_free must be called in any case.
bool lt_chunk_walk_init(struct lt_chunk_walk *walk, const struct lt_books_memory *books);
void lt_chunk_walk_free(struct lt_chunk_walk *walk);
/// Resets the count of breaks, for another walk through the same pieces.
void lt_chunk_walk_rewind(struct lt_chunk_walk *walk);

/// Calls `visit` for the chunks of a range, in order of address. `mayBeginLate`: other code's memory may come first.
void lt_chunk_walk_run(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, bool mayBeginLate,
                       void (*visit)(void *context, const struct lt_heap_chunk *chunk), void *context);

/// Bytes from an address to the end of its sequence of chunks: the arena's top, or the end of fenceposts. 0 if the
/// sequence reaches neither.
uint64_t lt_chunk_walk_length(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, uint64_t top);

#endif
