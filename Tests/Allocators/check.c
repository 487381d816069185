// Runs Tests/Allocators/truth.c, reads its allocator's metadata from outside, and compares the blocks with its notes.
//
// Usage: check [--list] [--damage COUNT] COMMAND [ARGUMENT...]
//   --damage COUNT   reads tcmalloc's heap so many times more with damaged words; the reader must only end each time
// Output: one line of figures. The exit status is 1 if a block is wrong, and 2 if the metadata cannot be read.

#define _GNU_SOURCE
#include "allocator_metadata/glibc_heap.h"
#include "allocator_metadata/jemalloc_heap.h"
#include "allocator_metadata/jemalloc_layout.h"
#include "allocator_metadata/mimalloc_heap.h"
#include "allocator_metadata/tcmalloc_heap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REGIONS = 1 << 16, THREADS = 1024, DATA = 64, NOTES = 1 << 20, PAGE_ENTRIES = 4096 };

struct note {
  uint64_t address, size, usable;
  bool isLive, isFound;
  char kind[8];
};

static struct note notes[NOTES];
static size_t noteCount;
static struct lt_snapshot_region regions[REGIONS];
static struct lt_snapshot_thread threads[THREADS];
static struct lt_address_range data[DATA];
static int memoryFile, pagesFile;
static bool isListing;
static unsigned damageCount;
static uint64_t damageSeed; ///< 0 for memory as it is

static uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 31) * 0x9E3779B97F4A7C15;
  return number ^ number >> 29;
}

/// Changes some words. A word changes in the same way whenever it is read.
static void damage(uint64_t address, uint8_t *bytes, size_t size) {
  static const uint64_t RARITIES[] = {16, 256, 4096, 65536, 1 << 20};
  uint64_t rarity = RARITIES[damageSeed % (sizeof RARITIES / sizeof *RARITIES)];
  for (size_t i = -address & 7; i + 8 <= size; i += 8) {
    uint64_t random = mixed(mixed(address + i) + damageSeed), word;
    if (random % rarity) continue;
    memcpy(&word, bytes + i, 8);
    uint64_t choices[] = {0,
                          mixed(random),
                          address + i,
                          address + i - 16,
                          word + 8,
                          word - 8,
                          word ^ 1ull << random / rarity % 64,
                          word + (16 << 20),
                          mixed(random) % 256,
                          UINT64_MAX};
    word = choices[(random >> 40) % (sizeof choices / sizeof *choices)];
    memcpy(bytes + i, &word, 8);
  }
}

static bool read_memory(const struct lt_memory *memory, uint64_t address, void *to, size_t size) {
  (void)memory;
  if (pread(memoryFile, to, size, (off_t)address) != (ssize_t)size) return false;
  if (damageSeed) damage(address, to, size);
  return true;
}

static void *allocate(size_t size) {
  void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room == MAP_FAILED ? NULL : room;
}

static void release(void *room, size_t size) { munmap(room, size); }

/// The kernel says which pages are there or swapped out.
static bool next_present(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end,
                         struct lt_address_range *run) {
  (void)metadata;
  bool isOpen = false;
  static uint64_t entries[PAGE_ENTRIES], first = UINT64_MAX, count;
  for (uint64_t page = start / LT_ALLOCATOR_PAGE; page < (end + LT_ALLOCATOR_PAGE - 1) / LT_ALLOCATOR_PAGE; page++) {
    if (page < first || page >= first + count) {
      ssize_t n = pread(pagesFile, entries, sizeof entries, (off_t)(page * 8));
      first = page;
      count = n > 0 ? (uint64_t)n / 8 : 0;
      if (!count) break;
    }
    bool isPresent = entries[page - first] >> 62 != 0;
    if (isPresent && !isOpen) run->start = page * LT_ALLOCATOR_PAGE > start ? page * LT_ALLOCATOR_PAGE : start;
    if (!isPresent && isOpen) break;
    isOpen = isPresent;
    run->end = (page + 1) * LT_ALLOCATOR_PAGE < end ? (page + 1) * LT_ALLOCATOR_PAGE : end;
  }
  return isOpen;
}

static bool is_libc(const char *path) {
  const char *name = strrchr(path, '/');
  return name && (!strncmp(name, "/libc.so", 8) || !strncmp(name, "/libc-2.", 8));
}

static uint32_t release_in(uint64_t start, uint64_t end) {
  static char text[1 << 20];
  static const char mark[] = "release version 2.";
  size_t size = end - start < sizeof text ? end - start : sizeof text;
  ssize_t n = pread(memoryFile, text, size, (off_t)start);
  char *found = n > 0 ? memmem(text, (size_t)n, mark, sizeof mark - 1) : NULL;
  return found ? (uint32_t)atoi(found + sizeof mark - 1) : 0;
}

