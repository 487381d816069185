// Reads the words of images' data.

#include "allocator_books/image_data.h"

static bool each_word(const struct lt_books_memory *books, struct lt_word_window *window,
                      const struct lt_snapshot_region *region,
                      bool (*word)(void *context, uint64_t address, uint64_t word), void *context) {
  struct lt_address_range run = {0, region->start};
  while (lt_books_next_present(books, run.end, region->end, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t value;
      if (!lt_window_word(window, at, &value)) break;
      if (value && !word(context, at, value)) return false;
    }
  }
  return true;
}

void lt_image_data_each(const struct lt_books_memory *books, struct lt_word_window *window,
                        bool (*word)(void *context, uint64_t address, uint64_t word), void *context) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < books->regionCount; i++) {
    const struct lt_snapshot_region *region = &books->regions[i];
    bool isData = (region->flags & LT_REGION_WRITABLE) && (region->flags & LT_REGION_CAPTURED);
    // Data without an initial value is mapped right behind an image's initialised data.
    bool isBehind =
        last && region->start == last && (region->kind == LT_REGION_ANONYMOUS || region->kind == LT_REGION_BREAK);
    if (!isData || !(region->kind == LT_REGION_FILE || isBehind)) {
      last = 0;
      continue;
    }
    last = region->end;
    if (!each_word(books, window, region, word, context)) return;
  }
}
