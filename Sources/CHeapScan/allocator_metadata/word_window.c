// A window on a process's memory, which moves to the words that are read.

#include "allocator_metadata/word_window.h"

#include "check.h"

#include <string.h>

bool lt_word_window_init(struct lt_word_window *window, const struct lt_allocator_memory *metadata, size_t capacity) {
  LT_CHECK(metadata && capacity > 0 && capacity % LT_ALLOCATOR_PAGE == 0);
  *window = (struct lt_word_window){.metadata = metadata, .capacity = capacity};
  window->bytes = metadata->memory->allocate(capacity);
  return window->bytes != NULL;
}

void lt_word_window_free(struct lt_word_window *window) {
  if (window->bytes) window->metadata->memory->release(window->bytes, window->capacity);
  memset(window, 0, sizeof *window);
}

LT_NOINLINE bool lt_word_window_move(struct lt_word_window *window, uint64_t address, uint64_t *word) {
  if (address & 7) return false;
  window->start = address & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1);
  window->known = lt_allocator_memory_read(window->metadata, window->start, window->bytes, window->capacity);
  LT_CHECK(window->bytes && window->known <= window->capacity);
  uint64_t offset = address - window->start;
  if (window->known < 8 || offset > window->known - 8) return false;
  *word = *(const uint64_t *)(window->bytes + offset);
  return true;
}

bool lt_window_each_word(struct lt_word_window *window, uint64_t start, uint64_t end,
                         bool (*visit)(void *context, uint64_t address, uint64_t word), void *context) {
  struct lt_address_range run = {0, start};
  while (lt_allocator_memory_next_present(window->metadata, run.end, end, &run)) {
    for (uint64_t at = lt_round_up(run.start, 8); at < run.end && run.end - at >= 8; at += 8) {
      uint64_t word;
      if (!lt_window_word(window, at, &word)) break;
      LT_CHECK(at >= start && at < end);
      if (word && !visit(context, at, word)) return false;
    }
  }
  return true;
}
