// Words of a process's memory, read in pieces.

#ifndef LEAKTRACE_WORD_WINDOW_H
#define LEAKTRACE_WORD_WINDOW_H

#include "allocator_books/books_memory.h"
#include "check.h"

/// A piece of memory that moves to where it is read: reading forward costs one call for many words. Owns its bytes.
struct lt_word_window {
  const struct lt_books_memory *books;
  uint8_t *bytes;
  size_t capacity; ///< a multiple of the page
  /// of the piece: the address of its first page, and its bytes that are known: `capacity` at most
  uint64_t start, known;
};

/// - `capacity`: bytes to read at once, a multiple of the page. False without memory.
bool lt_word_window_init(struct lt_word_window *window, const struct lt_books_memory *books, size_t capacity);
void lt_word_window_free(struct lt_word_window *window);
bool lt_word_window_move(struct lt_word_window *window, uint64_t address, uint64_t *word);

/// The word at an address; false if it is not known, or the address is no multiple of 8.
static LT_ALWAYS_INLINE bool lt_window_word(struct lt_word_window *window, uint64_t address, uint64_t *word) {
  uint64_t offset = address - window->start;
  LT_CHECK(window->known <= window->capacity);
  if (LT_LIKELY(address >= window->start && offset + 8 <= window->known && offset < UINT64_MAX - 8 &&
                (address & 7) == 0)) {
    *word = *(const uint64_t *)(window->bytes + offset);
    return true;
  }
  return lt_word_window_move(window, address, word);
}

/// Visits the words of a range that are present and not 0, in order of address. Returns false as soon as `visit` does.
/// Linear in the words that are present.
bool lt_window_each_word(struct lt_word_window *window, uint64_t start, uint64_t end,
                         bool (*visit)(void *context, uint64_t address, uint64_t word), void *context);

/// The 4 bytes at an address; false if they are not known, or the address is no multiple of 4.
static inline bool lt_window_half(struct lt_word_window *window, uint64_t address, uint32_t *half) {
  uint64_t word;
  if ((address & 3) || !lt_window_word(window, address & ~7ull, &word)) return false;
  *half = (uint32_t)(word >> 8 * (address & 7));
  return true;
}

#endif
