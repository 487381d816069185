// The numbers that DWARF is made of. Pure reads; no bounds but the numbers' own.

#ifndef LEAKTRACE_DWARF_READING_H
#define LEAKTRACE_DWARF_READING_H

#include <stdint.h>
#include <string.h>

static inline uint64_t read_uleb(const uint8_t **p) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = *(*p)++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  return value;
}

static inline int64_t read_sleb(const uint8_t **p) {
  int64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = *(*p)++;
    if (shift < 64) value |= (int64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (shift < 64 && (byte & 0x40)) value |= -(1ll << shift);
  return value;
}

#define READ(type, p) ({ type value_; memcpy(&value_, *(p), sizeof value_); *(p) += sizeof value_; value_; })

#endif
