// The map of pages of mimalloc 3.

#ifndef LEAKTRACE_MIMALLOC_MAP_H
#define LEAKTRACE_MIMALLOC_MAP_H

#include "allocator_books/mimalloc_layout.h"
#include "allocator_books/mimalloc_page.h"

/// A map leads from an address to the page that has it.
struct lt_mimalloc_map {
  uint64_t variable; ///< address of the variable that has the map's address; 0 if there is no map
  uint64_t parts;    ///< address of the table of parts
  uint64_t partCount;
  const struct lt_mimalloc_page_layout *layout;
};

/// Finds maps by their shape in images' data. Fills in the first one that leads to pages with blocks, and returns how
/// many of them there are.
///
/// - `mapped`: of lt_mimalloc_find_mapped.
/// - Complexity: linear in the data of images and in the maps.
uint64_t lt_mimalloc_map_find(const struct lt_books_memory *books, const struct lt_growing_list *mapped,
                              struct lt_mimalloc_map *map, bool *isShort);

/// Adds all pages to `pages`, in order of address. Returns how many entries were left out since they contradict the
/// pages that they lead to.
uint64_t lt_mimalloc_map_walk(const struct lt_mimalloc_map *map, struct lt_mimalloc_pages *pages, bool *isShort);

#endif
