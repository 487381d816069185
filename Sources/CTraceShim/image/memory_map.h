// The mappings of the process: the kernel's list, and an index that tells whether a number is an address in one of
// them.

#ifndef LEAKTRACE_MEMORY_MAP_H
#define LEAKTRACE_MEMORY_MAP_H

#include "CTraceFormat.h"
#include "os/os.h"

/// Regions in order of address, none overlapping.
struct lt_memory_map {
  struct lt_snapshot_region *regions;
  uint32_t count, limit;
};

/// Parses one line of /proc/PID/maps, without its newline. LT_REGION_CAPTURED is set on readable private memory, unless
/// it is a file's that cannot be written to, and on anonymous memory shared with children. False if it is no such line.
bool lt_memory_map_parse_line(const char *line, size_t length, struct lt_snapshot_region *region);
/// Reads this process's mappings, all of them. Returns 0 or −errno; lt_memory_map_free is to be called in any case.
int lt_memory_map_read(struct lt_memory_map *map);
/// Makes regions of their own of the ranges, and marks them as the recorder's. Sorts the ranges. False when there is no
/// room.
bool lt_memory_map_mark_own(struct lt_memory_map *map, struct lt_own_range *ranges, uint32_t count);
void lt_memory_map_free(struct lt_memory_map *map);
/// The region of the address, or NULL. Logarithmic.
const struct lt_snapshot_region *lt_memory_map_find(const struct lt_memory_map *map, uint64_t address);

// ---------------------------------------------------------------------------------------------------------------------

/// Answers whether an address is mapped, in about a nanosecond: a bit for each 2 MiB of the address space says whether
/// something is mapped there, another whether everything is; only in between the mappings are searched.
struct lt_address_index {
  uint64_t *some, *all;
  struct lt_own_range *runs; ///< mappings, those side by side as one
  uint32_t runCount, last;   ///< `last`: where the last search ended
};

enum { LT_CELL_SHIFT = 21 };

/// False without memory.
bool lt_address_index_build(struct lt_address_index *index, const struct lt_memory_map *map);
void lt_address_index_free(struct lt_address_index *index);
LT_NOINLINE bool lt_address_index_search(struct lt_address_index *index, uint64_t address);

static LT_ALWAYS_INLINE bool lt_address_index_has(struct lt_address_index *index, uint64_t address) {
  if (address >> LT_ADDRESS_BITS) return false;
  uint64_t cell = address >> LT_CELL_SHIFT, bit = 1ull << (cell & 63);
  if (LT_LIKELY(!(index->some[cell >> 6] & bit))) return false;
  if (index->all[cell >> 6] & bit) return true;
  const struct lt_own_range *run = &index->runs[index->last];
  return (address >= run->start && address < run->end) || lt_address_index_search(index, address);
}

#endif
