// A message in the encoding of Protocol Buffers, written into memory of one size.
//
// Source: the encoding's specification, protobuf.dev/programming-guides/encoding.

#ifndef LEAKTRACE_PROTOBUF_MESSAGE_H
#define LEAKTRACE_PROTOBUF_MESSAGE_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lt_protobuf {
  uint8_t *bytes;
  size_t size, capacity; ///< `size` is at most `capacity`
  bool isFull;           ///< something did not fit: the message is of no use
};

/// A field with a number; none if that is 0, as readers take an absent one.
void lt_protobuf_number(struct lt_protobuf *message, uint32_t field, uint64_t value);
void lt_protobuf_text(struct lt_protobuf *message, uint32_t field, const char *text, size_t length);
/// An element of a packed field, between _begin and _end of that field.
void lt_protobuf_element(struct lt_protobuf *message, uint64_t value);
/// Begins a field that is a message, or a packed one. Returns what `_end` takes.
size_t lt_protobuf_begin(struct lt_protobuf *message, uint32_t field);
void lt_protobuf_end(struct lt_protobuf *message, size_t begun);

#endif
