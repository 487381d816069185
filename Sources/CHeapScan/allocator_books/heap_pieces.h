// Where the chunks of glibc's arenas are.

#ifndef LEAKTRACE_HEAP_PIECES_H
#define LEAKTRACE_HEAP_PIECES_H

#include "allocator_books/glibc_arenas.h"
#include "allocator_books/malloc_parameters.h"
#include "check.h"

/// A range of memory that chunks fill without gaps, as a rule.
struct lt_heap_piece {
  uint64_t start; ///< the first chunk; at most `end`
  uint64_t end;
  uint64_t takenEnd; ///< end of the memory mapped for the arena; at least `end` before ordering
  uint32_t arena;    ///< index of the arena
  bool hasTop;       ///< its end is the arena's top
  bool isBreak;      ///< of the break; others may have parts of it
};

/// Appends the pieces of an arena to a list of struct lt_heap_piece, and fills in the arena's top. False if a piece was
/// not found, or its bounds are not plausible.
///
/// - `parameters`: of the arena's libc; NULL if they are not known.
bool lt_find_heap_pieces(const struct lt_books_memory *books, struct lt_word_window *window,
                         struct lt_glibc_arena *arena, uint32_t index, const struct lt_malloc_parameters *parameters,
                         struct lt_growing_list *pieces);

/// Puts pieces in order, and makes those that overlap end where the next begins: damaged books may claim memory twice.
void lt_order_heap_pieces(struct lt_growing_list *pieces);

#endif
