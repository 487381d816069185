// The memory of this process for a heap image: its mappings, its pages, and the kernel's figures.

#include "image/memory_map.h"

#include "check.h"
#include "os/os.h"
#include "os/process_info.h"
#include "swift/swift_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <page_presence.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

// === mappings ========================================================================================================

// Reads the mappings of the process. Calls nothing that allocates.

enum { REGION_LIMIT = 1 << 20, READ_SIZE = 64 << 10 };

/// True if the regions are in order of address and none overlap.
LT_INVARIANT bool is_in_order(const struct lt_memory_map *map) {
  for (uint32_t i = 0; i < map->count; i++)
    if (map->regions[i].start >= map->regions[i].end || (i && map->regions[i].start < map->regions[i - 1].end))
      return false;
  return map->count <= map->limit;
}

LT_INVARIANT bool are_ranges_sorted(const struct lt_own_range *ranges, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (ranges[i - 1].start > ranges[i].start) return false;
  return true;
}

static bool parse_hexadecimal(const char **p, const char *end, uint64_t *value) {
  const char *start = *p;
  uint64_t v = 0;
  for (; *p < end; (*p)++) {
    char c = **p;
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
    if (digit == 16) break;
    v = v << 4 | digit;
  }
  *value = v;
  return *p > start && *p - start <= 16;
}

static bool begins(const char *text, const char *end, const char *prefix) {
  size_t n = strlen(prefix);
  return (size_t)(end - text) >= n && memcmp(text, prefix, n) == 0;
}

bool lt_memory_map_parse_line(const char *line, size_t length, struct lt_snapshot_region *region) {
  // start-end permissions offset major:minor inode path
  const char *p = line, *end = line + length;
  uint64_t ignored;
  memset(region, 0, sizeof *region);
  if (!parse_hexadecimal(&p, end, &region->start) || p == end || *p++ != '-') return false;
  if (!parse_hexadecimal(&p, end, &region->end) || region->end <= region->start) return false;
  if (end - p < 6 || p[0] != ' ' || p[5] != ' ') return false;
  const char *permissions = p + 1;
  p += 6;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ' ') return false;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ':') return false;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ' ') return false;
  const char *inode = p;
  while (p < end && *p >= '0' && *p <= '9') p++;
  if (p == inode) return false;
  bool hasFile = !(p - inode == 1 && *inode == '0');
  while (p < end && *p == ' ') p++;
  if (permissions[0] == 'r') region->flags |= LT_REGION_READABLE;
  if (permissions[1] == 'w') region->flags |= LT_REGION_WRITABLE;
  if (permissions[2] == 'x') region->flags |= LT_REGION_EXECUTABLE;
  bool isReadable = permissions[0] == 'r', isWritable = permissions[1] == 'w';
  if (permissions[3] == 's') {
    region->kind = LT_REGION_SHARED;
    // This is anonymous memory that mmap shares with children.
    if (isReadable && begins(p, end, "/dev/zero (deleted)")) region->flags |= LT_REGION_CAPTURED;
    return true;
  }
  region->kind = begins(p, end, "[heap]")    ? LT_REGION_BREAK
                 : begins(p, end, "[stack]") ? LT_REGION_MAIN_STACK
                 : hasFile                   ? LT_REGION_FILE
                                             : LT_REGION_ANONYMOUS;
  // [vvar], [vdso] and [vsyscall] belong to the kernel.
  if (isReadable && (isWritable || !hasFile) && !begins(p, end, "[v")) region->flags |= LT_REGION_CAPTURED;
  return true;
}

