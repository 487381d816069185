// The resident pages of this process, and their words. Calls nothing that allocates.
//
// Not every page of a readable mapping can be read. It may be a guard page, damaged, or behind the end of a file that
// has become shorter. Most are known before anybody touches them. The rest raise a signal in this process, which is a
// copy: its handler puts an empty page there.

#include "image/own_pages.h"

#include "check.h"
#include "os/os.h"
#include "swift/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <page_presence.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

enum {
  PAGE = LT_MEMORY_PAGE,
  CHUNK_PAGES = 1 << 18, ///< that mincore(2) is asked for at once: a gibibyte
};

static int pagemap = -1;
static bool knowsPresence;              ///< the kernel answers questions for pages that are there
static bool isSwapFree;                 ///< no page of the process is swapped out
static uint8_t *chunkResidence;         ///< of CHUNK_PAGES, for a kernel that does not
static volatile uintptr_t touched;      ///< the page that is being touched first, 0: none
static volatile bool isUnreadable;      ///< that page could not be read
static struct lt_memory_scan *counting; ///< the scan whose pages could not be read

// --- pages that cannot be read ---------------------------------------------------------------------------------------

/// Puts an empty page where one could not be read.
static void on_fault(int number, siginfo_t *information, void *context) {
  (void)context;
  uintptr_t page = (uintptr_t)information->si_addr & ~(uintptr_t)(PAGE - 1);
  long result = page ? lt_syscall6(SYS_mmap, (long)page, PAGE, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
                     : -EFAULT;
  // It happens again, and ends the copy. The process that waits for it says so.
  if (result < 0) lt_set_default_action(number);
  if (page != touched && counting) counting->unreadablePages++;
  isUnreadable = true;
}

void lt_catch_unreadable_pages(void) {
  lt_set_fault_handler(SIGSEGV, on_fault);
  lt_set_fault_handler(SIGBUS, on_fault);
  // Keys deny the program's own accesses. The image has addresses only, and those behind a key are references too.
  lt_allow_protected_memory();
}

static const uint64_t *page(struct lt_memory_scan *scan, uint64_t address) {
  LT_CHECK(address % PAGE == 0);
  isUnreadable = false;
  touched = (uintptr_t)address;
  (void)*(const volatile uint64_t *)address;
  touched = 0;
  if (!isUnreadable) return (const uint64_t *)address;
  scan->unreadablePages++;
  return NULL;
}

// --- pages that are there --------------------------------------------------------------------------------------------

/// Returns whether a page that is not in memory is in swap. Other such pages are unreadable.
static bool is_swapped(uint64_t address, uint64_t entry) {
  return entry & LT_PAGEMAP_SWAPPED && !(entry & LT_PAGEMAP_GUARD) && lt_is_readable(address);
}

static void look_up_residence(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address,
                              uint32_t pages, uint8_t *residence) {
  LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES && address % PAGE == 0);
  LT_CHECK(address >= region->start && address + (uint64_t)pages * PAGE <= region->end);
  uint64_t entries[LT_SCAN_BLOCK_PAGES];
  bool isOfFile = region->kind == LT_REGION_FILE, isShared = region->kind == LT_REGION_SHARED;
  if (pagemap >= 0 && !isShared) {
    long wanted = (long)pages * 8;
    if (lt_syscall6(SYS_pread64, pagemap, (long)entries, wanted, (long)(address / PAGE * 8), 0, 0) == wanted) {
      for (uint32_t i = 0; i < pages; i++) {
        uint64_t entry = entries[i];
        // Unwritten pages are the file's own.
        bool isWritten = !(isOfFile && entry & LT_PAGEMAP_FILE);
        bool isThere = isWritten && entry & (LT_PAGEMAP_PRESENT | LT_PAGEMAP_SWAPPED);
        if (isThere && !(entry & LT_PAGEMAP_PRESENT) && !is_swapped(address + (uint64_t)i * PAGE, entry)) {
          if (scan->isFirstPass) scan->unreadablePages++;
          isThere = false;
        }
        residence[i] = isThere ? LT_PAGE_PRESENT : 0;
      }
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

/// For a kernel before 6.7. It fills a gibibyte that has no page tables with zeros at once.
static uint64_t first_resident(const struct lt_snapshot_region *region, uint64_t address) {
  while (region->end - address >= (uint64_t)CHUNK_PAGES * PAGE) {
    if (lt_syscall(SYS_mincore, address, (uint64_t)CHUNK_PAGES * PAGE, chunkResidence) != 0) break;
    const uint64_t *words = (const uint64_t *)chunkResidence;
    for (uint32_t i = 0; i < CHUNK_PAGES / 8; i++)
      if (words[i] & 0x0101010101010101ull) return address + (uint64_t)i * 8 * PAGE;
    address += (uint64_t)CHUNK_PAGES * PAGE;
  }
  return address;
}

static uint64_t first_present(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address) {
  (void)scan;
  // Pages of shared memory are there without this process having touched them.
  if (address >= region->end || region->kind == LT_REGION_SHARED) return address;
  if (knowsPresence) {
    struct lt_presence_question question;
    lt_presence_ask(&question, address, region->end, region->kind == LT_REGION_FILE);
    long found = lt_syscall(SYS_ioctl, pagemap, LT_PAGEMAP_SCAN, &question);
    if (found == 0) return region->end;
    if (found > 0 && question.found.start >= address && question.found.start < region->end) return question.found.start;
    return address;
  }
  return isSwapFree && chunkResidence && region->kind != LT_REGION_FILE ? first_resident(region, address) : address;
}

/// Tells whether the kernel has a feature, by a question that concerns this page alone.
static bool answers_presence(void) {
  struct lt_presence_question question;
  uint64_t here = (uint64_t)(uintptr_t)&question & ~(uint64_t)(PAGE - 1);
  lt_presence_ask(&question, here, here + PAGE, false);
  return pagemap >= 0 && lt_syscall(SYS_ioctl, pagemap, LT_PAGEMAP_SCAN, &question) == 1;
}

/// True if the kernel says that nothing of this process is swapped out.
static bool has_no_swap(void) {
  static const char wanted[] = "\nVmSwap:\t";
  char text[4096];
  int descriptor = lt_open("/proc/self/status", O_RDONLY, 0);
  if (descriptor < 0) return false;
  long size = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  text[size > 0 ? size : 0] = 0;
  const char *value = strstr(text, wanted);
  if (!value) return false;
  for (value += sizeof wanted - 1; *value == ' ';) value++;
  return value[0] == '0' && value[1] == ' ';
}

void lt_scan_own_pages(struct lt_memory_scan *scan) {
  scan->memory = &lt_own_memory;
  scan->page = page;
  scan->lookUpResidence = look_up_residence;
  scan->firstPresent = first_present;
  scan->redZone = LT_RED_ZONE;
  counting = scan;
  pagemap = lt_open("/proc/self/pagemap", O_RDONLY, 0);
  scan->knowsWrittenPages = pagemap >= 0;
  knowsPresence = answers_presence();
  isSwapFree = !knowsPresence && has_no_swap();
  chunkResidence = isSwapFree ? lt_map_private(CHUNK_PAGES) : NULL;
}
