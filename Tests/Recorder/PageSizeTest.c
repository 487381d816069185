#define _GNU_SOURCE
#include "image/memory_map.h"
#include "memory_scan.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"

#include "RecorderTest.h"
#include "TestRecording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The kernel's pages have 4, 16 or 64 KiB. scripts/test-arm64 runs these tests with each of these sizes.

TEST(page_size, "The page size is the kernel's, and the limit suits it") {
  size_t size = lt_page_size();
  EXPECT(size == (size_t)sysconf(_SC_PAGESIZE));
  EXPECT(LT_PAGE_LIMIT % size == 0 && LT_SLOT_SIZE % size == 0 && LT_OWN_STACK_SIZE % size == 0);
  EXPECT(lt_page_start(3 * size - 1) == 2 * size && lt_page_end(3 * size - 1) == 3 * size);
  EXPECT(lt_page_start(3 * size) == 3 * size && lt_page_end(3 * size) == 3 * size);
}

TEST(own_pages, "The recorder's own memory is listed in whole pages of the kernel") {
  size_t size = lt_page_size();
  uint8_t *memory = lt_map_private(100);
  EXPECT(memory);
  struct lt_own_range ranges[64];
  uint32_t count = lt_own_ranges(ranges, 64), found = 0;
  EXPECT(count > 1);
  for (uint32_t i = 0; i < count; i++) {
    EXPECT(ranges[i].start % size == 0 && ranges[i].end % size == 0 && ranges[i].start < ranges[i].end);
    found += ranges[i].start == (uintptr_t)memory && ranges[i].end == (uintptr_t)memory + size;
  }
  EXPECT(found == 1);
  memory[size - 1] = 1;
  lt_unmap(memory, 100);
}

TEST(live_file_slots, "Slots of the live file follow its header, and a slot's words are in the file at its offset") {
  struct recording recording;
  begin_recording(&recording, NULL);
  uint32_t index = lt_trace.live->slotCount;
  struct lt_live_slot *slot = lt_trace_new_slot();
  EXPECT(slot && (uintptr_t)slot % lt_page_size() == 0);
  slot->osThread = 0x5EED;
  EXPECT(lt_trace.header->pageSize == lt_page_size());
  EXPECT(lt_trace.live->headerSize % lt_page_size() == 0 && lt_trace.live->headerSize >= LT_LIVE_HEADER_SIZE);
  int descriptor = lt_mapped_file_open(&lt_trace.liveFile, O_RDONLY);
  EXPECT(descriptor >= 0);
  struct lt_live_slot stored;
  off_t offset = (off_t)lt_trace.live->headerSize + (off_t)index * LT_SLOT_SIZE;
  EXPECT(pread(descriptor, &stored, sizeof stored, offset) == sizeof stored);
  EXPECT(stored.osThread == 0x5EED && stored.eventStart == LT_SLOT_DEFINITIONS);
  close(descriptor);
  remove_recording(&recording);
}

TEST(chunks_between_pages, "Chunks are in the trace where they were appended, whatever page they begin in") {
  struct recording recording;
  begin_recording(&recording, NULL);
  enum { CHUNKS = 40, SIZE = 5000 };
  static uint8_t chunk[sizeof(struct lt_chunk_header) + SIZE + LT_CHUNK_ALIGNMENT];
  uint64_t ends[CHUNKS];
  for (int i = 0; i < CHUNKS; i++) {
    struct lt_chunk_header header = {.kind = LT_CHUNK_DEFINITIONS, .storedSize = SIZE, .rawSize = SIZE, .sequence = 7};
    memset(chunk + sizeof header, i + 1, SIZE);
    EXPECT(lt_trace_append_chunk(&header, chunk) == 0);
    ends[i] = lt_trace.status->dataEnd;
  }
  int descriptor = lt_mapped_file_open(&lt_trace.file, O_RDONLY);
  for (int i = 0; i < CHUNKS; i++) {
    uint8_t stored[SIZE];
    uint64_t start = ends[i] - lt_trace_chunk_size(&(struct lt_chunk_header){.storedSize = SIZE});
    EXPECT(pread(descriptor, stored, SIZE, (off_t)(start + sizeof(struct lt_chunk_header))) == SIZE);
    for (int k = 0; k < SIZE; k++) EXPECT(stored[k] == i + 1);
  }
  close(descriptor);
  remove_recording(&recording);
}

static void use_stack(void *result) {
  // Nearly all of the stack, down to its inaccessible page.
  enum { SIZE = LT_OWN_STACK_SIZE - LT_PAGE_LIMIT - 4096 };
  volatile uint8_t room[SIZE];
  for (size_t i = 0; i < SIZE; i += 64) room[i] = 1;
  *(uintptr_t *)result = (uintptr_t)room + SIZE;
}

