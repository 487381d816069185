// Lists of freed chunks that look as if they were in use.

#ifndef LEAKTRACE_FREE_LISTS_H
#define LEAKTRACE_FREE_LISTS_H

#include "allocator_books/glibc_layout.h"
#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

/// A singly linked list of freed memory.
struct lt_free_list {
  uint64_t first;              ///< the first entry; 0 for an empty list
  uint64_t link;               ///< offset in an entry of the word that leads to the next
  uint64_t head;               ///< bytes from a chunk to its entry
  struct lt_chunk_sizes sizes; ///< of the chunks in it
  uint64_t limit;              ///< entries that it may have
};

/// A chunk in a list, and what its neighbours do not know of it.
struct lt_kept_chunk {
  uint64_t address;
  uint64_t use; ///< LT_GLIBC_USE
};

/// Appends a list's chunks, as struct lt_kept_chunk, with a use. Returns how many there are; sets whether the list was
/// followed to its end. Since 2.32 a link is stored with the page number of its own place over it; the two ways to read
/// it are told apart by what they lead to.
uint64_t lt_follow_free_list(struct lt_word_window *window, const struct lt_free_list *list, uint64_t use,
                             struct lt_growing_list *chunks, bool *isWhole);

#endif
