// Reads the records that describe jemalloc's extents.

#ifndef LEAKTRACE_JEMALLOC_EXTENT_H
#define LEAKTRACE_JEMALLOC_EXTENT_H

#include "allocator_metadata/jemalloc_layout.h"
#include "allocator_metadata/word_window.h"

/// A range of jemalloc's pages, as its record describes it: edata_t, or extent_t before 5.3.
struct lt_jemalloc_extent {
  /// The address of the first block. jemalloc may place a large block some cache lines after the start of the page.
  uint64_t address;
  uint64_t bytes;
  unsigned state;
  unsigned sizeClass;
  uint64_t blockBytes; ///< usable bytes of each block, if the extent is active
  bool isSlab;
  unsigned freeCount;                        ///< the number of free regions that the slab's record states
  uint64_t freeRegions[JEMALLOC_SLAB_WORDS]; ///< a bit for each region of a slab: 1 if the region is free
};

/// Returns the address of the record in a leaf's word; 0 if the word has none.
uint64_t lt_jemalloc_record_of(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// True if the page of a leaf's word no longer has an extent. In such a word, jemalloc has set the record to 0 and the
/// size class to JEMALLOC_CLASSES.
bool lt_jemalloc_is_cleared(const struct lt_jemalloc_record_layout *layout, uint64_t word);

/// Reads the extent that a leaf's word refers to. Returns false if the record contradicts the word.
///
/// - `records`: a window that this function moves to the record.
bool lt_jemalloc_read_extent(struct lt_word_window *records, const struct lt_jemalloc_record_layout *layout,
                             uint64_t word, struct lt_jemalloc_extent *extent);

/// False if the extent's figures contradict each other. This also happens while a thread changes the extent.
bool lt_jemalloc_extent_is_consistent(const struct lt_jemalloc_record_layout *layout,
                                      const struct lt_jemalloc_extent *extent);

#endif
