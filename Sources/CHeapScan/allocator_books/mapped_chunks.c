// Finds blocks of malloc that are mappings of their own, by the shape of their heads.

#include "allocator_books/mapped_chunks.h"

#include "allocator_books/glibc_layout.h"
#include "check.h"

enum { WINDOW = 64 << 10 };
/// Bytes of memory that are searched.
static const uint64_t SEARCH_LIMIT = 1ull << 36;

struct search {
  const struct lt_books_memory *books;
  struct lt_word_window window;
  struct lt_growing_list *chunks;
  uint64_t left;
};

/// The chunk whose head is in a page. The head of a mapped chunk stands where the block behind it is aligned to a power
/// of two.
static bool chunk_in_page(struct search *s, uint64_t page, struct lt_address_range range,
                          struct lt_mapped_chunk *chunk) {
  static const uint16_t OFFSETS[] = {0, 16, 48, 112, 240, 496, 1008, 2032, 4080};
  for (unsigned i = 0; i < sizeof OFFSETS / sizeof *OFFSETS; i++) {
    uint64_t address = page + OFFSETS[i], before, head;
    if (!lt_window_word(&s->window, address, &before) || !lt_window_word(&s->window, address + GLIBC_CHUNK_SIZE, &head))
      return false;
    uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
    if ((head & GLIBC_CHUNK_FLAGS) != GLIBC_IS_MAPPED || (before & 15)) continue;
    // What was cut off for the alignment reaches back to the mapping's beginning, less than a page for most.
    if (before != OFFSETS[i] && !(OFFSETS[i] == 4080 && (before & 4095) == 4080 && before <= address - range.start))
      continue;
    if (size < GLIBC_LEAST_CHUNK || address >= range.end || size > range.end - address ||
        ((before + size) & (LT_BOOKS_PAGE - 1)))
      continue;
    *chunk = (struct lt_mapped_chunk){address, size};
    return true;
  }
  return false;
}

static void search_range(struct search *s, struct lt_address_range range) {
  LT_CHECK(range.start < range.end);
  struct lt_address_range run = {0, range.start};
  uint64_t next = range.start; // a chunk goes on over pages that are not there
  while (s->left >= LT_BOOKS_PAGE && lt_books_next_present(s->books, run.end, range.end, &run)) {
    uint64_t page = lt_round_up(run.start > next ? run.start : next, LT_BOOKS_PAGE);
    while (page < run.end && s->left >= LT_BOOKS_PAGE) {
      struct lt_mapped_chunk chunk;
      s->left -= LT_BOOKS_PAGE;
      LT_CHECK(page % LT_BOOKS_PAGE == 0 && page >= next);
      if (chunk_in_page(s, page, range, &chunk) && lt_list_append(s->chunks, &chunk)) {
        next = lt_round_up(chunk.address + chunk.size, LT_BOOKS_PAGE);
        page = next;
      } else {
        page += LT_BOOKS_PAGE;
      }
    }
  }
}

bool lt_glibc_find_mapped_chunks(const struct lt_books_memory *books, const struct lt_growing_list *taken,
                                 struct lt_growing_list *chunks) {
  struct search s = {.books = books, .chunks = chunks, .left = SEARCH_LIMIT};
  if (!lt_word_window_init(&s.window, books, WINDOW)) return false;
  size_t index = 0;
  for (uint32_t i = 0; i < books->regionCount; i++) {
    const struct lt_snapshot_region *region = &books->regions[i];
    // The break and the main stack are of other kinds.
    if (region->kind != LT_REGION_ANONYMOUS || !(region->flags & LT_REGION_CAPTURED) ||
        region->end > LT_BOOKS_ADDRESS_LIMIT)
      continue;
    uint64_t at = region->start;
    for (; at < region->end && index < taken->count; index++) {
      const struct lt_address_range *range = lt_list_item(taken, index);
      if (range->start >= region->end) break;
      if (range->end <= at) continue;
      if (range->start > at) search_range(&s, (struct lt_address_range){at, range->start});
      at = range->end;
      if (at >= region->end) break;
    }
    if (at < region->end) search_range(&s, (struct lt_address_range){at, region->end});
  }
  lt_word_window_free(&s.window);
  return s.left >= LT_BOOKS_PAGE && !chunks->isShort;
}