static bool read_mappings(pid_t pid, struct lt_allocator_memory *metadata) {
  char path[64], line[8192];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "r");
  if (!maps) return false;
  while (fgets(line, sizeof line, maps) && metadata->regionCount < REGIONS) {
    unsigned long long start, end, inode;
    char rights[5];
    int name = 0;
    if (sscanf(line, "%llx-%llx %4s %*x %*s %llu %n", &start, &end, rights, &inode, &name) < 4) continue;
    line[strcspn(line, "\n")] = 0;
    const char *file = line + name;
    struct lt_snapshot_region *region = &regions[metadata->regionCount++];
    *region = (struct lt_snapshot_region){.start = start, .end = end};
    bool isPrivate = rights[3] == 'p', isWritable = rights[1] == 'w';
    region->kind = !isPrivate                 ? LT_REGION_SHARED
                   : !strcmp(file, "[heap]")  ? LT_REGION_BREAK
                   : !strcmp(file, "[stack]") ? LT_REGION_MAIN_STACK
                   : inode                    ? LT_REGION_FILE
                                              : LT_REGION_ANONYMOUS;
    if (rights[0] == 'r') region->flags |= LT_REGION_READABLE;
    if (isWritable) region->flags |= LT_REGION_WRITABLE;
    if (rights[2] == 'x') region->flags |= LT_REGION_EXECUTABLE;
    if (rights[0] == 'r' && isPrivate && (isWritable || !inode) && strncmp(file, "[v", 2))
      region->flags |= LT_REGION_CAPTURED;
    if (is_libc(file) && isWritable && metadata->dataCount < DATA)
      data[metadata->dataCount++] = (struct lt_address_range){start, end};
    if (is_libc(file) && !isWritable && rights[2] != 'x' && !metadata->libcRelease)
      metadata->libcRelease = release_in(start, end);
  }
  fclose(maps);
  return true;
}

static uint32_t stop_threads(pid_t pid) {
  char path[64];
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && (entry = readdir(tasks)) && count < THREADS;) {
    pid_t thread = atoi(entry->d_name);
    struct user_regs_struct registers;
    if (thread <= 0 || ptrace(PTRACE_ATTACH, thread, 0, 0)) continue;
    if (waitpid(thread, NULL, __WALL) != thread || ptrace(PTRACE_GETREGS, thread, 0, &registers)) continue;
    threads[count++] = (struct lt_snapshot_thread){.osThread = (uint32_t)thread, .threadPointer = registers.fs_base};
  }
  if (tasks) closedir(tasks);
  return count;
}

static int by_address(const void *a, const void *b) {
  const struct note *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

static struct { uint64_t blocks, freed, small, large, others, last, unordered, interior, beyond; } figures;

static void look_at(void *context, uint64_t address, uint64_t size) {
  (void)context;
  struct note key = {.address = address};
  struct note *note = bsearch(&key, notes, noteCount, sizeof key, by_address);
  figures.blocks++;
  if (address < figures.last) figures.unordered++;
  figures.last = address + size;
  if (!note) figures.others++;
  else if (!note->isLive) figures.freed++;
  else if (size < note->size || size < note->usable) figures.small++;
  else if (size > note->usable) figures.large++;
  if (isListing && note && note->isLive && size != note->usable)
    fprintf(stderr, "resized %llx %llu usable %llu asked %llu\n", (unsigned long long)address, (unsigned long long)size,
            (unsigned long long)note->usable, (unsigned long long)note->size);
  if (note) note->isFound = true;
  if (isListing && (!note || !note->isLive))
    fprintf(stderr, "%s %llx %llu %s\n", note ? "freed" : "other", (unsigned long long)address,
            (unsigned long long)size, note ? note->kind : "");
}

/// The live allocation in a block. mimalloc does not record where in a block an aligned allocation begins.
static struct note *live_note_in(uint64_t address, uint64_t size) {
  size_t low = 0, high = noteCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (notes[middle].address < address) low = middle + 1;
    else high = middle;
  }
  for (; low < noteCount && notes[low].address - address < size; low++)
    if (notes[low].isLive) return &notes[low];
  return NULL;
}

static void look_inside(void *context, uint64_t address, uint64_t size) {
  struct note *note = live_note_in(address, size);
  if (!note || note->address == address) {
    look_at(context, address, size);
    return;
  }
  if (address < figures.last) figures.unordered++;
  figures.blocks++;
  figures.last = address + size;
  figures.interior++;
  if (note->isFound) figures.unordered++;
  note->isFound = true;
  if (note->size > size - (note->address - address)) figures.beyond++;
}

