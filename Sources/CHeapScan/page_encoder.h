// Encodes the words of a heap image, page by page, as parts of a trace. For the format, see struct lt_memory_part.

#ifndef LEAKTRACE_PAGE_ENCODER_H
#define LEAKTRACE_PAGE_ENCODER_H

#include "check.h"
#include "scanned_memory.h"

/// The most bytes that an encoded page takes: its number, the bits, and every word in its longest encoding.
enum { LT_PAGE_ENCODED_LIMIT = 10 + 64 + LT_MEMORY_PAGE_WORDS * 10 };

struct lt_page_encoder {
  uint8_t *buffer;
  size_t size, used;           ///< bytes of the buffer; `used` is at most `size`
  uint64_t lastPage, lastWord; ///< the last page number and the last word of this part; page numbers ascend
};

/// Begins a part in the buffer, which must have room for the part's header and one page.
void lt_page_encoder_begin(struct lt_page_encoder *encoder, uint8_t *buffer, size_t size,
                           const struct lt_memory_part *part);
/// True if another page fits, even in its longest encoding.
static inline bool lt_page_encoder_has_room(const struct lt_page_encoder *encoder) {
  LT_CHECK(encoder->used <= encoder->size);
  return encoder->size - encoder->used >= LT_PAGE_ENCODED_LIMIT;
}
/// Appends a page. `bits` says which of `words` the image contains. Pages must be appended in order of address.
void lt_page_encoder_put(struct lt_page_encoder *encoder, uint64_t page, const uint64_t bits[8],
                         const uint64_t words[LT_MEMORY_PAGE_WORDS]);

#endif
