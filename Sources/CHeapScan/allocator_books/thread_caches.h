// Freed blocks in the caches of threads.

#ifndef LEAKTRACE_THREAD_CACHES_H
#define LEAKTRACE_THREAD_CACHES_H

#include "allocator_books/free_lists.h"
#include "allocator_books/heap_pieces.h"

/// Finds threads' caches among chunks. A cache is itself a chunk, which no call of malloc gave out. An empty cache is
/// recognised by a thread's reference to it: the reference is where other threads refer to their caches, or to the
/// first chunk of a heap. Up to 2.42, a thread allocates its cache before its first block.
struct lt_thread_caches {
  const struct lt_books_memory *books;
  const struct lt_growing_list *pieces;
  struct lt_word_window window;
  struct lt_growing_list references; ///< struct lt_cache_reference, by chunk
  struct lt_growing_list entries;    ///< of the current cache
  struct lt_growing_list *kept;      ///< struct lt_kept_chunk: caches, and the blocks in them
  struct lt_growing_list found;      ///< caches that are not empty
  uint64_t count;                    ///< caches that were recognised
  /// The second word of most blocks in caches, 0 if there is none; and by how many caches it leads in the vote.
  uint64_t key, keyVotes;
};

/// - `pieces`: the memory of chunks, as struct lt_heap_piece in order of address; outlives `caches`.
/// - `kept`: gets the caches and the blocks in them. False without memory; lt_thread_caches_free must be called in any
/// case.
bool lt_thread_caches_init(struct lt_thread_caches *caches, const struct lt_books_memory *books,
                           const struct lt_growing_list *pieces, struct lt_growing_list *kept);
/// Checks a chunk with the size of a cache (lt_glibc_cache_layout).
void lt_thread_caches_look_at(struct lt_thread_caches *caches, uint64_t chunk);
/// Adds empty caches, after all chunks were checked.
void lt_thread_caches_finish(struct lt_thread_caches *caches);
void lt_thread_caches_free(struct lt_thread_caches *caches);

#endif
