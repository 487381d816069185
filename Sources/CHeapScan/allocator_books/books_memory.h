// The memory of a process, for what reads an allocator's books in it.

#ifndef LEAKTRACE_BOOKS_MEMORY_H
#define LEAKTRACE_BOOKS_MEMORY_H

#include "address_index.h"
#include "scanned_memory.h"

/// What is known of a process whose allocator's books are read. It does not change meanwhile; threads may stand inside
/// the allocator. Owned by the caller, and for one thread at a time.
struct lt_books_memory {
  const struct lt_memory *memory;
  /// In order of address, none overlapping. Blocks are looked for in those that are marked LT_REGION_CAPTURED.
  const struct lt_snapshot_region *regions;
  uint32_t regionCount;
  /// All threads of the process, of which `threadPointer` is looked at. There may be none.
  const struct lt_snapshot_thread *threads;
  uint32_t threadCount;
  /// The 36 of glibc 2.36; 0 if it is not known.
  uint32_t libcRelease;
  /// Initialised data in which the allocator's variables are looked for.
  const struct lt_address_range *data;
  uint32_t dataCount;
  /// Copies bytes from an address on; returns how many are known before the first that is not. NULL: `memory` reads
  /// page by page.
  size_t (*readOn)(const struct lt_books_memory *books, uint64_t address, void *to, size_t size);
  /// Finds the first pages of a range that are there: a run of them, up to the next that is not. All others read as
  /// zeros. False if there is none. NULL: all may be there.
  bool (*nextPresent)(const struct lt_books_memory *books, uint64_t start, uint64_t end, struct lt_address_range *run);
  void *context; ///< of whoever reads
};

enum { LT_BOOKS_PAGE = 4096 };

/// Addresses of processes end here.
#define LT_BOOKS_ADDRESS_LIMIT LT_FRAME_ADDRESS_MASK

/// The region with an address; NULL if none has it. Logarithmic.
const struct lt_snapshot_region *lt_books_region(const struct lt_books_memory *books, uint64_t address);

/// Copies bytes from an address on. Returns how many are known before the first that is not.
size_t lt_books_read(const struct lt_books_memory *books, uint64_t address, void *to, size_t size);

/// The first run of bytes in a range that are there; false if there is none.
bool lt_books_next_present(const struct lt_books_memory *books, uint64_t start, uint64_t end,
                           struct lt_address_range *run);

static inline uint64_t lt_round_up(uint64_t value, uint64_t unit) {
  return value > UINT64_MAX - unit ? UINT64_MAX & ~(unit - 1) : (value + unit - 1) & ~(unit - 1);
}

#endif
