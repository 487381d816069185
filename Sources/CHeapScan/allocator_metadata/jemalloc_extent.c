// Reads the records that describe jemalloc's extents.

#include "allocator_metadata/jemalloc_extent.h"

#include "check.h"

uint64_t lt_jemalloc_record_of(const struct lt_jemalloc_record_layout *layout, uint64_t word) {
  return word & ((1ull << JEMALLOC_LEAF_CLASS_SHIFT) - 1) & ~(uint64_t)(layout->alignment - 1);
}

bool lt_jemalloc_is_cleared(const struct lt_jemalloc_record_layout *layout, uint64_t word) {
  return !lt_jemalloc_record_of(layout, word) && word >> JEMALLOC_LEAF_CLASS_SHIFT == JEMALLOC_CLASSES;
}

/// True if the leaf's word and the record agree. Checks only the fields that every extent has. If a thread is changing
/// the extent, sets its state to JEMALLOC_CHANGING.
static bool agrees(const struct lt_jemalloc_record_layout *layout, uint64_t word, struct lt_jemalloc_extent *extent) {
  if (!layout->isBefore53) return extent->state == (word >> JEMALLOC_LEAF_STATE_SHIFT & layout->stateMask);
  // JEMALLOC_LEAF_SLAB is the only low bit that a word may have.
  if ((word & (uint64_t)(layout->alignment - 1) & ~(uint64_t)JEMALLOC_LEAF_SLAB) ||
      word >> JEMALLOC_LEAF_CLASS_SHIFT > JEMALLOC_CLASSES)
    return false;
  // jemalloc clears the class and the slab flag of freed pages in the record, but not in the word.
  if (extent->state != JEMALLOC_ACTIVE) return extent->sizeClass == JEMALLOC_CLASSES && !extent->isSlab;
  if (extent->sizeClass == JEMALLOC_CLASSES) extent->state = JEMALLOC_CHANGING;
  return true;
}

bool lt_jemalloc_read_extent(struct lt_word_window *records, const struct lt_jemalloc_record_layout *layout,
                             uint64_t word, struct lt_jemalloc_extent *extent) {
  uint64_t record = lt_jemalloc_record_of(layout, word), bits, size;
  if (!record || !lt_window_word(records, record, &bits) ||
      !lt_window_word(records, record + JEMALLOC_EXTENT_ADDRESS, &extent->address) ||
      !lt_window_word(records, record + JEMALLOC_EXTENT_SIZE, &size))
    return false;
  uint64_t pageSize = lt_jemalloc_page(layout);
  extent->bytes = size & ~(pageSize - 1);
  extent->state = (unsigned)(bits >> layout->stateShift & layout->stateMask);
  extent->isSlab = bits >> JEMALLOC_SLAB_SHIFT & 1;
  extent->sizeClass = (unsigned)(bits >> layout->classShift & JEMALLOC_CLASS_MASK);
  extent->freeCount = (unsigned)(bits >> layout->freeCountShift & JEMALLOC_FREE_COUNT_MASK);
  uint64_t first = extent->address & ~(pageSize - 1);
  if (!agrees(layout, word, extent) || !extent->bytes || !first || extent->bytes >= LT_ALLOCATOR_ADDRESS_LIMIT ||
      first >= LT_ALLOCATOR_ADDRESS_LIMIT - extent->bytes)
    return false;
  if (extent->state != JEMALLOC_ACTIVE) return true;
  if (extent->isSlab != ((word & JEMALLOC_LEAF_SLAB) != 0) ||
      extent->sizeClass != (word >> JEMALLOC_LEAF_CLASS_SHIFT & JEMALLOC_CLASS_MASK) ||
      extent->sizeClass >= JEMALLOC_CLASSES)
    return false;
  uint64_t blockBytes = extent->blockBytes = lt_jemalloc_class_bytes(extent->sizeClass);
  if (!extent->isSlab) {
    if (blockBytes <= extent->bytes - (extent->address - first)) return true;
    if (layout->isBefore53) return false;
    // Since 5.3.1, the extent of a large block has the requested bytes, rounded up to whole pages, plus one page.
    extent->blockBytes = extent->bytes - pageSize;
    return extent->sizeClass > 0 && extent->blockBytes <= blockBytes &&
           extent->blockBytes > lt_jemalloc_class_bytes(extent->sizeClass - 1);
  }
  if (blockBytes > extent->bytes || extent->address != first) return false;
  uint64_t regions = extent->bytes / blockBytes;
  if (regions > lt_jemalloc_slab_regions(layout)) return false;
  LT_CHECK((regions + 63) / 64 <= JEMALLOC_SLAB_WORDS);
  for (uint64_t i = 0; i < (regions + 63) / 64; i++)
    if (!lt_window_word(records, record + JEMALLOC_EXTENT_BITMAP + 8 * i, &extent->freeRegions[i])) return false;
  return true;
}

bool lt_jemalloc_extent_is_consistent(const struct lt_jemalloc_record_layout *layout,
                                      const struct lt_jemalloc_extent *extent) {
  if (!layout->isBefore53 || extent->state != JEMALLOC_ACTIVE) return true;
  if (!extent->isSlab) {
    bool isPromoted = extent->sizeClass < JEMALLOC_SMALL_CLASSES;
    uint64_t bytes = isPromoted ? JEMALLOC_PROMOTED_BYTES : extent->blockBytes;
    return extent->bytes == bytes || extent->bytes == bytes + lt_jemalloc_page(layout);
  }
  uint64_t count = extent->bytes / extent->blockBytes;
  LT_CHECK(count <= lt_jemalloc_slab_regions(layout));
  unsigned freeCount = 0;
  for (uint64_t i = 0; i < count; i++) freeCount += extent->freeRegions[i / 64] >> i % 64 & 1;
  return extent->sizeClass < JEMALLOC_SMALL_CLASSES && freeCount == extent->freeCount;
}
