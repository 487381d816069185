// The memory that is scanned: the recorder's own process, or another one.

#ifndef LEAKTRACE_SCANNED_MEMORY_H
#define LEAKTRACE_SCANNED_MEMORY_H

#include "CTraceFormat.h"

#include <stdbool.h>
#include <stddef.h>

/// A process's memory, where no address is trusted, and working memory. For one thread at a time.
struct lt_memory {
  /// Copies at most a page of bytes. False if some of them cannot be read; nothing is copied then.
  bool (*read)(const struct lt_memory *memory, uint64_t address, void *to, size_t size);
  /// Allocates zeroed memory in the calling process, which costs nothing until it is touched. NULL if there is none.
  void *(*allocate)(size_t size);
  void (*release)(void *allocated, size_t size);
  void *context; ///< the reader's
};

static inline bool lt_read_bytes(const struct lt_memory *memory, uint64_t address, void *to, size_t size) {
  enum { LEAST_ADDRESS = 4096 };
  return address >= LEAST_ADDRESS && address < LT_FRAME_ADDRESS_MASK && memory->read(memory, address, to, size);
}
/// These are 0 where memory cannot be read.
static inline uint64_t lt_word_at(const struct lt_memory *memory, uint64_t address) {
  uint64_t v = 0;
  lt_read_bytes(memory, address, &v, sizeof v);
  return v;
}
static inline uint32_t lt_half_at(const struct lt_memory *memory, uint64_t address) {
  uint32_t v = 0;
  lt_read_bytes(memory, address, &v, sizeof v);
  return v;
}
static inline uint16_t lt_short_at(const struct lt_memory *memory, uint64_t address) {
  uint16_t v = 0;
  lt_read_bytes(memory, address, &v, sizeof v);
  return v;
}

#endif
