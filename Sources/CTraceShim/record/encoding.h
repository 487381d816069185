// Numbers and texts as the trace has them. docs/trace-format.md has the grammar.

#ifndef LEAKTRACE_ENCODING_H
#define LEAKTRACE_ENCODING_H

#include "arch/compiler.h"

#include <stdint.h>

/// Puts a number. Returns what follows it, as all that put something do.
static LT_ALWAYS_INLINE uint8_t *lt_put_varint(uint8_t *p, uint64_t value) {
  while (value >= 0x80) {
    *p++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *p++ = (uint8_t)value;
  return p;
}

static LT_ALWAYS_INLINE uint64_t lt_zigzag(int64_t value) { return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63); }

/// Puts a text with its length in front, cut to the room left before `end`.
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

#endif
