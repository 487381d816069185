// From chunk to chunk through a heap.

#ifndef LEAKTRACE_CHUNK_WALK_H
#define LEAKTRACE_CHUNK_WALK_H

#include "allocator_books/word_window.h"
#include "check.h"

struct lt_heap_chunk {
  uint64_t address, size; ///< multiples of 16
  bool isInUse;           ///< by its neighbour's account; those in threads' caches and fast bins are, too
  bool isMarked;          ///< it says that its arena is not the main one
};

/// A walk through pieces of heaps. A piece is walked the same way each time.
struct lt_chunk_walk {
  const struct lt_books_memory *books;
  struct lt_word_window window;
  struct lt_word_window probe; ///< for chunks that may turn out to be none, so that `window` stays where it is
  uint64_t searchLeft;         ///< bytes that are still searched for chunks after places where they break off
  /// Places where one chunk does not lead to the next: a thread is about to change it, somebody else has moved the
  /// break, or the heap is damaged; and bytes from such a place to the next chunk that was found.
  uint64_t breaks, skippedBytes;
  bool isMain; ///< of the arena whose piece is walked
};

/// False without memory; lt_chunk_walk_free is to be called in any case.
bool lt_chunk_walk_init(struct lt_chunk_walk *walk, const struct lt_books_memory *books);
void lt_chunk_walk_free(struct lt_chunk_walk *walk);
/// Counts breaks anew, for another walk through the same pieces.
void lt_chunk_walk_rewind(struct lt_chunk_walk *walk);

/// Hands over the chunks of a range, in order of address. `mayBeginLate`: memory of others may come first.
void lt_chunk_walk_run(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, bool mayBeginLate,
                       void (*visit)(void *context, const struct lt_heap_chunk *chunk), void *context);

/// Bytes from an address up to where chunks lead: to the arena's top, or behind fenceposts. 0 if they lead to neither.
uint64_t lt_chunk_walk_length(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, uint64_t top);

#endif
