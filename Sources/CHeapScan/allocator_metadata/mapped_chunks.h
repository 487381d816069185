// Finds glibc's blocks that have a separate mapping.

#ifndef LEAKTRACE_MAPPED_CHUNKS_H
#define LEAKTRACE_MAPPED_CHUNKS_H

#include "allocator_metadata/glibc_layout.h"
#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/word_window.h"

struct lt_mapped_chunk {
  uint64_t address, size; ///< of the chunk
  uint64_t usable;        ///< bytes that the program may use
};

/// Appends the large blocks that have a separate mapping to a list of struct lt_mapped_chunk, in order of address.
/// There is no list of these blocks in glibc, so each present page is searched for their headers. Returns false if
/// blocks may be missing. There was then too much memory to search, or no memory for the list.
///
/// - `layout`: the layout of the arenas of the same libc.
/// - `taken`: the memory of arenas, as struct lt_address_range, in order and without overlaps.
bool lt_glibc_find_mapped_chunks(const struct lt_allocator_memory *metadata, const struct lt_glibc_arena_layout *layout,
                                 const struct lt_growing_list *taken, struct lt_growing_list *chunks);

#endif
