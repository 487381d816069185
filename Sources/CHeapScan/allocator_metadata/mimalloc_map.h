// Finds the map of pages of mimalloc 3.

#ifndef LEAKTRACE_MIMALLOC_MAP_H
#define LEAKTRACE_MIMALLOC_MAP_H

#include "allocator_metadata/mimalloc_layout.h"
#include "allocator_metadata/mimalloc_page.h"

/// A table that leads from an address to the page that contains the address.
struct lt_mimalloc_map {
  uint64_t variable; ///< address of the variable that holds the map's address; 0 if there is no map
  uint64_t parts;    ///< address of the table of parts
  uint64_t partCount;
  const struct lt_mimalloc_page_layout *layout;
};

/// Finds maps by the variables in the images' data that refer to them. Fills in the first map that leads to pages with
/// blocks. Returns the number of such maps.
///
/// - `mapped`: the list from lt_mimalloc_find_mapped.
/// - Complexity: linear in the data of images and in the maps.
uint64_t lt_mimalloc_map_find(const struct lt_allocator_memory *metadata, const struct lt_growing_list *mapped,
                              struct lt_mimalloc_map *map, bool *isShort);

/// Adds all pages to `pages`, in order of address. Returns how many entries were left out because they contradict their
/// pages.
uint64_t lt_mimalloc_map_walk(const struct lt_mimalloc_map *map, struct lt_mimalloc_pages *pages, bool *isShort);

#endif
