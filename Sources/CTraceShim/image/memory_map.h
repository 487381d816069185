// The mappings of the process: the kernel's list.

#ifndef LEAKTRACE_MEMORY_MAP_H
#define LEAKTRACE_MEMORY_MAP_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

/// Regions in order of address, none overlapping.
struct lt_memory_map {
  struct lt_snapshot_region *regions;
  uint32_t count, limit; ///< `count` is below `limit`
  char *text;            ///< of the kernel's list
};

/// Parses one line of /proc/PID/maps, without its newline. LT_REGION_CAPTURED is set on readable private memory, except
/// files that cannot be written to, and on anonymous memory shared with children. False if it is not such a line.
bool lt_memory_map_parse_line(const char *line, size_t length, struct lt_snapshot_region *region);
/// Reads all mappings of this process. Returns 0 or −errno; lt_memory_map_free must be called in any case.
int lt_memory_map_read(struct lt_memory_map *map);
/// Splits the ranges off as regions of their own, and marks them as the recorder's. Sorts the ranges. False when there
/// is no room.
bool lt_memory_map_mark_own(struct lt_memory_map *map, struct lt_own_range *ranges, uint32_t count);
void lt_memory_map_free(struct lt_memory_map *map);
/// The region of the address, or NULL. Logarithmic.
const struct lt_snapshot_region *lt_memory_map_find(const struct lt_memory_map *map, uint64_t address);

#endif
