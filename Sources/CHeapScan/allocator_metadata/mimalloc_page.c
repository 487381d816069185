// Marks the blocks of a page that are in its free lists. All others are live.

#include "allocator_metadata/mimalloc_page.h"

#include "allocator_metadata/mimalloc_layout.h"

#include <string.h>

enum {
  DENSE_WINDOW = 64 << 10,
  MARK_BYTES = MIMALLOC_PAGE_BLOCK_LIMIT / 8,
  /// A page's counts may be off by one block, because a thread was stopped inside malloc or free.
  COUNT_SLACK = 1,
};

bool lt_mimalloc_pages_init(struct lt_mimalloc_pages *pages, const struct lt_allocator_memory *metadata) {
  memset(pages, 0, sizeof *pages);
  pages->metadata = metadata;
  pages->marks = metadata->memory->allocate(MARK_BYTES);
  return pages->marks && lt_word_window_init(&pages->dense, metadata, DENSE_WINDOW) &&
         lt_word_window_init(&pages->sparse, metadata, LT_ALLOCATOR_PAGE);
}

void lt_mimalloc_pages_free(struct lt_mimalloc_pages *pages) {
  if (!pages->metadata) return;
  if (pages->marks) pages->metadata->memory->release(pages->marks, MARK_BYTES);
  pages->marks = NULL;
  if (pages->dense.metadata) lt_word_window_free(&pages->dense);
  if (pages->sparse.metadata) lt_word_window_free(&pages->sparse);
}

void lt_mimalloc_find_mapped(const struct lt_allocator_memory *metadata, struct lt_growing_list *mapped) {
  lt_list_init(mapped, metadata->memory, sizeof(struct lt_address_range));
  struct lt_address_range run = {0, 0};
  for (uint32_t i = 0; i < metadata->regionCount; i++) {
    const struct lt_snapshot_region *region = &metadata->regions[i];
    if (i && region->start == run.end) {
      run.end = region->end;
      continue;
    }
    if (i) lt_list_append(mapped, &run);
    run = (struct lt_address_range){region->start, region->end};
  }
  if (metadata->regionCount) lt_list_append(mapped, &run);
}

/// True if all bytes from `start` to `end` are mapped.
static bool is_mapped(const struct lt_growing_list *mapped, uint64_t start, uint64_t end) {
  size_t place = lt_list_place(mapped, start + 1);
  if (place == 0) return false;
  const struct lt_address_range *run = lt_list_item(mapped, place - 1);
  LT_CHECK(run->start <= start);
  return run->end >= end;
}

/// True if a link in one of the page's lists may lead to an address.
static bool is_link(const struct lt_mimalloc_page *page, uint64_t address) {
  uint64_t offset = address - page->start;
  return address >= page->start && offset < page->reserved * page->blockBytes && (offset & 7) == 0 &&
         (page->hasInteriorLinks || offset % page->blockBytes == 0);
}

bool lt_mimalloc_page_is_sound(const struct lt_growing_list *mapped, const struct lt_mimalloc_page *page) {
  uint64_t size = page->blockBytes;
  if (!size || (size & 7) || size >= LT_ALLOCATOR_ADDRESS_LIMIT || (page->start & 7)) return false;
  if (!page->reserved || page->reserved >= MIMALLOC_PAGE_BLOCK_LIMIT || page->capacity > page->reserved ||
      page->used > page->reserved || page->reserved > LT_ALLOCATOR_ADDRESS_LIMIT / size)
    return false;
  uint64_t bytes = page->reserved * size;
  if (page->start < LT_ALLOCATOR_PAGE || page->start >= LT_ALLOCATOR_ADDRESS_LIMIT - bytes) return false;
  return is_mapped(mapped, page->start, page->start + bytes) && (!page->free || is_link(page, page->free)) &&
         (!page->localFree || is_link(page, page->localFree)) && (!page->threadFree || is_link(page, page->threadFree));
}

