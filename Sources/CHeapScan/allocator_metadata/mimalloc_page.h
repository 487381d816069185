// Finds the live blocks in a page of mimalloc. A page has blocks of one size, and lists of its free blocks.

#ifndef LEAKTRACE_MIMALLOC_PAGE_H
#define LEAKTRACE_MIMALLOC_PAGE_H

#include "allocator_metadata/growing_list.h"
#include "allocator_metadata/word_window.h"

/// A page, as its metadata describes it. The values may be wrong until lt_mimalloc_page_is_sound has checked them.
struct lt_mimalloc_page {
  uint64_t start;                       ///< address of the first block
  uint64_t blockBytes;                  ///< usable bytes of each block
  uint32_t capacity;                    ///< number of blocks that exist
  uint32_t reserved;                    ///< the most blocks that fit into the page
  uint32_t used;                        ///< number of existing blocks that are in neither of the owner's two lists
  uint64_t free, localFree, threadFree; ///< first blocks of the lists: two of the owner, and one of other threads
  bool hasInterior;                     ///< an allocation may begin inside its block
  bool hasInteriorLinks;                ///< links of lists may lead inside blocks
  bool mayBeInternal;                   ///< blocks may be the allocator's own data
  bool isAbandoned;                     ///< the thread that owned the page has ended
};

/// A walk over the live blocks of pages, and sums over all pages.
struct lt_mimalloc_pages {
  const struct lt_allocator_memory *metadata;
  const struct lt_growing_list *mapped;  ///< the list from lt_mimalloc_find_mapped
  const struct lt_growing_list *delayed; ///< freed blocks that are in no page's list, in order of address; or NULL
  void (*block)(void *context, uint64_t address, uint64_t size); ///< may be NULL
  void *context;
  uint64_t pages, abandonedPages;
  uint64_t blocks, blockBytes;
  uint64_t internalBlocks;         ///< blocks of the allocator's own data; left out
  uint64_t interiorBlocks;         ///< live blocks of pages with `hasInterior`
  uint64_t cached, cachedBytes;    ///< blocks that other threads freed and the owner has not collected yet
  uint64_t freeBytes, unusedBytes; ///< free blocks; room for blocks that do not exist yet
  uint64_t oddPages;               ///< pages left out because their lists contradict their counts

  // The walk's own data.
  struct lt_word_window dense, sparse;
  uint64_t *marks; ///< a bit for each block of a page, set if the block is free
};

/// Returns false if there is no memory. Call lt_mimalloc_pages_free in either case.
bool lt_mimalloc_pages_init(struct lt_mimalloc_pages *pages, const struct lt_allocator_memory *metadata);
void lt_mimalloc_pages_free(struct lt_mimalloc_pages *pages);

/// Makes a list of the ranges that are mapped without gaps, as struct lt_address_range, in order of address.
void lt_mimalloc_find_mapped(const struct lt_allocator_memory *metadata, struct lt_growing_list *mapped);

/// True if a page's counts, sizes and list heads agree with each other and with the mappings. Logarithmic in the
/// mappings.
///
/// - `mapped`: the list from lt_mimalloc_find_mapped.
bool lt_mimalloc_page_is_sound(const struct lt_growing_list *mapped, const struct lt_mimalloc_page *page);

/// Calls `block` for each live block of a page that is sound. Linear in the page's blocks.
void lt_mimalloc_pages_add(struct lt_mimalloc_pages *pages, const struct lt_mimalloc_page *page);

#endif
