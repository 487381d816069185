// Access to the scanned memory of the recorder's own process, or of another process.

#ifndef LEAKTRACE_SCANNED_MEMORY_H
#define LEAKTRACE_SCANNED_MEMORY_H

#include "CTraceFormat.h"

#include <stdbool.h>
#include <stddef.h>

/// Functions that read a process's memory and allocate working memory. No address in the process's memory is trusted.
/// Only one thread at a time may use these functions.
struct lt_memory {
  /// Copies at most a page of bytes. Returns false if some of the bytes cannot be read; then nothing is copied.
  bool (*read)(const struct lt_memory *memory, uint64_t address, void *to, size_t size);
  /// Allocates zeroed memory in the calling process. A page takes physical memory only once it is touched. Returns NULL
  /// if there is no memory.
  void *(*allocate)(size_t size);
  void (*release)(void *allocated, size_t size);
  void *context; ///< for the use of `read`
};

static inline bool lt_read_bytes(const struct lt_memory *memory, uint64_t address, void *to, size_t size) {
  enum { MIN_ADDRESS = 4096 };
  return address >= MIN_ADDRESS && address < LT_FRAME_ADDRESS_MASK && memory->read(memory, address, to, size);
}
/// This function and the next two return 0 if the memory cannot be read.
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
