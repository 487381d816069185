// Access to the memory of a process, for the code that reads the allocator's metadata there.

#ifndef LEAKTRACE_ALLOCATOR_MEMORY_H
#define LEAKTRACE_ALLOCATOR_MEMORY_H

#include "address_index.h"
#include "scanned_memory.h"

/// The side of a thread pointer where the thread's variables lie. x86-64 has them below, arm64 above.
enum lt_thread_variables { LT_VARIABLES_OF_THIS_PROCESSOR, LT_VARIABLES_BELOW, LT_VARIABLES_ABOVE };

/// Facts about a process whose allocator's metadata is read. The process must not run in the meantime. Its threads may
/// be stopped inside the allocator. The caller owns this structure; only one thread at a time may use it.
struct lt_allocator_memory {
  const struct lt_memory *memory;
  /// In order of address, none overlapping. Only regions marked LT_REGION_CAPTURED are searched for blocks.
  const struct lt_snapshot_region *regions;
  uint32_t regionCount;
  /// All threads of the process; only their `threadPointer` is used. There may be none.
  const struct lt_snapshot_thread *threads;
  uint32_t threadCount;
  enum lt_thread_variables variables;
  /// The minor version of glibc, such as 36 for 2.36; 0 if it is unknown.
  uint32_t libcRelease;
  /// Bytes of the pages of the process's kernel: a power of two; 0 means LT_ALLOCATOR_PAGE.
  uint32_t pageSize;
  /// The initialised data that may contain the allocator's variables.
  const struct lt_address_range *data;
  uint32_t dataCount;
  /// Copies bytes that begin at an address. Returns the number of bytes before the first unreadable byte. If this
  /// pointer is NULL, `memory` is used page by page.
  size_t (*readOn)(const struct lt_allocator_memory *metadata, uint64_t address, void *to, size_t size);
  /// Finds the first run of present pages in a range. Returns false if there is none. Pages that are not present hold
  /// zeros. If this pointer is NULL, all pages may be present.
  bool (*nextPresent)(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end,
                      struct lt_address_range *run);
  void *context; ///< for the use of the functions above
};

/// Bytes of the smallest page of any kernel. Memory is read in these units, since each page consists of them.
enum { LT_ALLOCATOR_PAGE = 4096 };

/// Returns the bytes of the pages of the process's kernel.
static inline uint64_t lt_allocator_page_size(const struct lt_allocator_memory *metadata) {
  return metadata->pageSize ? metadata->pageSize : LT_ALLOCATOR_PAGE;
}

/// True if a thread's variables lie above its thread pointer, and not below it.
static inline bool lt_has_variables_above(const struct lt_allocator_memory *metadata) {
#if defined(__aarch64__)
  const bool isOwn = metadata->variables == LT_VARIABLES_OF_THIS_PROCESSOR;
#else
  const bool isOwn = false;
#endif
  return isOwn || metadata->variables == LT_VARIABLES_ABOVE;
}

/// All addresses of a process are below this limit.
#define LT_ALLOCATOR_ADDRESS_LIMIT LT_FRAME_ADDRESS_MASK

/// Returns the region that contains an address; NULL if there is none. Takes logarithmic time.
const struct lt_snapshot_region *lt_allocator_memory_region(const struct lt_allocator_memory *metadata,
                                                            uint64_t address);

/// Copies bytes that begin at an address. Returns the number of bytes before the first unreadable byte.
size_t lt_allocator_memory_read(const struct lt_allocator_memory *metadata, uint64_t address, void *to, size_t size);

/// Finds the first run of present bytes in a range. Returns false if there is none.
bool lt_allocator_memory_next_present(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end,
                                      struct lt_address_range *run);

static inline uint64_t lt_round_up(uint64_t value, uint64_t unit) {
  return value > UINT64_MAX - unit ? UINT64_MAX & ~(unit - 1) : (value + unit - 1) & ~(unit - 1);
}

#endif
