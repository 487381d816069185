// The memory of this process for a heap image: its mappings, its pages, and the kernel's figures.

#ifndef LEAKTRACE_MEMORY_MAP_H
#define LEAKTRACE_MEMORY_MAP_H

#include "CTraceFormat.h"
#include "check.h"
#include "memory_scan.h"
#include "os/os.h"

#include <sys/types.h>

// --- mappings --------------------------------------------------------------------------------------------------------

// The mappings of the process, from the kernel's list.

/// Regions in order of address, without overlaps.
struct lt_memory_map {
  struct lt_snapshot_region *regions;
  uint32_t count, limit; ///< `count` is below `limit`
  char *text;            ///< buffer for the kernel's list
};

/// Parses one line of /proc/PID/maps, without its newline. Sets LT_REGION_CAPTURED for readable private memory, except
/// for files mapped without write permission. Also sets it for anonymous memory that is shared with children. Returns
/// false if the line is invalid.
bool lt_memory_map_parse_line(const char *line, size_t length, struct lt_snapshot_region *region);
/// Reads all mappings of this process. Returns 0 or −errno. In either case, lt_memory_map_free must be called.
int lt_memory_map_read(struct lt_memory_map *map);
/// Splits the regions at the ranges, and gives each range the kind LT_REGION_RECORDER. Sorts the ranges. Returns false
/// if there is no room for more regions.
bool lt_memory_map_mark_own(struct lt_memory_map *map, struct lt_own_range *ranges, uint32_t count);
void lt_memory_map_free(struct lt_memory_map *map);
/// Returns the region that contains the address, or NULL. Takes logarithmic time.
const struct lt_snapshot_region *lt_memory_map_find(const struct lt_memory_map *map, uint64_t address);

// --- pages -----------------------------------------------------------------------------------------------------------

// Access to the pages of this process, for the scan that makes a heap image.

/// Makes unreadable pages read as empty pages, and pages with a protection key readable. Only a copy of the host may
/// call this, because it changes signal handlers and mappings.
void lt_catch_unreadable_pages(void);

/// Makes a scan read this process's own memory, which must not change during the scan. Allows one scan for each
/// process, because the scan keeps a descriptor.
void lt_scan_own_pages(struct lt_memory_scan *scan);

// --- figures ---------------------------------------------------------------------------------------------------------

// The kernel's figures about the process's memory at the time of a heap image.

struct lt_memory_account {
  pid_t process;            ///< the process that owns the memory
  uint64_t time, monotonic; ///< time of the heap image, by the trace's clock and by CLOCK_MONOTONIC
  uint64_t recorderBytes, peakResident;
};

/// The most bytes of all definitions.
enum { LT_MEMORY_ACCOUNT_SIZE = 160 };

/// Writes LT_DEF_CLOCK, and LT_DEF_MEMORY and LT_DEF_RESIDENCE if the kernel reports the figures. Returns their size in
/// bytes. Must be called in the copy, which has the process's anonymous pages, while the copy can still open files of
/// /proc.
size_t lt_memory_account_put(const struct lt_memory_account *account, uint8_t *to);

#endif
