// Lists of freed chunks that still look as if they were in use.

#ifndef LEAKTRACE_FREE_LISTS_H
#define LEAKTRACE_FREE_LISTS_H

#include "allocator_books/glibc_layout.h"
#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

/// A singly linked list of freed memory.
struct lt_free_list {
  uint64_t first;              ///< the first entry; 0 for an empty list
  uint64_t link;               ///< offset in an entry of the word that links to the next
  uint64_t head;               ///< offset of the entry in a chunk
  struct lt_chunk_sizes sizes; ///< of the chunks in it
  uint64_t limit;              ///< the most entries that it may have
};

/// A chunk in a list, with its use, which its neighbours do not record.
struct lt_kept_chunk {
  uint64_t address;
  uint64_t use; ///< LT_GLIBC_USE
};

/// Appends a list's chunks, as struct lt_kept_chunk, with a use. Returns their number; sets whether the list was
/// followed to its end. Since 2.32 a link is stored XORed with the page number of its own address. Both readings of a
/// link are tried, and the one that follows the list further is used.
uint64_t lt_follow_free_list(struct lt_word_window *window, const struct lt_free_list *list, uint64_t use,
                             struct lt_growing_list *chunks, bool *isWhole);

#endif
