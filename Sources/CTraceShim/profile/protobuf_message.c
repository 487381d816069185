#include "profile/protobuf_message.h"

#include "CTraceFormat.h"
#include "check.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, VARINT_SIZE = 10 };

static bool has_room(struct lt_protobuf *message, size_t size) {
  LT_CHECK(message->bytes && message->size <= message->capacity);
  if (size > message->capacity - message->size) message->isFull = true;
  return !message->isFull;
}

static void put(struct lt_protobuf *message, uint64_t value) {
  if (!has_room(message, VARINT_SIZE)) return;
  message->size = (size_t)(lt_put_varint(message->bytes + message->size, value) - message->bytes);
}

void lt_protobuf_element(struct lt_protobuf *message, uint64_t value) { put(message, value); }

void lt_protobuf_number(struct lt_protobuf *message, uint32_t field, uint64_t value) {
  LT_CHECK(field > 0 && field < 1 << 28);
  if (!value) return;
  put(message, field << 3 | WIRE_VARINT);
  put(message, value);
}

void lt_protobuf_text(struct lt_protobuf *message, uint32_t field, const char *text, size_t length) {
  put(message, field << 3 | WIRE_LENGTH);
  put(message, length);
  if (!has_room(message, length)) return;
  LT_CHECK(message->size + length <= message->capacity);
  memcpy(message->bytes + message->size, text, length);
  message->size += length;
}

size_t lt_protobuf_begin(struct lt_protobuf *message, uint32_t field) {
  put(message, field << 3 | WIRE_LENGTH);
  if (has_room(message, 1)) message->size++; // for a length below 128; a larger one moves the bytes after it
  return message->size;
}

void lt_protobuf_end(struct lt_protobuf *message, size_t begun) {
  if (message->isFull) return;
  LT_CHECK(begun > 0 && begun <= message->size);
  uint8_t length[VARINT_SIZE];
  size_t size = message->size - begun, lengthSize = (size_t)(lt_put_varint(length, size) - length);
  if (!has_room(message, lengthSize - 1)) return;
  memmove(message->bytes + begun + lengthSize - 1, message->bytes + begun, size);
  memcpy(message->bytes + begun - 1, length, lengthSize);
  message->size += lengthSize - 1;
  LT_CHECK(message->size <= message->capacity);
}
