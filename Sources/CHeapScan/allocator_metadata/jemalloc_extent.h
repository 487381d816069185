// Reads the records that describe jemalloc's extents.

#ifndef LEAKTRACE_JEMALLOC_EXTENT_H
#define LEAKTRACE_JEMALLOC_EXTENT_H

#include "allocator_metadata/jemalloc_layout.h"
#include "allocator_metadata/word_window.h"

/// A range of jemalloc's pages, as its record describes it: edata_t, or extent_t before 5.3.
struct lt_jemalloc_extent {
  /// The address of its first block. It may be after the start of the first page, if jemalloc spreads large blocks over
  /// cache lines.
  uint64_t address;
  uint64_t bytes;
  unsigned state;
  unsigned sizeClass;
  uint64_t blockBytes; ///< usable bytes of each block, if the extent is active
  bool isSlab;
  uint64_t freeRegions[8]; ///< of a slab
  unsigned freeCount;      ///< the slab's own count of its free regions
};

/// Returns the address of the record in a leaf's word; 0 if the word has none.
uint64_t lt_jemalloc_record_of(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// True if the page of a leaf's word no longer has an extent. Such a word has no record, and the size class
/// JEMALLOC_CLASSES, which no block has.
bool lt_jemalloc_is_cleared(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// Reads the extent that a leaf's word refers to. Returns false if the record contradicts the word.
///
/// - `records`: a window, which is moved to the record.
bool lt_jemalloc_read_extent(struct lt_word_window *records, const struct lt_jemalloc_record_layout *layout,
                             uint64_t word, struct lt_jemalloc_extent *extent);

/// True unless the extent's figures contradict each other. The reason may also be that a thread is changing them.
bool lt_jemalloc_extent_is_consistent(const struct lt_jemalloc_record_layout *layout,
                                      const struct lt_jemalloc_extent *extent);

#endif