int lt_memory_map_read(struct lt_memory_map *map) {
  memset(map, 0, sizeof *map);
  map->limit = REGION_LIMIT;
  map->regions = lt_map_private(REGION_LIMIT * sizeof *map->regions);
  // The buffer stays mapped until the map is freed. The kernel's list contains the buffer. If the buffer were unmapped
  // earlier, it would no longer be noted as the recorder's own, and its region would count as the program's.
  char *text = map->text = lt_map_private(READ_SIZE);
  int descriptor = lt_open("/proc/self/maps", O_RDONLY, 0), error = 0;
  if (!map->regions || !text) error = -ENOMEM;
  else if (descriptor < 0) error = descriptor;
  size_t used = 0;
  while (!error) {
    LT_CHECK(used < READ_SIZE);
    long n = lt_read(descriptor, text + used, READ_SIZE - used);
    if (n <= 0) {
      error = (int)n;
      break;
    }
    used += (size_t)n;
    size_t start = 0;
    for (const char *newline; (newline = memchr(text + start, '\n', used - start));
         start = (size_t)(newline - text) + 1) {
      struct lt_snapshot_region *region = &map->regions[map->count];
      LT_CHECK(map->count < map->limit);
      if (!lt_memory_map_parse_line(text + start, (size_t)(newline - text) - start, region)) continue;
      // The kernel gives the list in pieces, so a mapping may have changed in between. The regions must stay in order.
      if (map->count && region->start < region[-1].end) continue;
      if (++map->count == map->limit) {
        error = -E2BIG;
        break;
      }
    }
    LT_CHECK(start <= used);
    memmove(text, text + start, used - start);
    used -= start;
    if (used == READ_SIZE) error = -EINVAL; // no line is longer than the buffer
  }
  if (descriptor >= 0) lt_close(descriptor);
  LT_CHECK(error || is_in_order(map));
  return error ? error : map->count ? 0 : -EINVAL;
}

void lt_memory_map_free(struct lt_memory_map *map) {
  if (map->regions) lt_unmap(map->regions, map->limit * sizeof *map->regions);
  if (map->text) lt_unmap(map->text, READ_SIZE);
  memset(map, 0, sizeof *map);
}

static void sort_ranges(struct lt_own_range *ranges, uint32_t count) {
  // Heap sort works in place and is never quadratic.
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t k = pass == 0 ? count / 2 : count; k > 0; k--) {
      uint32_t end = count, hole = k - 1;
      if (pass == 1) {
        struct lt_own_range last = ranges[k - 1];
        ranges[k - 1] = ranges[0];
        ranges[0] = last;
        end = k - 1;
        hole = 0;
      }
      if (hole >= end) continue;
      struct lt_own_range moving = ranges[hole];
      for (uint32_t child; (child = 2 * hole + 1) < end; hole = child) {
        if (child + 1 < end && ranges[child + 1].start > ranges[child].start) child++;
        if (ranges[child].start <= moving.start) break;
        ranges[hole] = ranges[child];
      }
      ranges[hole] = moving;
    }
  }
}

bool lt_memory_map_mark_own(struct lt_memory_map *map, struct lt_own_range *ranges, uint32_t count) {
  sort_ranges(ranges, count);
  LT_CHECK(are_ranges_sorted(ranges, count) && is_in_order(map));
  // Each range adds at most two regions. The old list is moved to the end of the array, and the new list grows towards
  // it from the start.
  if (map->count + 2ull * count > map->limit) return false;
  uint32_t from = map->limit - map->count, to = 0, range = 0;
  memmove(&map->regions[from], map->regions, map->count * sizeof *map->regions);
  while (from < map->limit) {
    struct lt_snapshot_region region = map->regions[from++];
    LT_CHECK(to < from);
    while (range < count && ranges[range].end <= region.start) range++;
    uint64_t at = region.start;
    for (uint32_t r = range; at < region.end; r++) {
      bool isInside = r < count && ranges[r].start < region.end;
      uint64_t ownStart = isInside ? (ranges[r].start > at ? ranges[r].start : at) : region.end;
      uint64_t ownEnd = isInside ? (ranges[r].end < region.end ? ranges[r].end : region.end) : region.end;
      if (ownStart > at) {
        map->regions[to] = region;
        map->regions[to].start = at;
        map->regions[to++].end = ownStart;
      }
      if (ownEnd > ownStart) {
        map->regions[to] = region;
        map->regions[to].kind = LT_REGION_RECORDER;
        map->regions[to].flags &= ~(uint32_t)LT_REGION_CAPTURED;
        map->regions[to].start = ownStart;
        map->regions[to++].end = ownEnd;
      }
      if (ownEnd > at) at = ownEnd;
      LT_CHECK(to <= from);
    }
  }
  map->count = to;
  LT_CHECK(is_in_order(map));
  return true;
}

