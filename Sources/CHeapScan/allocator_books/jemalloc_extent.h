// The records that describe jemalloc's extents.

#ifndef LEAKTRACE_JEMALLOC_EXTENT_H
#define LEAKTRACE_JEMALLOC_EXTENT_H

#include "allocator_books/jemalloc_layout.h"
#include "allocator_books/word_window.h"

/// A range of pages that jemalloc has, by its record: edata_t, or extent_t before 5.3.
struct lt_jemalloc_extent {
  uint64_t address; ///< of its first block; behind the first page's beginning where blocks are spread over cache lines
  uint64_t bytes;
  unsigned state;
  unsigned sizeClass;
  uint64_t blockBytes; ///< bytes of each block that a program may use, if the extent is active
  bool isSlab;
  uint64_t freeRegions[8]; ///< of a slab
  unsigned freeCount;      ///< the slab's own count of its free regions
};

/// The address of the record in a leaf's word; 0 if it has none.
uint64_t lt_jemalloc_record_of(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// True for a leaf's word whose page lost its extent: it has no record, and a size class behind all others.
bool lt_jemalloc_is_cleared(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// Reads the extent of a leaf's word. False if the record contradicts the word.
///
/// - `records`: a window on the process, which moves to the record.
bool lt_jemalloc_read_extent(struct lt_word_window *records, const struct lt_jemalloc_record_layout *layout,
                             uint64_t word, struct lt_jemalloc_extent *extent);

/// True unless the extent's figures contradict each other. A thread in the middle of a call can cause that, too.
bool lt_jemalloc_extent_is_consistent(const struct lt_jemalloc_record_layout *layout,
                                      const struct lt_jemalloc_extent *extent);

#endif
