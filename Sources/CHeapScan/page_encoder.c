// Encodes the words of a heap image. Calls nothing.

#include "page_encoder.h"

#include "check.h"

#include <string.h>

void lt_page_encoder_begin(struct lt_page_encoder *encoder, uint8_t *buffer, size_t size,
                           const struct lt_memory_part *part) {
  LT_CHECK(buffer && size >= sizeof *part + LT_PAGE_ENCODED_LIMIT);
  memcpy(buffer, part, sizeof *part);
  *encoder = (struct lt_page_encoder){.buffer = buffer, .size = size, .used = sizeof *part};
}

void lt_page_encoder_put(struct lt_page_encoder *encoder, uint64_t page, const uint64_t bits[8],
                         const uint64_t words[LT_MEMORY_PAGE_WORDS]) {
  LT_CHECK(lt_page_encoder_has_room(encoder) && encoder->used >= sizeof(struct lt_memory_part));
  LT_CHECK(page > encoder->lastPage || encoder->used == sizeof(struct lt_memory_part));
  uint8_t *p = lt_put_varint(encoder->buffer + encoder->used, page - encoder->lastPage);
  encoder->lastPage = page;
  memcpy(p, bits, 64);
  p += 64;
  uint64_t last = encoder->lastWord;
  for (unsigned group = 0; group < 8; group++) {
    for (uint64_t rest = bits[group]; rest; rest &= rest - 1) {
      uint64_t word = words[group * 64 + (unsigned)__builtin_ctzll(rest)];
      p = lt_put_varint(p, lt_zigzag((int64_t)(word - last)));
      last = word;
    }
  }
  encoder->lastWord = last;
  encoder->used = (size_t)(p - encoder->buffer);
  LT_CHECK(encoder->used <= encoder->size);
}
