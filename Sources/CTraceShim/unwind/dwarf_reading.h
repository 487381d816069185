// The numbers that DWARF is made of, read within bounds. Pure reads.

#ifndef LEAKTRACE_DWARF_READING_H
#define LEAKTRACE_DWARF_READING_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Bytes yet to be read. A number that the end cuts off is 0, and the rest of the bytes is gone with it.
struct lt_dwarf_reader {
  const uint8_t *next, *end; ///< `next` is at most `end`
  bool isShort;              ///< more was asked for than there was
};

static inline void read_too_far(struct lt_dwarf_reader *r) {
  LT_CHECK(r->next <= r->end);
  r->next = r->end;
  r->isShort = true;
}

static inline uint64_t read_fixed(struct lt_dwarf_reader *r, size_t size) {
  uint64_t value = 0;
  LT_CHECK(size <= sizeof value && r->next <= r->end);
  if ((size_t)(r->end - r->next) < size) {
    read_too_far(r);
    return 0;
  }
  memcpy(&value, r->next, size);
  r->next += size;
  return value;
}

static inline uint8_t read_byte(struct lt_dwarf_reader *r) { return (uint8_t)read_fixed(r, 1); }

static inline uint64_t read_leb(struct lt_dwarf_reader *r, bool isSigned) {
  uint64_t value = 0;
  unsigned shift = 0;
  LT_CHECK(r->next <= r->end);
  while (r->next < r->end) {
    uint8_t byte = *r->next++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (shift < 64) shift += 7;
    if (byte & 0x80) continue;
    if (isSigned && shift < 64 && byte & 0x40) value |= ~0ull << shift;
    return value;
  }
  read_too_far(r);
  return 0;
}

static inline uint64_t read_uleb(struct lt_dwarf_reader *r) { return read_leb(r, false); }
static inline int64_t read_sleb(struct lt_dwarf_reader *r) { return (int64_t)read_leb(r, true); }

/// Returns the next `size` bytes alone, and goes on behind them.
static inline struct lt_dwarf_reader read_part(struct lt_dwarf_reader *r, uint64_t size) {
  struct lt_dwarf_reader part = {.next = r->next, .end = r->next};
  if (size > (uint64_t)(r->end - r->next)) {
    read_too_far(r);
    part.isShort = true;
    return part;
  }
  part.end = r->next += size;
  LT_CHECK(part.next <= part.end && part.end <= r->end);
  return part;
}

#endif
