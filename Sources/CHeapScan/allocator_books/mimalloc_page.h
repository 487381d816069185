// A page of mimalloc: blocks of one size, and lists of the free ones.

#ifndef LEAKTRACE_MIMALLOC_PAGE_H
#define LEAKTRACE_MIMALLOC_PAGE_H

#include "allocator_books/growing_list.h"
#include "allocator_books/word_window.h"

/// A page, as its metadata describes it. Nothing is known to be true before lt_mimalloc_page_is_sound.
struct lt_mimalloc_page {
  uint64_t start;                       ///< address of the first block
  uint64_t blockBytes;                  ///< bytes of each block that a program may use
  uint32_t capacity;                    ///< blocks that exist
  uint32_t reserved;                    ///< blocks that the page has room for
  uint32_t used;                        ///< blocks of `capacity` that are in neither of the owner's lists
  uint64_t free, localFree, threadFree; ///< first blocks of lists; other threads fill the last one
  bool hasInterior;                     ///< blocks may have been given out from a later address on
  bool hasInteriorLinks;                ///< lists may lead to such addresses
  bool mayBeInternal;                   ///< blocks may be the allocator's own data
  bool isAbandoned;                     ///< the thread that had it has ended
};

/// Live blocks of pages, and sums over all pages.
struct lt_mimalloc_pages {
  const struct lt_books_memory *books;
  const struct lt_growing_list *mapped;  ///< of lt_mimalloc_find_mapped
  const struct lt_growing_list *delayed; ///< freed blocks beside the pages' lists, in order of address; or NULL
  void (*block)(void *context, uint64_t address, uint64_t size); ///< may be NULL
  void *context;
  uint64_t pages, abandonedPages;
  uint64_t blocks, blockBytes;
  uint64_t internalBlocks;         ///< of the allocator's own: left out
  uint64_t interiorBlocks;         ///< live blocks of pages with `hasInterior`
  uint64_t cached, cachedBytes;    ///< freed by other threads, and not yet collected
  uint64_t freeBytes, unusedBytes; ///< free blocks; room for blocks that do not exist yet
  uint64_t oddPages;               ///< whose lists contradict their counts: left out

  // The walk's own data.
  struct lt_word_window dense, sparse;
  uint64_t *marks; ///< a bit for each block of a page
};

/// False without memory; lt_mimalloc_pages_free must be called in any case.
bool lt_mimalloc_pages_init(struct lt_mimalloc_pages *pages, const struct lt_books_memory *books);
void lt_mimalloc_pages_free(struct lt_mimalloc_pages *pages);

/// Makes a list of the ranges that are mapped without a gap: struct lt_address_range, in order of address.
void lt_mimalloc_find_mapped(const struct lt_books_memory *books, struct lt_growing_list *mapped);

/// True if counts, sizes and heads of lists agree with each other and with the mappings. Logarithmic in the mappings.
///
/// - `mapped`: of lt_mimalloc_find_mapped.
bool lt_mimalloc_page_is_sound(const struct lt_growing_list *mapped, const struct lt_mimalloc_page *page);

/// Hands over the live blocks of a sound page. Linear in its blocks.
void lt_mimalloc_pages_add(struct lt_mimalloc_pages *pages, const struct lt_mimalloc_page *page);

#endif
