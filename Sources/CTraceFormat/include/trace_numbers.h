// The encoding of numbers in payloads, and compiler hints that all C code of this package uses.

#ifndef LEAKTRACE_TRACE_NUMBERS_H
#define LEAKTRACE_TRACE_NUMBERS_H

#include <stdint.h>

#define LT_LIKELY(x) __builtin_expect(!!(x), 1)
#define LT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LT_NOINLINE __attribute__((noinline))
#define LT_ALWAYS_INLINE inline __attribute__((always_inline))

/// Writes a varint. Returns the address after it.
static LT_ALWAYS_INLINE uint8_t *lt_put_varint(uint8_t *p, uint64_t value) {
  while (value >= 0x80) {
    *p++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *p++ = (uint8_t)value;
  return p;
}

static LT_ALWAYS_INLINE uint64_t lt_zigzag(int64_t value) { return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63); }

#endif
