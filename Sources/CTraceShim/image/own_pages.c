// Which pages of this process are in memory. Calls nothing that allocates.

#include "image/own_pages.h"

#include "check.h"
#include "os/os.h"
#include "swift/own_memory.h"

#include <fcntl.h>

enum { PAGE = LT_MEMORY_PAGE, PAGE_OF_FILE = 2 };

static int pagemap = -1;

static void look_up_residence(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address,
                              uint32_t pages, uint8_t *residence) {
  (void)scan;
  LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES && address % PAGE == 0);
  LT_CHECK(address >= region->start && address + (uint64_t)pages * PAGE <= region->end);
  uint64_t entries[LT_SCAN_BLOCK_PAGES];
  bool isOfFile = region->kind == LT_REGION_FILE, isShared = region->kind == LT_REGION_SHARED;
  if (pagemap >= 0 && !isShared) {
    long wanted = (long)pages * 8;
    if (lt_syscall6(SYS_pread64, pagemap, (long)entries, wanted, (long)(address / PAGE * 8), 0, 0) == wanted) {
      for (uint32_t i = 0; i < pages; i++)
        residence[i] = (entries[i] >> 62 ? LT_PAGE_PRESENT : 0) | (entries[i] >> 61 & 1 ? PAGE_OF_FILE : 0);
      // Pages that nobody wrote to are the file's own.
      for (uint32_t i = 0; i < pages; i++)
        residence[i] = isOfFile && residence[i] & PAGE_OF_FILE ? 0 : residence[i] & LT_PAGE_PRESENT;
      return;
    }
  }
  if (!isOfFile && lt_syscall(SYS_mincore, address, (uint64_t)pages * PAGE, residence) == 0) {
    for (uint32_t i = 0; i < pages; i++) residence[i] &= LT_PAGE_PRESENT;
    return;
  }
  // A mapping may be longer than its file: such pages cannot be read.
  for (uint32_t i = 0; i < pages; i++)
    residence[i] = lt_is_readable(address + (uint64_t)i * PAGE) ? LT_PAGE_PRESENT : 0;
}

static const uint64_t *page(struct lt_memory_scan *scan, uint64_t address) {
  (void)scan;
  LT_CHECK(address % PAGE == 0);
  return (const uint64_t *)address;
}

void lt_scan_own_pages(struct lt_memory_scan *scan) {
  scan->memory = &lt_own_memory;
  scan->page = page;
  scan->lookUpResidence = look_up_residence;
  scan->redZone = LT_RED_ZONE;
  pagemap = lt_open("/proc/self/pagemap", O_RDONLY, 0);
  scan->knowsWrittenPages = pagemap >= 0;
}