static bool read_notes(FILE *from) {
  char line[256];
  while (fgets(line, sizeof line, from)) {
    if (!strcmp(line, "ready\n")) {
      qsort(notes, noteCount, sizeof *notes, by_address);
      return true;
    }
    unsigned long long address, size;
    char state[8], kind[32] = "";
    if (noteCount == NOTES || sscanf(line, "%7s %llx %llu %31s", state, &address, &size, kind) < 4) return false;
    struct note *note = &notes[noteCount++];
    *note = (struct note){.address = address, .size = size, .isLive = state[0] == 'l'};
    if (note->isLive) note->usable = strtoull(kind, NULL, 10);
    else snprintf(note->kind, sizeof note->kind, "%.7s", kind);
  }
  return false;
}

static void print_tcmalloc(const struct lt_tcmalloc_heap *heap) {
  printf("tcmalloc: %u classes, %llu thread caches, %llu cached, %llu broken lists, %llu unexpected counts, "
         "%llu odd, %llu stray, system %lld beyond spans; ",
         heap->state.classes.count, (unsigned long long)heap->lists.caches, (unsigned long long)heap->cached,
         (unsigned long long)(heap->lists.brokenLists + heap->brokenSpans),
         (unsigned long long)(heap->lists.unexpectedCount + heap->oddCounts), (unsigned long long)heap->oddSpans,
         (unsigned long long)heap->strayBlocks, (long long)(heap->systemBytes - heap->spanBytes));
}

/// Reads tcmalloc's heap. The memory is damaged from the beginning, or as soon as the variables are found.
static bool read_damaged_heap(const struct lt_allocator_memory *metadata, struct lt_tcmalloc_heap *heap,
                              uint64_t seed) {
  bool isLate = seed % 2;
  damageSeed = isLate ? 0 : seed;
  if (!lt_tcmalloc_heap_find(heap, metadata)) return false;
  damageSeed = seed;
  if (isLate) {
    heap->cachedBlocks.count = 0;
    lt_tcmalloc_read_free_lists(&heap->state, metadata, &heap->cachedBlocks, &heap->lists);
    lt_list_sort(&heap->cachedBlocks);
  }
  lt_tcmalloc_heap_walk(heap, NULL, NULL);
  return true;
}

