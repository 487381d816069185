// Voids: space of a trace whose chunks were taken back. Later chunks may take it. All calls need a descriptor of the
// trace that can be read and written.

#ifndef LEAKTRACE_TRACE_VOIDS_H
#define LEAKTRACE_TRACE_VOIDS_H

#include "CTraceFormat.h"

#include <stdbool.h>

/// A chunk of the trace.
struct lt_placed_chunk {
  uint64_t offset;
  uint64_t size; ///< with its header and padding
  struct lt_chunk_header header;
};

/// Reads the first chunk with a sound header from `offset` on that ends before `end`. Payloads are not looked at.
/// False if there is none.
bool lt_trace_find_chunk(int descriptor, uint64_t offset, uint64_t end, struct lt_placed_chunk *chunk);
/// Turns the chunk at an offset into a void, and takes its events off the trace's count. Its payload stays as it is.
/// Returns 0 or −errno.
int lt_trace_void_chunk(int descriptor, uint64_t offset, _Atomic uint64_t *eventCount);
/// Joins `size` bytes of chunks that follow each other to one void. `size`: LT_VOID_LIMIT at most.
int lt_trace_join_void(int descriptor, uint64_t offset, uint64_t size);
#define LT_VOID_LIMIT (1ull << 31)
/// Puts a chunk of `size` bytes, as lt_trace_finish_chunk leaves it, into a void that has room for it. A reader finds
/// either the void or the chunk. `left` gets what remains of the void, of size 0 if nothing does. Returns 0 or −errno.
int lt_trace_fill_void(int descriptor, const struct lt_placed_chunk *space, const uint8_t *chunk, uint64_t size,
                       struct lt_placed_chunk *left);

#endif