/// Marks the blocks of a list, until it reaches a marked block. Returns false if a link leads out of the page's blocks.
static bool mark_list(struct lt_mimalloc_pages *pages, const struct lt_mimalloc_page *page, uint64_t head,
                      uint32_t *count) {
  // For pages with small blocks, the window covers the page's memory around a link.
  bool isDense = page->blockBytes < LT_ALLOCATOR_PAGE / 2;
  struct lt_word_window *window = isDense ? &pages->dense : &pages->sparse;
  for (uint64_t block = head; block;) {
    if (!is_link(page, block)) return false;
    uint64_t index = (block - page->start) / page->blockBytes, bit = 1ull << index % 64;
    LT_CHECK(index < page->reserved);
    if (pages->marks[index / 64] & bit) return true;
    pages->marks[index / 64] |= bit;
    // A thread may have linked new blocks, but not counted them yet.
    if (index < page->capacity) ++*count;
    if (!lt_window_word(window, block, &block)) return false;
  }
  return true;
}

/// Marks all freed blocks. Returns false if the lists contradict the page's counts.
static bool mark_free(struct lt_mimalloc_pages *pages, const struct lt_mimalloc_page *page, uint32_t *owned,
                      uint32_t *foreign) {
  uint64_t ignored;
  memset(pages->marks, 0, (page->reserved + 63) / 64 * sizeof(uint64_t));
  if (page->blockBytes < LT_ALLOCATOR_PAGE / 2) lt_window_word(&pages->dense, page->start, &ignored);
  if (!mark_list(pages, page, page->free, owned) || !mark_list(pages, page, page->localFree, owned)) return false;
  // The lists may be longer than the counts say, while a thread moves blocks from one list to another. They may not be
  // shorter.
  if (page->used + *owned + COUNT_SLACK < page->capacity) return false;
  return mark_list(pages, page, page->threadFree, foreign);
}

/// True if another thread freed a block and the owner has not collected it yet.
static bool is_delayed(const struct lt_mimalloc_pages *pages, uint64_t block) {
  return pages->delayed && pages->delayed->count && lt_list_has(pages->delayed, block);
}

/// True if a block contains a mi_memid_t about its own memory. mimalloc allocated such a block for its own data.
static bool is_internal(struct lt_mimalloc_pages *pages, uint64_t block, uint64_t size) {
  for (uint64_t at = block; at + 3 * sizeof(uint64_t) <= block + size; at += sizeof(uint64_t)) {
    uint64_t address, bytes, kind;
    if (!lt_window_word(&pages->sparse, at, &address)) return false;
    if (address == block && lt_window_word(&pages->sparse, at + 8, &bytes) &&
        lt_window_word(&pages->sparse, at + 16, &kind) && bytes && bytes <= size && lt_mimalloc_is_memory_kind(kind))
      return true;
  }
  return false;
}

void lt_mimalloc_pages_add(struct lt_mimalloc_pages *pages, const struct lt_mimalloc_page *page) {
  uint32_t owned = 0, foreign = 0;
  uint64_t size = page->blockBytes;
  LT_CHECK(page->capacity <= page->reserved && page->reserved < MIMALLOC_PAGE_BLOCK_LIMIT);
  pages->pages++;
  pages->abandonedPages += page->isAbandoned;
  if (page->used == 0) {
    pages->freeBytes += page->capacity * size;
    pages->unusedBytes += (page->reserved - page->capacity) * size;
    return;
  }
  if (!mark_free(pages, page, &owned, &foreign)) {
    pages->oddPages++;
    return;
  }
  pages->freeBytes += owned * size;
  pages->cached += foreign;
  pages->cachedBytes += foreign * size;
  pages->unusedBytes += (page->reserved - page->capacity) * size;
  for (uint32_t i = 0; i < page->capacity; i++) {
    uint64_t address = page->start + i * size;
    if (pages->marks[i / 64] >> i % 64 & 1) continue;
    if (is_delayed(pages, address)) {
      pages->cached++;
      pages->cachedBytes += size;
      continue;
    }
    if (page->mayBeInternal && size <= MIMALLOC_INTERNAL_LIMIT && is_internal(pages, address, size)) {
      pages->internalBlocks++;
      continue;
    }
    pages->blocks++;
    pages->blockBytes += size;
    pages->interiorBlocks += page->hasInterior;
    if (pages->block) pages->block(pages->context, address, size);
  }
}