const struct lt_snapshot_region *lt_memory_map_find(const struct lt_memory_map *map, uint64_t address) {
  LT_CHECK(map->count <= map->limit);
  uint32_t low = 0, high = map->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (map->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < map->count && map->regions[low].start <= address ? &map->regions[low] : NULL;
}

// === pages ===========================================================================================================

// Finds the resident pages of this process, and reads their words. Calls nothing that allocates.
//
// An image consists of pages of LT_MEMORY_PAGE bytes. A page of the kernel has the size of one or more of these.
//
// Some pages of a readable mapping cannot be read. Such a page may be a guard page, may be damaged, or may lie after
// the end of a file that was truncated. Most are recognised before the scan reads them. The others raise a signal in
// this process, which is a copy of the host. Its signal handler maps an empty page there.

enum {
  PAGE = LT_MEMORY_PAGE,
  CHUNK_PAGES = 1 << 18, ///< pages of the kernel for one call of mincore(2): a gibibyte or more
};
_Static_assert(PAGE == 4096 && LT_PAGE_LIMIT % PAGE == 0, "the smallest page of a kernel");

static struct {
  int pagemap;
  bool knowsPresence;              ///< the kernel can search for present pages (PAGEMAP_SCAN)
  bool isSwapFree;                 ///< no page of the process is swapped out
  uint8_t *chunkResidence;         ///< buffer for CHUNK_PAGES pages, for a kernel that cannot search
  volatile uintptr_t touched;      ///< the page that is read for the first time right now; 0 if none
  volatile bool isUnreadable;      ///< the page at `touched` could not be read
  struct lt_memory_scan *counting; ///< the scan that counts unreadable pages
} pageReader = {.pagemap = -1};

// --- pages that cannot be read ---------------------------------------------------------------------------------------

/// Maps an empty page where a page of the kernel could not be read.
static void on_fault(int number, siginfo_t *information, void *context) {
  (void)context;
  uintptr_t page = lt_page_start((uintptr_t)information->si_addr);
  long result = page ? lt_syscall6(SYS_mmap, (long)page, (long)lt_page_size(), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
                     : -EFAULT;
  // Without the default action, the fault would repeat forever. The next fault ends the copy, and the process that
  // waits for the copy reports this.
  if (result < 0) lt_set_default_action(number);
  if (page != lt_page_start(pageReader.touched) && pageReader.counting) pageReader.counting->unreadablePages++;
  pageReader.isUnreadable = true;
}

void lt_catch_unreadable_pages(void) {
  lt_set_fault_handler(SIGSEGV, on_fault);
  lt_set_fault_handler(SIGBUS, on_fault);
  // Protection keys restrict the program's own accesses. The image contains only addresses, and addresses in protected
  // memory are references, too.
  lt_allow_protected_memory();
}

static const uint64_t *page(struct lt_memory_scan *scan, uint64_t address) {
  LT_CHECK(address % PAGE == 0);
  pageReader.isUnreadable = false;
  pageReader.touched = (uintptr_t)address;
  (void)*(const volatile uint64_t *)address;
  pageReader.touched = 0;
  if (!pageReader.isUnreadable) return (const uint64_t *)address;
  scan->unreadablePages++;
  return NULL;
}

// --- pages that are there --------------------------------------------------------------------------------------------

/// Returns whether a page that is not in memory is in swap. A page that is in neither is unreadable.
static bool is_swapped(uint64_t address, uint64_t entry) {
  return entry & LT_PAGEMAP_SWAPPED && !(entry & LT_PAGEMAP_GUARD) && lt_is_readable(address);
}

/// Looks up consecutive pages of the kernel. `start` is the first one's address. `residence` has a flag for each.
static void look_up_kernel_pages(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t start,
                                 uint32_t pages, uint8_t *residence) {
  LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES && lt_is_page_aligned(start));
  uint64_t entries[LT_SCAN_BLOCK_PAGES], size = lt_page_size();
  bool isOfFile = region->kind == LT_REGION_FILE, isShared = region->kind == LT_REGION_SHARED;
  if (pageReader.pagemap >= 0 && !isShared) {
    long wanted = (long)pages * 8;
    if (lt_syscall6(SYS_pread64, pageReader.pagemap, (long)entries, wanted, (long)(start / size * 8), 0, 0) == wanted) {
      for (uint32_t i = 0; i < pages; i++) {
        uint64_t entry = entries[i];
        // Pages of a file that were not written belong to the file.
        bool isWritten = !(isOfFile && entry & LT_PAGEMAP_FILE);
        bool isThere = isWritten && entry & (LT_PAGEMAP_PRESENT | LT_PAGEMAP_SWAPPED);
        if (isThere && !(entry & LT_PAGEMAP_PRESENT) && !is_swapped(start + i * size, entry)) {
          if (scan->isFirstPass) scan->unreadablePages++;
          isThere = false;
        }
        residence[i] = isThere ? LT_PAGE_PRESENT : 0;
      }
      return;
    }
  }
  if (!isOfFile && lt_syscall(SYS_mincore, start, pages * size, residence) == 0) {
    for (uint32_t i = 0; i < pages; i++) residence[i] &= LT_PAGE_PRESENT;
    return;
  }
  // A mapping may be longer than its file. The pages after the file's end cannot be read.
  for (uint32_t i = 0; i < pages; i++) residence[i] = lt_is_readable(start + i * size) ? LT_PAGE_PRESENT : 0;
}

static void look_up_residence(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address,
                              uint32_t pages, uint8_t *residence) {
  LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES && address % PAGE == 0);
  LT_CHECK(address >= region->start && address + (uint64_t)pages * PAGE <= region->end);
  uint64_t start = lt_page_start(address), size = lt_page_size();
  uint32_t count = (uint32_t)((lt_page_end(address + (uint64_t)pages * PAGE) - start) / size);
  look_up_kernel_pages(scan, region, start, count, residence);
  if (size == PAGE) return;
  // Backwards, since each page of the kernel becomes several pages of the image.
  for (uint32_t i = pages; i-- > 0;) residence[i] = residence[(address + (uint64_t)i * PAGE - start) / size];
}

