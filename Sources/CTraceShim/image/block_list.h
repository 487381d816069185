// Lists that an image contains where events are missing: blocks, and sites of sampled allocations.

#ifndef LEAKTRACE_BLOCK_LIST_H
#define LEAKTRACE_BLOCK_LIST_H

#include "memory_scan.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// --- blocks ----------------------------------------------------------------------------------------------------------

// The blocks of the process at an image, where events do not show them all: read from the allocator's books in the
// copy, and written as allocations.

/// The destination and the properties of a list.
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
  /// The list complements events: it is written as LT_CHUNK_BLOCKS, not as events.
  bool isBesideEvents;

  // Results.
  const struct lt_scanned_type *types; ///< of the objects that were found
  uint32_t typeCount;
  uint64_t blockCount;
  bool isIncomplete; ///< some memory of the allocator's was not found
};

/// Sets the program's allocator: `allocate` is its malloc. Called before the first image.
void lt_block_list_init(uintptr_t allocate);
/// True if that allocator and its version are known. Otherwise light recordings keep a set of blocks themselves. Must
/// not be called in a copy.
bool lt_block_list_may_read_books(void);
/// Writes type definitions, the blocks, with stacks for the sampled ones, and the allocator's figures. Returns 0 or
/// −errno: −LT_METADATA_ if the allocator's metadata cannot be read. Only for a copy that runs nothing else. `scan`:
/// reads the process's pages.
int lt_block_list_write(struct lt_block_list *list, struct lt_memory_scan *scan);
/// Writes only the allocator's figures and pins: LT_DEF_ALLOCATOR, which lt_block_list_write writes, too. Returns 0 or
/// −errno, as above. Only for a copy. Linear in the memory of the allocator.
int lt_block_list_account(struct lt_block_list *list, struct lt_memory_scan *scan);

// --- sites -----------------------------------------------------------------------------------------------------------

// The sites of sampled allocations, as they are at an image.

/// Writes an LT_DEF_SAMPLED_SITE for each site that has samples: LT_SAMPLED_SITE_LIMIT of them at most, with
/// LT_SAMPLED_KEY_LIMIT frames together. `append` takes a chunk's payload and returns 0 or −errno, which is returned.
/// In the copy, where nothing else runs.
int lt_site_list_write(uint64_t time,
                       int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount));

#endif
