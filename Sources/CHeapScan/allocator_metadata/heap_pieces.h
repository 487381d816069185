// Finds the memory that holds the chunks of glibc's arenas.

#ifndef LEAKTRACE_HEAP_PIECES_H
#define LEAKTRACE_HEAP_PIECES_H

#include "allocator_metadata/glibc_arenas.h"
#include "allocator_metadata/malloc_parameters.h"
#include "check.h"

/// A range of memory that consists of chunks, usually without gaps.
struct lt_heap_piece {
  uint64_t start; ///< the first chunk; at most `end`
  uint64_t end;
  uint64_t takenEnd; ///< end of the memory mapped for the arena; at least `end` until the pieces are ordered
  uint32_t arena;    ///< index of the arena
  bool hasTop;       ///< its end is the arena's top
  bool isBreak;      ///< part of the program break, where other code may also have memory
};

/// Appends the pieces of an arena to a list of struct lt_heap_piece, and fills in the arena's top. Returns false if a
/// piece was not found, or if its bounds are not plausible.
///
/// - `parameters`: the parameters of the arena's libc; NULL if they are unknown.
bool lt_find_heap_pieces(const struct lt_allocator_memory *metadata, struct lt_word_window *window,
                         struct lt_glibc_arena *arena, uint32_t index, const struct lt_malloc_parameters *parameters,
                         struct lt_growing_list *pieces);

/// Sorts the pieces by address. If two pieces overlap, the first is cut off where the second begins: damaged metadata
/// may claim memory twice.
void lt_order_heap_pieces(struct lt_growing_list *pieces);

#endif
