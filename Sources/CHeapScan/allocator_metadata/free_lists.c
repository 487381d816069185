// Follows lists of freed memory, with protected (XORed) links or with plain links.

#include "allocator_metadata/free_lists.h"

#include "check.h"

/// Follows a list, with protected or with plain links, up to `most` entries. Appends to `chunks`, unless it is NULL.
/// Returns the number of entries.
static uint64_t follow(struct lt_word_window *window, const struct lt_free_list *list, bool isProtected, uint64_t most,
                       uint64_t use, struct lt_growing_list *chunks, bool *isWhole) {
  uint64_t entry = list->first, count = 0, mark = 0, markAt = 1;
  *isWhole = false;
  while (entry) {
    uint64_t head, stored;
    LT_CHECK(count <= most);
    if (count >= most || entry == mark || entry < LT_ALLOCATOR_PAGE || entry >= LT_ALLOCATOR_ADDRESS_LIMIT ||
        (entry & (GLIBC_ALIGNMENT - 1)))
      return count;
    uint64_t chunk = entry - list->head;
    if (!lt_window_word(window, chunk + GLIBC_CHUNK_SIZE, &head)) return count;
    uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
    if (size < list->sizes.least || size > list->sizes.most) return count;
    if (chunks) {
      struct lt_kept_chunk kept = {chunk, use};
      if (!lt_list_append(chunks, &kept)) return count;
    }
    // Brent's algorithm detects a cycle: `mark` is an earlier entry.
    if (++count == markAt) {
      mark = entry;
      markAt *= 2;
    }
    uint64_t place = entry + list->link;
    if (!lt_window_word(window, place, &stored)) return count;
    entry = isProtected ? place >> 12 ^ stored : stored;
  }
  *isWhole = true;
  return count;
}

uint64_t lt_follow_free_list(struct lt_word_window *window, const struct lt_free_list *list, uint64_t use,
                             struct lt_growing_list *chunks, bool *isWhole) {
  bool isPlainWhole = false;
  LT_CHECK(list->sizes.least >= GLIBC_MIN_CHUNK && list->sizes.least <= list->sizes.most && chunks);
  uint64_t protected = follow(window, list, true, list->limit, use, NULL, isWhole), plain = 0;
  if (!*isWhole) plain = follow(window, list, false, list->limit, use, NULL, &isPlainWhole);
  bool isPlain = !*isWhole && (isPlainWhole || plain > protected);
  bool ignored;
  if (isPlain) *isWhole = isPlainWhole;
  return follow(window, list, !isPlain, isPlain ? plain : protected, use, chunks, &ignored);
}
