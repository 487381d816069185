// The encoding of texts in the trace. docs/engineering/trace-format.md has the grammar; trace_numbers.h has numbers.

#ifndef LEAKTRACE_ENCODING_H
#define LEAKTRACE_ENCODING_H

#include "CTraceFormat.h"

/// Writes a text after its length, cut to the room left before `end`. Returns the address after it.
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

#endif
