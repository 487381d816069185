// Reads the metadata of mimalloc. The map of mimalloc 3 or the segments of mimalloc 2 lead to the pages. The live
// blocks are the blocks of pages that are in no free list.

#include "allocator_metadata/mimalloc_heap.h"

#include <string.h>

bool lt_mimalloc_heap_find(struct lt_mimalloc_heap *heap, const struct lt_allocator_memory *metadata) {
  memset(heap, 0, sizeof *heap);
  heap->metadata = metadata;
  lt_mimalloc_find_mapped(metadata, &heap->mapped);
  heap->isShort = heap->mapped.isShort;
  heap->allocators = lt_mimalloc_map_find(metadata, &heap->mapped, &heap->map, &heap->isShort);
  heap->root = heap->map.variable;
  uint64_t older = lt_mimalloc_segments_find(metadata, &heap->mapped, &heap->segments, &heap->isShort);
  if (!heap->allocators) heap->root = heap->segments.variable;
  heap->allocators += older;
  return heap->root != 0;
}

void lt_mimalloc_heap_free(struct lt_mimalloc_heap *heap) {
  lt_mimalloc_segments_free(&heap->segments);
  lt_list_free(&heap->mapped);
}

void lt_mimalloc_heap_walk(struct lt_mimalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context) {
  struct lt_mimalloc_pages pages;
  bool hasRoom = lt_mimalloc_pages_init(&pages, heap->metadata);
  pages.mapped = &heap->mapped;
  pages.block = block;
  pages.context = context;
  uint64_t odd = 0;
  heap->freeSpanBytes = 0;
  if (!hasRoom) heap->isShort = true;
  else if (heap->map.variable) odd = lt_mimalloc_map_walk(&heap->map, &pages, &heap->isShort);
  else odd = lt_mimalloc_segments_walk(&heap->segments, &pages, &heap->freeSpanBytes, &heap->isShort);
  heap->blocks = pages.blocks;
  heap->blockBytes = pages.blockBytes;
  heap->internalBlocks = pages.internalBlocks;
  heap->interiorBlocks = pages.interiorBlocks;
  heap->cached = pages.cached;
  heap->cachedBytes = pages.cachedBytes;
  heap->freeBytes = pages.freeBytes;
  heap->unusedBytes = pages.unusedBytes;
  heap->pages = pages.pages;
  heap->abandonedPages = pages.abandonedPages;
  heap->oddPages = pages.oddPages + odd;
  lt_mimalloc_pages_free(&pages);
}
