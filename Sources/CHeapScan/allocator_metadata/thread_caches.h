// Finds the freed blocks in the caches of glibc's threads.

#ifndef LEAKTRACE_THREAD_CACHES_H
#define LEAKTRACE_THREAD_CACHES_H

#include "allocator_metadata/free_lists.h"
#include "allocator_metadata/heap_pieces.h"

/// Finds threads' caches among the chunks. A cache is itself a chunk, but not a block of the program. An empty cache is
/// recognised by a thread's reference to it. The reference must be at the usual distance from the thread pointer. Most
/// threads refer to caches, or to the first chunk of a heap, at that distance. Up to 2.42, that first chunk is a cache,
/// because a thread allocates its cache before its first block.
struct lt_thread_caches {
  const struct lt_allocator_memory *metadata;
  const struct lt_growing_list *pieces;
  struct lt_word_window window;
  struct lt_growing_list references; ///< struct lt_cache_reference, in order of the chunks
  struct lt_growing_list entries;    ///< struct lt_kept_chunk: the blocks in the current cache
  struct lt_growing_list *kept;      ///< struct lt_kept_chunk: caches, and the blocks in them
  struct lt_growing_list found;      ///< caches that are not empty
  uint64_t count;                    ///< number of caches that were recognised
  /// `key` is the second word of most cached blocks, or 0 if there is none. `keyVotes` is the lead of this word in a
  /// majority vote of the caches.
  uint64_t key, keyVotes;
};

/// Prepares the search. Returns false if there is no memory. Call lt_thread_caches_free in either case.
///
/// - `pieces`: the memory of chunks, as struct lt_heap_piece in order of address; must outlive `caches`.
/// - `kept`: the caches and the blocks in them are appended to this list.
bool lt_thread_caches_init(struct lt_thread_caches *caches, const struct lt_allocator_memory *metadata,
                           const struct lt_growing_list *pieces, struct lt_growing_list *kept);
/// Adds a chunk that has the size of a cache (lt_glibc_cache_layout), if it is a cache with blocks.
void lt_thread_caches_examine(struct lt_thread_caches *caches, uint64_t chunk);
/// Adds the empty caches. To be called after all chunks were checked.
void lt_thread_caches_finish(struct lt_thread_caches *caches);
void lt_thread_caches_free(struct lt_thread_caches *caches);

#endif
