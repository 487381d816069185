// Lists that a heap image contains if events do not show everything: blocks, and sites of sampled allocations.

#ifndef LEAKTRACE_BLOCK_LIST_H
#define LEAKTRACE_BLOCK_LIST_H

#include "memory_scan.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// --- blocks ----------------------------------------------------------------------------------------------------------

// Lists the blocks of the process in a heap image, if events do not show them all. The copy of the process reads the
// blocks from the allocator's metadata, and writes them as allocations.

/// The destination, the input and the results of a list.
struct lt_block_list {
  /// Appends a chunk with this payload. Returns 0 or −errno.
  int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount);
  const struct lt_snapshot_region *regions; ///< regions of the process, in order of address
  uint32_t regionCount;
  const struct lt_snapshot_thread *threads;
  uint32_t threadCount;
  uint64_t time;      ///< time of the heap image
  uint32_t number;    ///< number of the heap image
  uint32_t firstType; ///< number that the first defined type gets
  /// True if the list adds to recorded events: it is then written as LT_CHUNK_BLOCKS, not as events.
  bool isBesideEvents;

  // Results.
  const struct lt_scanned_type *types; ///< types of the objects that were found
  uint32_t typeCount;
  uint64_t blockCount;
  bool isIncomplete; ///< some of the allocator's memory was not found
};

/// Sets the program's allocator: `allocate` is its malloc. Must be called before the first heap image.
void lt_block_list_init(uintptr_t allocate);
/// True if the recorder can read this version of the allocator's metadata. If not, light recordings keep their own set
/// of live blocks. Must not be called in a copy.
bool lt_block_list_may_read_metadata(void);
/// Writes type definitions, the blocks, the stacks of the sampled blocks, and the allocator's figures. `scan` reads the
/// process's pages. Returns 0 or −errno; −LT_METADATA_… if the allocator's metadata cannot be read. Must be called in a
/// copy where nothing else runs.
int lt_block_list_write(struct lt_block_list *list, struct lt_memory_scan *scan);
/// Writes only the allocator's figures and pins, as LT_DEF_ALLOCATOR. lt_block_list_write writes this record too.
/// Returns 0 or −errno as lt_block_list_write does. Must be called in a copy. Takes linear time in the allocator's
/// memory.
int lt_block_list_account(struct lt_block_list *list, struct lt_memory_scan *scan);

// --- sites -----------------------------------------------------------------------------------------------------------

// Writes the sites of sampled allocations as they are at the time of a heap image.

/// Writes an LT_DEF_SAMPLED_SITE for each site that has samples. There are at most LT_SAMPLED_SITE_LIMIT sites, with at
/// most LT_SAMPLED_KEY_LIMIT frames in all. `append` appends a chunk's payload, and returns 0 or −errno. Returns the
/// first error of `append`, or 0. Must be called in a copy where nothing else runs.
int lt_site_list_write(uint64_t time,
                       int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount));

#endif
