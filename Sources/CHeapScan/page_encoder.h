// Encodes the words of a heap image, page by page, as parts of a trace. The format: struct lt_memory_part.

#ifndef LEAKTRACE_PAGE_ENCODER_H
#define LEAKTRACE_PAGE_ENCODER_H

#include "check.h"
#include "scanned_memory.h"

/// Most bytes that a page takes: its number, the bits, and every word at its longest.
enum { LT_PAGE_ENCODED_LIMIT = 10 + 64 + LT_MEMORY_PAGE_WORDS * 10 };

struct lt_page_encoder {
  uint8_t *buffer;
  size_t size, used;           ///< of the buffer; `used` is at most `size`
  uint64_t lastPage, lastWord; ///< of this part; pages ascend
};

/// Begins a part in the buffer, which must have room for its head and one page.
void lt_page_encoder_begin(struct lt_page_encoder *encoder, uint8_t *buffer, size_t size,
                           const struct lt_memory_part *part);
/// Tells whether another page surely fits.
static inline bool lt_page_encoder_has_room(const struct lt_page_encoder *encoder) {
  LT_CHECK(encoder->used <= encoder->size);
  return encoder->size - encoder->used >= LT_PAGE_ENCODED_LIMIT;
}
/// Appends a page. `bits` says which of `words` are in it. Pages come in order of address.
void lt_page_encoder_put(struct lt_page_encoder *encoder, uint64_t page, const uint64_t bits[8],
                         const uint64_t words[LT_MEMORY_PAGE_WORDS]);

#endif
