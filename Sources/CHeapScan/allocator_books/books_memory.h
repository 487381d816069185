// The memory of a process, for the code that reads an allocator's books in it.

#ifndef LEAKTRACE_BOOKS_MEMORY_H
#define LEAKTRACE_BOOKS_MEMORY_H

#include "address_index.h"
#include "scanned_memory.h"

/// Facts about a process whose allocator's books are read. The process does not run during that time; its threads may
/// be stopped inside the allocator. Owned by the caller, and for one thread at a time.
struct lt_books_memory {
  const struct lt_memory *memory;
  /// In order of address, none overlapping. Blocks are searched for in regions marked LT_REGION_CAPTURED.
  const struct lt_snapshot_region *regions;
  uint32_t regionCount;
  /// All threads of the process; only their `threadPointer` is used. There may be none.
  const struct lt_snapshot_thread *threads;
  uint32_t threadCount;
  /// The 36 of glibc 2.36; 0 if it is not known.
  uint32_t libcRelease;
  /// Initialised data that is searched for the allocator's variables.
  const struct lt_address_range *data;
  uint32_t dataCount;
  /// Copies bytes from an address on. Returns the number of bytes before the first unreadable one. NULL: `memory` reads
  /// page by page.
  size_t (*readOn)(const struct lt_books_memory *books, uint64_t address, void *to, size_t size);
  /// Finds the first run of present pages in a range. All other pages read as zeros. False if there is none. NULL: all
  /// pages may be present.
  bool (*nextPresent)(const struct lt_books_memory *books, uint64_t start, uint64_t end, struct lt_address_range *run);
  void *context; ///< the reader's
};

enum { LT_BOOKS_PAGE = 4096 };

/// Addresses of processes end here.
#define LT_BOOKS_ADDRESS_LIMIT LT_FRAME_ADDRESS_MASK

/// The region with an address; NULL if none has it. Logarithmic.
const struct lt_snapshot_region *lt_books_region(const struct lt_books_memory *books, uint64_t address);

/// Copies bytes from an address on. Returns the number of bytes before the first unreadable one.
size_t lt_books_read(const struct lt_books_memory *books, uint64_t address, void *to, size_t size);

/// The first run of present bytes in a range; false if there is none.
bool lt_books_next_present(const struct lt_books_memory *books, uint64_t start, uint64_t end,
                           struct lt_address_range *run);

static inline uint64_t lt_round_up(uint64_t value, uint64_t unit) {
  return value > UINT64_MAX - unit ? UINT64_MAX & ~(unit - 1) : (value + unit - 1) & ~(unit - 1);
}

#endif
