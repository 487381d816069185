// Reads the metadata of jemalloc. The tree leads to the extents, and the bitmap of a slab says which of its regions are
// free. Blocks in threads' caches are not allocated blocks.

#include "allocator_metadata/jemalloc_heap.h"

#include "allocator_metadata/jemalloc_caches.h"
#include "allocator_metadata/jemalloc_layout.h"
#include "allocator_metadata/jemalloc_root.h"
#include "check.h"

#include <string.h>

bool lt_jemalloc_heap_find(struct lt_jemalloc_heap *heap, const struct lt_allocator_memory *metadata) {
  struct lt_jemalloc_tree tree;
  memset(heap, 0, sizeof *heap);
  heap->metadata = metadata;
  lt_list_init(&heap->kept, metadata->memory, sizeof(uint64_t));
  lt_list_init(&heap->stacks, metadata->memory, sizeof(struct lt_address_range));
  if (lt_jemalloc_tree_init(&tree, metadata)) heap->root = lt_jemalloc_root_find(&tree);
  heap->layout = tree.layout;
  if (heap->root) heap->caches = lt_jemalloc_find_caches(&tree, heap->root, &heap->kept, &heap->stacks);
  lt_jemalloc_tree_free(&tree);
  if (!heap->root) return false;
  lt_list_sort(&heap->kept);
  lt_list_sort(&heap->stacks);
  heap->isShort = heap->kept.isShort || heap->stacks.isShort;
  return true;
}

void lt_jemalloc_heap_free(struct lt_jemalloc_heap *heap) {
  lt_list_free(&heap->kept);
  lt_list_free(&heap->stacks);
}

struct block_walk {
  struct lt_jemalloc_heap *heap;
  void (*block)(void *context, uint64_t address, uint64_t size);
  void *context;
};

static void hand_over(struct block_walk *w, uint64_t address, uint64_t size) {
  struct lt_jemalloc_heap *heap = w->heap;
  if (lt_list_has(&heap->kept, address)) {
    heap->cached++;
    heap->cachedBytes += size;
    return;
  }
  // The block with a cache's stacks belongs to jemalloc, not to the program.
  size_t stack = lt_list_place(&heap->stacks, address);
  if (stack < heap->stacks.count && lt_list_number(&heap->stacks, stack) == address) return;
  heap->blocks++;
  heap->blockBytes += size;
  if (w->block) w->block(w->context, address, size);
}

static void look_at_extent(void *context, const struct lt_jemalloc_extent *extent) {
  struct block_walk *w = context;
  switch (extent->state) {
    case JEMALLOC_ACTIVE: break;
    case JEMALLOC_DIRTY: w->heap->dirtyBytes += extent->bytes; return;
    case JEMALLOC_MUZZY: w->heap->muzzyBytes += extent->bytes; return;
    case JEMALLOC_RETAINED: w->heap->retainedBytes += extent->bytes; return;
    default: return;
  }
  uint64_t size = extent->blockBytes;
  if (!extent->isSlab) {
    hand_over(w, extent->address, size);
    return;
  }
  uint64_t count = extent->bytes / size;
  LT_CHECK(count <= lt_jemalloc_slab_regions(w->heap->layout->record));
  for (uint64_t i = 0; i < count; i++) {
    if (extent->freeRegions[i / 64] >> i % 64 & 1) w->heap->slabFreeBytes += size;
    else hand_over(w, extent->address + i * size, size);
  }
}

void lt_jemalloc_heap_walk(struct lt_jemalloc_heap *heap, void (*block)(void *context, uint64_t address, uint64_t size),
                           void *context) {
  struct lt_jemalloc_tree tree;
  struct block_walk walk = {heap, block, context};
  heap->blocks = heap->blockBytes = heap->cached = heap->cachedBytes = heap->slabFreeBytes = 0;
  heap->dirtyBytes = heap->muzzyBytes = heap->retainedBytes = heap->oddExtents = 0;
  bool hasRoom = lt_jemalloc_tree_init(&tree, heap->metadata);
  tree.layout = heap->layout;
  if (hasRoom) heap->oddExtents = lt_jemalloc_tree_walk(&tree, heap->root, look_at_extent, &walk);
  else heap->isShort = true;
  lt_jemalloc_tree_free(&tree);
}