TEST(own_stack_guard, "The recorder's stack has a whole inaccessible page, and room beside it") {
  uintptr_t high = 0;
  EXPECT(lt_on_own_stack(use_stack, &high));
  struct lt_own_range ranges[64];
  uint32_t count = lt_own_ranges(ranges, 64);
  for (uint32_t i = 0; i < count; i++) {
    if (high <= ranges[i].start || high > ranges[i].end) continue;
    EXPECT(!lt_is_readable(ranges[i].start) && !lt_is_readable(ranges[i].start + lt_page_size() - 8));
    EXPECT(lt_is_readable(ranges[i].start + lt_page_size()));
    return;
  }
  EXPECT(!"the stack is among the recorder's memory");
}

TEST(resident_size, "The resident size agrees with the kernel's figure in KiB") {
  char text[8192];
  uint64_t resident, other;
  EXPECT(lt_read_resident_size("/proc/self/statm", &resident, &other));
  int descriptor = lt_open("/proc/self/status", O_RDONLY, 0);
  long n = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  EXPECT(n > 0);
  text[n] = 0;
  const char *line = strstr(text, "VmRSS:");
  if (!line) return; // as with an emulator of system calls
  uint64_t expected = strtoull(line + 6, NULL, 10) * 1024;
  EXPECT(resident > expected / 2 && resident < expected * 2);
}

/// Maps pages of the kernel, and writes to the pages whose bit is set.
static uint8_t *make_pages(unsigned count, unsigned written) {
  size_t size = lt_page_size();
  // Inaccessible neighbours keep the kernel from joining the mapping with others.
  uint8_t *all = mmap(NULL, (count + 2) * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(all != MAP_FAILED && mprotect(all + size, count * size, PROT_READ | PROT_WRITE) == 0);
  madvise(all, (count + 2) * size, MADV_NOHUGEPAGE);
  for (unsigned i = 0; i < count; i++)
    if (written >> i & 1) all[(i + 1) * size + size / 2] = 1;
  return all + size;
}

TEST(present_pages, "Each 4 KiB of a page of the kernel are present if that page is") {
  enum { COUNT = 6, WRITTEN = 0b100110, STEP = LT_MEMORY_PAGE };
  size_t size = lt_page_size();
  uint64_t start = (uintptr_t)make_pages(COUNT, WRITTEN);
  struct lt_memory_scan scan = {0};
  lt_scan_own_pages(&scan);
  struct lt_snapshot_region region = {
      .start = start, .end = start + COUNT * size, .kind = LT_REGION_ANONYMOUS, .flags = LT_REGION_CAPTURED};
  uint8_t residence[COUNT * LT_PAGE_LIMIT / STEP];
  // A scan may begin in the middle of a page of the kernel, as at a stack pointer.
  for (uint64_t from = start; from < region.end; from += STEP) {
    uint32_t pages = (uint32_t)((region.end - from) / STEP);
    memset(residence, 0xFF, sizeof residence);
    scan.lookUpResidence(&scan, &region, from, pages, residence);
    for (uint32_t i = 0; i < pages; i++)
      EXPECT(residence[i] == (WRITTEN >> ((from + i * STEP - start) / size) & 1 ? LT_PAGE_PRESENT : 0));
    EXPECT(pages == sizeof residence || residence[pages] == 0xFF);
    uint64_t first = scan.firstPresent(&scan, &region, from), next = from;
    while (!(WRITTEN >> ((next - start) / size) & 1)) next += STEP;
    // A kernel that cannot search gives `from` itself.
    EXPECT(first == next || first == from);
  }
}

TEST(unreadable_pages, "A page of the kernel that cannot be read becomes an empty page, and counts once") {
  size_t size = lt_page_size();
  uint8_t *pages = make_pages(3, 0b101);
  EXPECT(mprotect(pages + size, size, PROT_NONE) == 0);
  pages[3 * size - 8] = 7;
  struct lt_memory_scan scan = {0};
  lt_scan_own_pages(&scan);
  lt_catch_unreadable_pages();
  for (size_t at = 0; at < 3 * size; at += LT_MEMORY_PAGE) {
    const uint64_t *words = scan.page(&scan, (uintptr_t)pages + at);
    EXPECT((words == NULL) == (at == size));
    if (words && at / size == 1) EXPECT(words[0] == 0 && words[LT_MEMORY_PAGE_WORDS - 1] == 0);
  }
  EXPECT(scan.unreadablePages == 1);
  EXPECT(pages[size / 2] == 1 && pages[3 * size - 8] == 7);
}
