// Computes an allocator's figures and encodes them for a trace, as an LT_DEF_ALLOCATOR.

#ifndef LEAKTRACE_ALLOCATOR_FIGURES_H
#define LEAKTRACE_ALLOCATOR_FIGURES_H

#include "CTraceFormat.h"
#include "allocator_metadata/glibc_heap.h"
#include "allocator_metadata/jemalloc_heap.h"
#include "allocator_metadata/mimalloc_heap.h"
#include "allocator_metadata/tcmalloc_heap.h"

/// A block that keeps an arena from shrinking.
struct lt_allocator_pin {
  uint64_t freeBelow, freeAbove; ///< free bytes of the arena below and above the block
  uint64_t address, bytes;
};

/// Maximum number of pins to record, one for each arena.
enum { LT_ALLOCATOR_PINS = 8 };

struct lt_allocator_figures {
  uint64_t kind;                          ///< the allocator, such as LT_ALLOCATOR_GLIBC; 0 if it has no blocks
  uint64_t figures[LT_ALLOCATOR_FIGURES]; ///< indexed by LT_ALLOCATOR_…, such as LT_ALLOCATOR_IN_USE
  /// Only the pins with the most free memory below them are recorded, in descending order of that memory.
  struct lt_allocator_pin pins[LT_ALLOCATOR_PINS];
  uint32_t pinCount;
};

/// Returns the figures of a heap that has been read. Takes constant time for each arena.
struct lt_allocator_figures lt_glibc_heap_figures(const struct lt_glibc_heap *heap);
struct lt_allocator_figures lt_jemalloc_heap_figures(const struct lt_jemalloc_heap *heap);
struct lt_allocator_figures lt_mimalloc_heap_figures(const struct lt_mimalloc_heap *heap);
struct lt_allocator_figures lt_tcmalloc_heap_figures(const struct lt_tcmalloc_heap *heap);

/// Maximum size of a definition's payload, in bytes.
enum { LT_ALLOCATOR_PAYLOAD = 10 * (4 + LT_ALLOCATOR_FIGURES + 4 * LT_ALLOCATOR_PINS) };
/// Writes the payload of an LT_DEF_ALLOCATOR, and returns its size. `time` is the time of the heap image.
size_t lt_allocator_figures_put(const struct lt_allocator_figures *figures, uint64_t time, uint8_t *to);

#endif
