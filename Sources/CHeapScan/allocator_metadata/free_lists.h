// Follows lists of freed chunks that their neighbours still record as in use.

#ifndef LEAKTRACE_FREE_LISTS_H
#define LEAKTRACE_FREE_LISTS_H

#include "allocator_metadata/glibc_layout.h"
#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/word_window.h"

/// A singly linked list of freed memory.
struct lt_free_list {
  uint64_t first;              ///< the first entry; 0 for an empty list
  uint64_t link;               ///< offset, in an entry, of the word that links to the next entry
  uint64_t head;               ///< offset of the entry in its chunk
  struct lt_chunk_sizes sizes; ///< of the chunks in the list
  uint64_t limit;              ///< the most entries that the list may have
};

/// A chunk that the allocator or a thread keeps. The chunk's neighbours record that it is in use, but not its use.
struct lt_kept_chunk {
  uint64_t address;
  uint64_t use; ///< such as LT_GLIBC_CACHED
};

/// Appends a list's chunks with `use`, as struct lt_kept_chunk. Returns the number of chunks. Sets `isWhole` if the
/// list was followed to its end. Since glibc 2.32, a link is stored XORed with the page number of its own address. The
/// list is followed both with such links and with plain ones; the longer result is used.
uint64_t lt_follow_free_list(struct lt_word_window *window, const struct lt_free_list *list, uint64_t use,
                             struct lt_growing_list *chunks, bool *isWhole);

#endif