/// Finds the first resident page with a kernel before 6.7. The call of mincore is fast here: in one step, it fills in a
/// whole gibibyte that has no page tables.
static uint64_t first_resident(const struct lt_snapshot_region *region, uint64_t address) {
  uint64_t size = lt_page_size(), start = lt_page_start(address);
  while (region->end - start >= CHUNK_PAGES * size) {
    if (lt_syscall(SYS_mincore, start, CHUNK_PAGES * size, pageReader.chunkResidence) != 0) break;
    const uint64_t *words = (const uint64_t *)pageReader.chunkResidence;
    uint32_t i = 0;
    while (i < CHUNK_PAGES / 8 && !(words[i] & 0x0101010101010101ull)) i++;
    start += i * 8 * size;
    if (i < CHUNK_PAGES / 8) break;
  }
  return start > address ? start : address;
}

static uint64_t first_present(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address) {
  (void)scan;
  // Pages of shared memory may be present although this process has not touched them.
  if (address >= region->end || region->kind == LT_REGION_SHARED) return address;
  if (pageReader.knowsPresence) {
    struct lt_presence_question question;
    lt_presence_ask(&question, lt_page_start(address), region->end, region->kind == LT_REGION_FILE);
    long found = lt_syscall(SYS_ioctl, pageReader.pagemap, LT_PAGEMAP_SCAN, &question);
    if (found == 0) return region->end;
    if (found > 0 && question.found.start >= address && question.found.start < region->end) return question.found.start;
    return address;
  }
  return pageReader.isSwapFree && pageReader.chunkResidence && region->kind != LT_REGION_FILE
             ? first_resident(region, address)
             : address;
}

