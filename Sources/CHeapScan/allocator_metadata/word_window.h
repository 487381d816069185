// Reads words of a process's memory, many in one call.

#ifndef LEAKTRACE_WORD_WINDOW_H
#define LEAKTRACE_WORD_WINDOW_H

#include "allocator_metadata/allocator_memory.h"
#include "check.h"

/// A copy of a piece of memory. When a word outside of the piece is read, the window moves there. Reading forward takes
/// one call for many words. The window owns the copied bytes.
struct lt_word_window {
  const struct lt_allocator_memory *metadata;
  uint8_t *bytes;
  size_t capacity; ///< a multiple of the page size
  /// The address of the piece's first page, and how many of its bytes were read; at most `capacity`.
  uint64_t start, known;
};

/// Returns false if there is no memory.
///
/// - `capacity`: bytes to read in one call, a multiple of the page size.
bool lt_word_window_init(struct lt_word_window *window, const struct lt_allocator_memory *metadata, size_t capacity);
void lt_word_window_free(struct lt_word_window *window);
bool lt_word_window_move(struct lt_word_window *window, uint64_t address, uint64_t *word);

/// Reads the word at an address. Returns false if it cannot be read, or if the address is not a multiple of 8.
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

/// Calls `visit` for each word of a range that is present and not 0, in order of address. Stops and returns false when
/// `visit` does. Linear in the words that are present.
bool lt_window_each_word(struct lt_word_window *window, uint64_t start, uint64_t end,
                         bool (*visit)(void *context, uint64_t address, uint64_t word), void *context);

/// Reads the 4 bytes at an address. Returns false if they cannot be read, or if the address is not a multiple of 4.
static inline bool lt_window_half(struct lt_word_window *window, uint64_t address, uint32_t *half) {
  uint64_t word;
  if ((address & 3) || !lt_window_word(window, address & ~7ull, &word)) return false;
  *half = (uint32_t)(word >> 8 * (address & 7));
  return true;
}

#endif
