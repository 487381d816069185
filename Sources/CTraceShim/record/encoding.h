// Texts as the trace has them. docs/trace-format.md has the grammar; trace_numbers.h has numbers.

#ifndef LEAKTRACE_ENCODING_H
#define LEAKTRACE_ENCODING_H

#include "CTraceFormat.h"

/// Puts a text with its length in front, cut to the room left before `end`. Returns what follows it.
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

#endif
