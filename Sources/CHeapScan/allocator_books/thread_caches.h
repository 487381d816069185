// Freed blocks that the caches of threads keep.

#ifndef LEAKTRACE_THREAD_CACHES_H
#define LEAKTRACE_THREAD_CACHES_H

#include "allocator_books/free_lists.h"
#include "allocator_books/heap_pieces.h"

/// Looks for threads' caches among chunks. A cache is itself a chunk, which no call of malloc gave out. One that is
/// empty is known by a thread that refers to it where others refer to theirs, or to the first chunk of a heap: up to
/// 2.42, a thread asks for its cache before its first block.
struct lt_thread_caches {
  const struct lt_books_memory *books;
  const struct lt_growing_list *pieces;
  struct lt_word_window window;
  struct lt_growing_list references; ///< struct lt_cache_reference, by chunk
  struct lt_growing_list entries;    ///< of the cache that is looked at
  struct lt_growing_list *kept;      ///< struct lt_kept_chunk: caches, and what is in them
  struct lt_growing_list found;      ///< caches in which something is
  uint64_t count;                    ///< caches that were recognised
  /// The second word of most blocks in caches, 0 if there is none; and how many more caches have it than others.
  uint64_t key, keyVotes;
};

/// - `pieces`: where chunks are, as struct lt_heap_piece in order of address; outlives `caches`.
/// - `kept`: gets the caches and what is in them. False without memory; lt_thread_caches_free is to be called in any
/// case.
bool lt_thread_caches_init(struct lt_thread_caches *caches, const struct lt_books_memory *books,
                           const struct lt_growing_list *pieces, struct lt_growing_list *kept);
/// Looks at a chunk with the size of a cache (lt_glibc_cache_layout).
void lt_thread_caches_look_at(struct lt_thread_caches *caches, uint64_t chunk);
/// Adds empty ones, after all chunks were looked at.
void lt_thread_caches_finish(struct lt_thread_caches *caches);
void lt_thread_caches_free(struct lt_thread_caches *caches);

#endif
