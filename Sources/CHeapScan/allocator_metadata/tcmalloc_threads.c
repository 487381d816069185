// Follows the list of tcmalloc's thread caches.

#include "allocator_metadata/tcmalloc_threads.h"

#include "allocator_metadata/tcmalloc_pages.h"
#include "check.h"

bool lt_tcmalloc_is_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes, uint64_t cache) {
  if (!lt_tcmalloc_may_own(window->metadata, cache, TCMALLOC_CACHE_BYTES)) return false;
  for (unsigned c = 0; c < classes->count; c++) {
    uint32_t bytes;
    if (!lt_window_half(window, cache + (uint64_t)c * TCMALLOC_LIST_BYTES + TCMALLOC_LIST_SIZE, &bytes) ||
        bytes != classes->bytes[c])
      return false;
  }
  return true;
}

bool lt_tcmalloc_read_links(struct lt_word_window *window, uint64_t cache, uint64_t links, uint64_t *next,
                            uint64_t *previous) {
  LT_CHECK(links + 16 <= TCMALLOC_CACHE_BYTES);
  return lt_window_word(window, cache + links, next) && lt_window_word(window, cache + links + 8, previous);
}

uint64_t lt_tcmalloc_each_cache(struct lt_word_window *window, const struct lt_tcmalloc_classes *classes,
                                const struct lt_tcmalloc_cache_list *list, void (*visit)(void *context, uint64_t cache),
                                void *context, bool *isWhole) {
  uint64_t count = 0, cache = list->first, last = 0, beforeLast = 0, next, previous;
  bool isUnlinking = false;
  // The loop ends: each cache must refer back to the cache before it, so no cache can be visited twice.
  while (cache && lt_tcmalloc_is_cache(window, classes, cache) &&
         lt_tcmalloc_read_links(window, cache, list->links, &next, &previous)) {
    if (previous != last) {
      // A thread may have been stopped while it took its cache out of the list.
      if (isUnlinking || previous != beforeLast) break;
      isUnlinking = true;
    }
    count++;
    if (visit) visit(context, cache);
    beforeLast = last;
    last = cache;
    cache = next;
  }
  *isWhole = cache == 0;
  return count;
}
