// Asks the kernel for the first page in a range that has contents. The kernel skips memory that is only reserved.

#ifndef LEAKTRACE_PAGE_PRESENCE_H
#define LEAKTRACE_PAGE_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

/// PAGEMAP_SCAN: an ioctl(2) of /proc/PID/pagemap since Linux 6.7.
/// Source: Linux, Documentation/admin-guide/mm/pagemap.rst; include/uapi/linux/fs.h.
enum { LT_PAGEMAP_SCAN = 0xC0606610 };

/// Bits of an entry of /proc/PID/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst). A page that is not readable
/// at all, such as a guard page, counts as swapped there. Since Linux 6.15, bit 58 marks guard pages.
#define LT_PAGEMAP_PRESENT (1ull << 63)
#define LT_PAGEMAP_SWAPPED (1ull << 62)
#define LT_PAGEMAP_FILE (1ull << 61) ///< the page belongs to a file, or is shared
#define LT_PAGEMAP_GUARD (1ull << 58)

struct lt_page_range {
  uint64_t start, end, categories;
};

/// The kernel's struct pm_scan_arg, and room for one result.
struct lt_presence_question {
  uint64_t size, flags, start, end, walkEnd;
  uint64_t ranges, rangeCount, pageLimit;
  uint64_t inverted, all, any, returned;
  struct lt_page_range found; ///< not part of the kernel's structure; `ranges` refers to it unless it is changed
};

enum { LT_PRESENCE_QUESTION_SIZE = 96 };
_Static_assert(__builtin_offsetof(struct lt_presence_question, found) == LT_PRESENCE_QUESTION_SIZE,
               "the kernel's layout");

/// Fills in the question for [start, end). The ioctl's result is 1 if there is a page with contents, and 0 if there is
/// none. If `leavesOutFiles` is true, unwritten pages of a file do not count.
static inline void lt_presence_ask(struct lt_presence_question *question, uint64_t start, uint64_t end,
                                   bool leavesOutFiles) {
  enum { FILE_PAGE = 1 << 2, PRESENT = 1 << 3, SWAPPED = 1 << 4 };
  *question = (struct lt_presence_question){.size = LT_PRESENCE_QUESTION_SIZE,
                                            .start = start,
                                            .end = end,
                                            .ranges = (uint64_t)(uintptr_t)&question->found,
                                            .rangeCount = 1,
                                            .pageLimit = 1,
                                            .inverted = leavesOutFiles ? FILE_PAGE : 0,
                                            .all = leavesOutFiles ? FILE_PAGE : 0,
                                            .any = PRESENT | SWAPPED,
                                            .returned = PRESENT};
}

/// Lists the pages of a process in [start, end) that are in memory or swapped out. `pagemap` is a descriptor of
/// /proc/PID/pagemap. Fills in at most `most` ranges, in order of address, and sets `reached` to the address where the
/// list stops. Returns the number of ranges or −errno: −ENOTTY if the kernel does not have PAGEMAP_SCAN.
long lt_list_present_pages(int pagemap, uint64_t start, uint64_t end, bool leavesOutFiles, struct lt_page_range *ranges,
                           uint64_t most, uint64_t *reached);

#endif
