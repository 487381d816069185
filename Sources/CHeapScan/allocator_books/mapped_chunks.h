// Blocks that are mappings of their own.

#ifndef LEAKTRACE_MAPPED_CHUNKS_H
#define LEAKTRACE_MAPPED_CHUNKS_H

#include "allocator_books/glibc_layout.h"
#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

struct lt_mapped_chunk {
  uint64_t address, size; ///< of the chunk
  uint64_t usable;        ///< bytes that the program may use
};

/// Appends large blocks, which malloc maps, to a list of struct lt_mapped_chunk, in order of address. Nothing lists
/// them: their heads are found by their shape, page by page of the memory that is there. False if there was more memory
/// than is searched.
///
/// - `layout`: of the arenas of the same libc.
/// - `taken`: memory of arenas, as struct lt_address_range, in order and without overlaps.
bool lt_glibc_find_mapped_chunks(const struct lt_books_memory *books, const struct lt_glibc_arena_layout *layout,
                                 const struct lt_growing_list *taken, struct lt_growing_list *chunks);

#endif