/// True if the kernel can search for present pages. Asks only about the page of a local variable.
static bool answers_presence(void) {
  struct lt_presence_question question;
  uint64_t here = lt_page_start((uintptr_t)&question);
  lt_presence_ask(&question, here, here + lt_page_size(), false);
  return pageReader.pagemap >= 0 && lt_syscall(SYS_ioctl, pageReader.pagemap, LT_PAGEMAP_SCAN, &question) == 1;
}

/// True if the kernel reports that no memory of this process is swapped out.
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
  scan->argumentRegister = LT_SNAPSHOT_ARGUMENT;
  pageReader.counting = scan;
  pageReader.pagemap = lt_open("/proc/self/pagemap", O_RDONLY, 0);
  scan->knowsWrittenPages = pageReader.pagemap >= 0;
  pageReader.knowsPresence = answers_presence();
  pageReader.isSwapFree = !pageReader.knowsPresence && has_no_swap();
  pageReader.chunkResidence = pageReader.isSwapFree ? lt_map_private(CHUNK_PAGES) : NULL;
}

// === figures =========================================================================================================

enum { TEXT_SIZE = 4096 };

/// Reads a file of /proc. The text is "" if the file cannot be read.
static void read_text(const char *path, char text[TEXT_SIZE]) {
  text[0] = 0;
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return;
  size_t size = 0;
  long n;
  while (size < TEXT_SIZE - 1 && (n = lt_read(descriptor, text + size, TEXT_SIZE - 1 - size)) > 0) size += (size_t)n;
  text[size] = 0;
  lt_close(descriptor);
}

/// Returns the bytes in a line such as "AnonHugePages:  2048 kB", or 0 if there is no such line.
static uint64_t bytes_of(const char *text, const char *name) {
  const char *line = strstr(text, name);
  if (!line || (line != text && line[-1] != '\n')) return 0;
  line += strlen(name);
  while (*line == ' ') line++;
  uint64_t kibibytes = 0;
  for (; *line >= '0' && *line <= '9'; line++) kibibytes = kibibytes * 10 + (uint64_t)(*line - '0');
  return kibibytes << 10;
}

static uint8_t *put_definition(uint8_t *to, uint8_t kind, const uint64_t *values, int count) {
  uint8_t payload[64], *p = payload;
  for (int i = 0; i < count; i++) p = lt_put_varint(p, values[i]);
  size_t size = (size_t)(p - payload);
  LT_CHECK(size <= sizeof payload);
  *to++ = kind;
  to = lt_put_varint(to, size);
  memcpy(to, payload, size);
  return to + size;
}

size_t lt_memory_account_put(const struct lt_memory_account *account, uint8_t *to) {
  char path[64], text[TEXT_SIZE], *end = path;
  memcpy(path, "/proc/", 6);
  end = lt_put_decimal(path + 6, (uint64_t)account->process);
  memcpy(end, "/statm", sizeof "/statm");
  uint64_t resident, other;
  uint8_t *start = to;
  // The difference of the clocks changes only if the machine is suspended.
  uint64_t suspended = lt_clock_nanoseconds(CLOCK_BOOTTIME) - lt_clock_nanoseconds(CLOCK_MONOTONIC);
  const uint64_t clocks[] = {account->time, account->monotonic, account->monotonic + suspended};
  to = put_definition(to, LT_DEF_CLOCK, clocks, 3);
  if (!lt_read_resident_size(path, &resident, &other) || !resident || other > resident) return (size_t)(to - start);
  const uint64_t memory[] = {account->time, resident, account->recorderBytes, account->peakResident};
  to = put_definition(to, LT_DEF_MEMORY, memory, 4);
  // Read the file of this copy. Reading the process's own file would delay that process's calls of mmap.
  read_text("/proc/self/smaps_rollup", text);
  const uint64_t residence[] = {account->time, resident - other, other,
                                bytes_of(text, "AnonHugePages:") + bytes_of(text, "Private_Hugetlb:"),
                                bytes_of(text, "Swap:")};
  if (*text) to = put_definition(to, LT_DEF_RESIDENCE, residence, 5);
  LT_CHECK(to - start <= LT_MEMORY_ACCOUNT_SIZE);
  return (size_t)(to - start);
}
