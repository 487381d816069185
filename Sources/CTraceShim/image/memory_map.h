// The memory of this process at an image: its mappings, its pages, and the kernel's figures.

#ifndef LEAKTRACE_MEMORY_MAP_H
#define LEAKTRACE_MEMORY_MAP_H

#include "CTraceFormat.h"
#include "check.h"
#include "memory_scan.h"
#include "os/os.h"

#include <sys/types.h>

// --- mappings --------------------------------------------------------------------------------------------------------

// The mappings of the process: the kernel's list.

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

// --- pages -----------------------------------------------------------------------------------------------------------

// The pages of this process, for the scan that makes a heap image.

/// From now on, unreadable pages read as empty, and pages behind a protection key are readable. Only for a copy of the
/// host: it changes handlers and mappings.
void lt_catch_unreadable_pages(void);

/// Makes a scan read this process's own memory, which must not change during the scan. One scan a process: it keeps a
/// descriptor.
void lt_scan_own_pages(struct lt_memory_scan *scan);

// --- figures ---------------------------------------------------------------------------------------------------------

// The kernel's figures of the process's memory at an image.

struct lt_memory_account {
  pid_t process; ///< the owner of the memory
  uint64_t time; ///< of the image
  uint64_t recorderBytes, peakResident;
};

/// Bytes of both definitions at most.
enum { LT_MEMORY_ACCOUNT_SIZE = 128 };

/// Puts LT_DEF_MEMORY and LT_DEF_RESIDENCE, and returns their bytes; 0 if the kernel does not say. In the copy, which
/// has the process's anonymous pages, while the files of /proc are open to it.
size_t lt_memory_account_put(const struct lt_memory_account *account, uint8_t *to);

#endif