static void read_damaged(const struct lt_allocator_memory *metadata, unsigned count) {
  struct lt_tcmalloc_heap heap;
  unsigned found = 0, incomplete = 0;
  for (unsigned seed = 1; seed <= count; seed++) {
    if (read_damaged_heap(metadata, &heap, seed)) {
      found++;
      incomplete += lt_tcmalloc_heap_is_incomplete(&heap);
    }
    lt_tcmalloc_heap_free(&heap);
  }
  damageSeed = 0;
  printf("damaged %u times: found %u times, incomplete %u times\n", count, found, incomplete);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static int compare(pid_t pid) {
  struct lt_memory memory = {.read = read_memory, .allocate = allocate, .release = release};
  struct lt_allocator_memory metadata = {
      .memory = &memory, .regions = regions, .threads = threads, .data = data, .nextPresent = next_present};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  memoryFile = open(path, O_RDONLY);
  snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
  pagesFile = open(path, O_RDONLY);
  metadata.threadCount = stop_threads(pid);
  if (memoryFile < 0 || pagesFile < 0 || !read_mappings(pid, &metadata)) return 2;
  struct lt_jemalloc_heap jemalloc;
  struct lt_mimalloc_heap mimalloc;
  struct lt_glibc_heap glibc;
  static struct lt_tcmalloc_heap tcmalloc;
  bool isMimalloc = lt_mimalloc_heap_find(&mimalloc, &metadata);
  bool isJemalloc = lt_jemalloc_heap_find(&jemalloc, &metadata), isGlibc = lt_glibc_heap_find(&glibc, &metadata);
  bool isTcmalloc = lt_tcmalloc_heap_find(&tcmalloc, &metadata);
  bool isWhole = true;
  if (isTcmalloc) {
    lt_tcmalloc_heap_walk(&tcmalloc, look_at, NULL);
    isWhole = !lt_tcmalloc_heap_is_incomplete(&tcmalloc);
    print_tcmalloc(&tcmalloc);
  }
  if (isJemalloc) {
    lt_jemalloc_heap_walk(&jemalloc, look_at, NULL);
    isWhole = !jemalloc.oddExtents && !jemalloc.isShort;
    printf("jemalloc: %llu thread caches, %llu cached; ", (unsigned long long)jemalloc.caches,
           (unsigned long long)jemalloc.cached);
  }
  if (isMimalloc && !isJemalloc && !isTcmalloc) {
    uint64_t began = now();
    lt_mimalloc_heap_walk(&mimalloc, look_inside, NULL);
    // mimalloc 3.0.1 may give out an aligned block again as if it began there: allocations overlap.
    bool mayOverlap = mimalloc.map.variable && mimalloc.map.layout->hasInteriorLinks;
    if (!mayOverlap) figures.small += figures.beyond;
    isWhole = !mimalloc.oddPages && !mimalloc.isShort && mimalloc.allocators == 1 && mimalloc.blocks == figures.blocks;
    printf(
        "mimalloc %s: %llu pages (%llu abandoned), %llu blocks in %llu us, %llu interior, %llu internal, %llu cached; ",
        mimalloc.map.variable ? "3" : "2", (unsigned long long)mimalloc.pages,
        (unsigned long long)mimalloc.abandonedPages, (unsigned long long)mimalloc.blocks,
        (unsigned long long)(now() - began), (unsigned long long)figures.interior,
        (unsigned long long)mimalloc.internalBlocks, (unsigned long long)mimalloc.cached);
  }
  if (isGlibc && !isJemalloc && !isTcmalloc && !isMimalloc) {
    lt_glibc_heap_walk(&glibc, look_at, NULL);
    isWhole = !glibc.isIncomplete && !glibc.breaks;
    uint64_t cached = 0, fast = 0;
    for (size_t i = 0; i < glibc.arenas.count; i++) {
      cached += lt_glibc_heap_arena(&glibc, i)->cached;
      fast += lt_glibc_heap_arena(&glibc, i)->fast;
    }
    printf("glibc 2.%u: %zu arenas, %llu thread caches, %llu cached, %llu fast, %llu mapped (%lld by count); ",
           metadata.libcRelease, glibc.arenas.count, (unsigned long long)glibc.caches, (unsigned long long)cached,
           (unsigned long long)fast, (unsigned long long)glibc.mapped, (long long)glibc.mappedByCount);
    if (!isWhole)
      printf("memory %s, %llu breaks in chunks, %llu bytes skipped; ", glibc.isIncomplete ? "not found" : "found",
             (unsigned long long)glibc.breaks, (unsigned long long)glibc.skippedBytes);
  }
  uint64_t live = 0, missing = 0;
  for (size_t i = 0; i < noteCount; i++) {
    live += notes[i].isLive;
    missing += notes[i].isLive && !notes[i].isFound;
    if (isListing && notes[i].isLive && !notes[i].isFound)
      fprintf(stderr, "missing %llx %llu\n", (unsigned long long)notes[i].address, (unsigned long long)notes[i].size);
  }
  printf("live %llu, missing %llu, freed listed %llu of %llu, too small %llu, too large %llu, others %llu%s\n",
         (unsigned long long)live, (unsigned long long)missing, (unsigned long long)figures.freed,
         (unsigned long long)(noteCount - live), (unsigned long long)figures.small, (unsigned long long)figures.large,
         (unsigned long long)figures.others, isWhole ? "" : ", incomplete");
  lt_tcmalloc_heap_free(&tcmalloc);
  if (isTcmalloc && damageCount) read_damaged(&metadata, damageCount);
  if (!isJemalloc && !isGlibc && !isTcmalloc && !isMimalloc) return 2;
  // The reader lists some large blocks of jemalloc 5.3.1 a page too large.
  bool isExact = !isJemalloc || jemalloc.layout->record->isBefore53;
  return missing || figures.freed || figures.small || (isExact && figures.large) || figures.unordered || !isWhole;
}

int main(int argc, char **argv) {
  int first = 1, pipes[2];
  if (argc > first && !strcmp(argv[first], "--list")) {
    isListing = true;
    first++;
  }
  if (argc > first + 1 && !strcmp(argv[first], "--damage")) {
    damageCount = (unsigned)strtoul(argv[first + 1], NULL, 10);
    first += 2;
  }
  if (argc <= first || pipe(pipes)) return 64;
  pid_t pid = fork();
  if (pid == 0) {
    dup2(pipes[1], STDOUT_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    execvp(argv[first], argv + first);
    perror(argv[first]);
    _exit(127);
  }
  close(pipes[1]);
  FILE *from = fdopen(pipes[0], "r");
  int status = 2;
  if (from && read_notes(from)) status = compare(pid);
  else fprintf(stderr, "check: the program has ended early\n");
  kill(pid, SIGKILL);
  return status;
}
