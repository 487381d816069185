#include "record/encoding.h"

#include "check.h"

#include <string.h>

uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text) {
  LT_CHECK(text && p < end);
  size_t length = strlen(text), room = end > p + 10 ? (size_t)(end - p) - 10 : 0;
  if (length > room) length = room;
  LT_CHECK(length <= room);
  p = lt_put_varint(p, length);
  memcpy(p, text, length);
  LT_CHECK(p + length <= end);
  return p + length;
}
