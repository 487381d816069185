// The blocks of the process at an image, where no events say which there are: read from the allocator's books in the
// copy, and written as allocations.

#ifndef LEAKTRACE_BLOCK_LIST_H
#define LEAKTRACE_BLOCK_LIST_H

#include "memory_scan.h"

#include <sys/types.h>

/// Where the list goes, and what it says besides.
struct lt_block_list {
  /// Takes a chunk's payload. Returns 0 or −errno.
  int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount);
  const struct lt_snapshot_region *regions; ///< of the process, in order of address
  uint32_t regionCount;
  const struct lt_snapshot_thread *threads;
  uint32_t threadCount;
  uint64_t time;      ///< of the image
  uint32_t number;    ///< of the image
  uint32_t firstType; ///< number of the first type that is defined
  /// The list stands beside events: it is written as LT_CHUNK_BLOCKS, not as events.
  bool isBesideEvents;

  // Results.
  const struct lt_scanned_type *types; ///< of the objects that were found
  uint32_t typeCount;
  uint64_t blockCount;
  bool isIncomplete; ///< some memory of the allocator's was not found
};

/// Says which allocator is the program's: `allocate` is its malloc. Before the first image.
void lt_block_list_init(uintptr_t allocate);
/// True if that allocator and its version are known. Otherwise light recordings keep a set of blocks themselves. Not in
/// a copy.
bool lt_block_list_may_read_books(void);
/// Writes definitions of types and the blocks, those that were sampled with their stacks, and what the allocator has.
/// Returns 0 or −errno: −LT_METADATA_ if the allocator's metadata cannot be read. In the copy, where nothing else runs.
/// `scan`: reads the process's pages.
int lt_block_list_write(struct lt_block_list *list, struct lt_memory_scan *scan);
/// Writes only what the allocator has, and what it holds free: LT_DEF_ALLOCATOR, which lt_block_list_write writes, too.
/// Returns 0 or −errno, as above. In the copy. Linear in the memory of the allocator.
int lt_block_list_account(struct lt_block_list *list, struct lt_memory_scan *scan);

#endif
