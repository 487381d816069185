// Follows the free lists of tcmalloc's transfer caches and thread caches.

#include "allocator_metadata/tcmalloc_free_lists.h"

#include "check.h"

#include <string.h>

enum {
  TABLE_WINDOW = 8 << 10,
  /// The blocks of a list may be far apart, so a small window is enough.
  LINK_WINDOW = LT_ALLOCATOR_PAGE,
};

struct reading {
  const struct lt_tcmalloc_state *state;
  struct lt_word_window table, link;
  uint64_t left[TCMALLOC_CLASSES]; ///< for each class, how many more objects fit into the process's memory
  struct lt_growing_list *cached;
  struct lt_tcmalloc_free_lists *lists;
};

/// Follows a list of at most `limit` blocks. Returns false if the list is longer or damaged.
///
/// - `count`: set to the number of blocks.
/// - `last`: set to the last block; 0 if there is none.
static bool follow(struct reading *r, unsigned sizeClass, uint64_t block, uint64_t limit, uint64_t *count,
                   uint64_t *last) {
  *last = *count = 0;
  while (block) {
    uint64_t next, number = lt_tcmalloc_cached(block, sizeClass);
    if (*count == limit || r->left[sizeClass] == 0) return false;
    if (block >= LT_ALLOCATOR_ADDRESS_LIMIT || !lt_window_word(&r->link, block, &next)) return false;
    r->left[sizeClass]--;
    ++*count;
    lt_list_append(r->cached, &number);
    *last = block;
    block = next;
  }
  return true;
}

static void read_transfer_cache(struct reading *r, unsigned sizeClass) {
  uint64_t list = r->state->central + (uint64_t)sizeClass * TCMALLOC_CENTRAL_BYTES;
  uint32_t used;
  if (!lt_window_half(&r->table, list + TCMALLOC_CENTRAL_USED, &used) || used > TCMALLOC_SLOTS) {
    r->lists->brokenLists++;
    return;
  }
  for (uint32_t i = 0; i < used; i++) {
    uint64_t slot = list + TCMALLOC_CENTRAL_SLOTS + 16ull * i, head, tail, count, last;
    uint32_t batch = r->state->classes.batch[sizeClass];
    if (!lt_window_word(&r->table, slot, &head) || !lt_window_word(&r->table, slot + 8, &tail) ||
        !follow(r, sizeClass, head, batch, &count, &last))
      r->lists->brokenLists++;
    else if (count != batch || last != tail) r->lists->unexpectedCount++;
  }
}

static void read_thread_cache(void *context, uint64_t cache) {
  struct reading *r = context;
  const struct lt_tcmalloc_classes *classes = &r->state->classes;
  for (unsigned c = 1; c < classes->count; c++) {
    uint64_t list = cache + (uint64_t)c * TCMALLOC_LIST_BYTES, head, count, last;
    uint32_t length;
    // A thread may have been stopped after it put a batch into the list, and before it counted the batch.
    if (!lt_window_word(&r->table, list, &head) || !lt_window_half(&r->table, list + TCMALLOC_LIST_LENGTH, &length) ||
        !follow(r, c, head, (uint64_t)length + classes->batch[c], &count, &last))
      r->lists->brokenLists++;
    else if (count != length) r->lists->unexpectedCount++;
  }
}

bool lt_tcmalloc_read_free_lists(const struct lt_tcmalloc_state *state, const struct lt_allocator_memory *metadata,
                                 struct lt_growing_list *cached, struct lt_tcmalloc_free_lists *lists) {
  struct reading r = {.state = state, .cached = cached, .lists = lists};
  uint64_t bytes = 0;
  bool isWhole = false;
  *lists = (struct lt_tcmalloc_free_lists){0};
  for (uint32_t i = 0; i < metadata->regionCount; i++)
    if (metadata->regions[i].flags & LT_REGION_CAPTURED) bytes += metadata->regions[i].end - metadata->regions[i].start;
  for (unsigned c = 1; c < state->classes.count; c++) r.left[c] = bytes / state->classes.bytes[c];
  bool hasRoom =
      lt_word_window_init(&r.table, metadata, TABLE_WINDOW) && lt_word_window_init(&r.link, metadata, LINK_WINDOW);
  if (hasRoom) {
    for (unsigned c = 1; c < state->classes.count; c++) read_transfer_cache(&r, c);
    lists->caches = lt_tcmalloc_each_cache(&r.table, &state->classes, &state->caches, read_thread_cache, &r, &isWhole);
    if (!isWhole) lists->brokenLists++;
  }
  lt_word_window_free(&r.table);
  lt_word_window_free(&r.link);
  return hasRoom && !cached->isShort;
}
