// Allocates, frees and passes blocks between threads, then writes which blocks are live and which are freed.
//
// Usage: truth [SEED [THREADS [CALLS]]]
// Output: "live ADDRESS SIZE USABLE" or "freed ADDRESS SIZE KIND" for each block, then "ready". Then the program waits
// for a signal. USABLE is malloc_usable_size. KIND is `own` (freed by the thread that allocated it), `passed` (by
// another thread), `ended` (by a thread that has ended) or `moved` (by realloc). The program keeps these notes outside
// of the allocator.

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TABLE_BITS = 20, TABLE = 1 << TABLE_BITS, SLOTS = 4096, SHARED = 512, THREAD_LIMIT = 64, HUGE_KINDS = 9 };
enum kind { LIVE = 1, OWN, PASSED, MOVED };

/// A block by its address.
struct note {
  uint64_t address, size;
  uint32_t kind, thread;
};

static struct note *notes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *shared[SHARED], *huge[THREAD_LIMIT][HUGE_KINDS];
static int threadCount = 6, callCount = 20000;
static uint64_t seed = 1;
static atomic_int parked;
static pthread_barrier_t allBegun;

extern int mi_version(void) __attribute__((weak));
/// mimalloc 3.0 and 3.1 forget that a page has aligned blocks, and give them out again from where they were aligned to.
/// They reach into the next block then: only their beginnings may be written. They also give out live addresses again
/// after mi_heap_destroy.
static bool isFragile;
// Functions of jemalloc's own; NULL with other allocators.
extern __attribute__((weak)) int mallctl(const char *name, void *old, size_t *oldSize, void *new, size_t newSize);
extern __attribute__((weak)) void *mallocx(size_t size, int flags);
extern __attribute__((weak)) void dallocx(void *block, int flags);
enum { NO_CACHE = 1 << 8 };
static unsigned ownArena;
/// The reader leaves out caches that belong to no thread, or are off, before 5.3 alone.
static bool isJemallocBefore53;

static void note(void *block, uint64_t size, enum kind kind, unsigned thread) {
  uint64_t address = (uint64_t)block;
  pthread_mutex_lock(&lock);
  uint64_t i = address * 0x9E3779B97F4A7C15 >> (64 - TABLE_BITS);
  while (notes[i].address && notes[i].address != address) i = (i + 1) & (TABLE - 1);
  if (!size) size = notes[i].size;
  notes[i] = (struct note){address, size, kind, thread};
  pthread_mutex_unlock(&lock);
}

static uint64_t next(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random >> 8;
}

static size_t some_size(uint64_t *random) {
  uint64_t r = next(random) % 1000;
  if (r < 700) return 1 + next(random) % 600;
  if (r < 900) return 600 + next(random) % 3400;
  if (r < 980) return 4000 + next(random) % 60000;
  if (r < 996) return 64000 + next(random) % 200000;
  return 200000 + next(random) % 2000000;
}

static void *get(uint64_t *random, unsigned thread) {
  static const size_t ALIGNMENTS[] = {32, 64, 128, 256, 1024, 4096, 16384, 65536, 1 << 21};
  size_t size = some_size(random);
  void *block = NULL;
  switch (next(random) % 16) {
    case 0: {
      size_t alignment = ALIGNMENTS[next(random) % (sizeof ALIGNMENTS / sizeof *ALIGNMENTS)];
      if (alignment > 4096 && next(random) % 8) alignment = 64;
      if (posix_memalign(&block, alignment, size)) abort();
      break;
    }
    case 1: block = isFragile ? malloc(size) : calloc(1, size); break;
    default: block = malloc(size);
  }
  if (!block) abort();
  // Some blocks stay as the allocator returned them.
  size_t written = isFragile ? 16 : 64;
  if (next(random) % 4) memset(block, 0x41 + (int)(next(random) % 20), size < written ? size : written);
  note(block, size, LIVE, thread);
  return block;
}

static void drop(void *block, enum kind kind, unsigned thread) {
  note(block, 0, kind, thread);
  free(block);
}

/// Large blocks of the kinds that allocators map for themselves. Of three of a kind one stays, one is freed here, and
/// main frees one.
static void get_huge(unsigned thread) {
  static const struct {
    size_t size, alignment;
  } KINDS[HUGE_KINDS] = {{17 << 20, 0},       {40 << 20, 0},
                         {(65 << 20) + 1, 0}, {(3 << 20) + 5, 1 << 20},
                         {5 << 20, 1 << 22},  {(3 << 20) + 5, 1 << 24},
                         {20 << 20, 1 << 25}, {3 << 20, 1 << 26},
                         {100, 1 << 26}};
  for (int i = 0; i < HUGE_KINDS; i++) {
    void *blocks[3];
    for (int j = 0; j < 3; j++) {
      blocks[j] = NULL;
      if (!KINDS[i].alignment) blocks[j] = malloc(KINDS[i].size);
      else if (posix_memalign(&blocks[j], KINDS[i].alignment, KINDS[i].size)) abort();
      if (!blocks[j]) abort();
      memset(blocks[j], 0x61, 64);
      note(blocks[j], KINDS[i].size, LIVE, thread);
    }
    drop(blocks[1], OWN, thread);
    huge[thread][i] = blocks[2];
  }
}

// mimalloc's heaps, where it is the allocator.
extern void *mi_heap_new(void) __attribute__((weak));
extern void *mi_heap_malloc(void *heap, size_t size) __attribute__((weak));
extern void mi_heap_delete(void *heap) __attribute__((weak));
extern void mi_heap_destroy(void *heap) __attribute__((weak));

/// Blocks of a heap that leaves them to the thread, and of one that takes them along.
static void use_heaps(unsigned thread) {
  enum { BLOCKS = 200 };
  if (!mi_heap_new || !mi_heap_malloc || !mi_heap_delete || !mi_heap_destroy) return;
  uint64_t random = seed + thread + 77;
  for (int kind = 0; kind < 2; kind++) {
    void *heap = mi_heap_new(), *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      size_t size = some_size(&random);
      note(blocks[i] = mi_heap_malloc(heap, size), size, LIVE, thread);
    }
    for (int i = 0; i < BLOCKS; i += 3) drop(blocks[i], OWN, thread);
    if (kind == 0 || isFragile) {
      mi_heap_delete(heap);
      continue;
    }
    for (int i = 0; i < BLOCKS; i++)
      if (i % 3) note(blocks[i], 0, OWN, thread);
    mi_heap_destroy(heap);
  }
}

static void work(unsigned thread) {
  uint64_t random = seed * 0x9E3779B97F4A7C15 + thread * 0x1234567 + 1;
  void *slots[SLOTS] = {0};
  unsigned used = 0;
  for (int i = 0; i < callCount; i++) {
    uint64_t r = next(&random) % 100;
    if (used == 0 || (r < 52 && used < SLOTS)) {
      slots[used++] = get(&random, thread);
      continue;
    }
    unsigned which = (unsigned)(next(&random) % used);
    void *block = slots[which];
    if (r < 90) {
      slots[which] = slots[--used];
      drop(block, OWN, thread);
    } else if (r < 95) {
      size_t size = some_size(&random);
      note(block, 0, MOVED, thread);
      if (isFragile) free(block);
      slots[which] = isFragile ? malloc(size) : realloc(block, size);
      if (!slots[which]) abort();
      note(slots[which], size, LIVE, thread);
    } else {
      // Another thread may free the block.
      pthread_mutex_lock(&lock);
      unsigned place = (unsigned)(next(&random) % SHARED);
      void *other = shared[place];
      shared[place] = block;
      pthread_mutex_unlock(&lock);
      slots[which] = slots[--used];
      if (other) drop(other, PASSED, thread);
    }
  }
  // Leave blocks of some sizes in the caches, few of others.
  for (size_t size = 24; size < 5000000; size = size * 3 / 2) {
    void *blocks[5];
    for (int i = 0; i < 5; i++) note(blocks[i] = malloc(size), size, LIVE, thread);
    for (int i = 0; i < 3; i++) drop(blocks[i], OWN, thread);
  }
  use_heaps(thread);
  get_huge(thread);
}

/// mimalloc keeps a block of its own for heaps. It comes first: later it might get the address of a freed block.
static void prepare_heaps(void) {
  void *heaps[THREAD_LIMIT];
  if (!mi_heap_new || !mi_heap_delete) return;
  for (int i = 0; i < THREAD_LIMIT; i++) heaps[i] = mi_heap_new();
  for (int i = 0; i < THREAD_LIMIT; i++) mi_heap_delete(heaps[i]);
}

/// A block of each size in a thread's cache, with the words that the allocator left in it.
static void get_alike(void) {
  for (int i = 0; i < 4; i++) {
    static const size_t SIZES[] = {0x288, 0x298, 0x2F8, 0x308};
    for (unsigned s = 0; s < 4; s++) {
      note(malloc(SIZES[s]), SIZES[s], LIVE, 0);
      note(calloc(1, SIZES[s]), SIZES[s], LIVE, 0);
    }
  }
}

/// Frees most of many blocks of one size at once: whole batches move between caches.
static void free_batches(void) {
  enum { BATCH_BLOCKS = 3000, KEPT = 7 };
  static const size_t SIZES[] = {16, 48, 200, 1000};
  static void *blocks[BATCH_BLOCKS];
  for (unsigned s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
    for (unsigned i = 0; i < BATCH_BLOCKS; i++) note(blocks[i] = malloc(SIZES[s]), SIZES[s], LIVE, 0);
    for (unsigned i = 0; i < BATCH_BLOCKS; i++)
      if (i % KEPT) drop(blocks[i], OWN, 0);
  }
}

/// The bytes that the allocator says a live block has.
static uint64_t usable_size(const struct note *n) { return malloc_usable_size((void *)n->address); }

static void control(const char *name, void *old, size_t oldSize, void *new, size_t newSize) {
  if (mallctl(name, old, old ? &oldSize : NULL, new, newSize)) abort();
}

static void prepare_jemalloc(void) {
  const char *version;
  if (!mallctl) return;
  control("version", &version, sizeof version, NULL, 0);
  isJemallocBefore53 = version[0] == '5' && version[2] < '3';
  control("arenas.create", &ownArena, sizeof ownArena, NULL, 0);
}

/// Allocates in an arena of the program's own, and destroys the arena.
static void destroy_arena(void) {
  char name[64];
  int flags = (int)(ownArena + 1) << 20 | NO_CACHE;
  for (size_t size = 8; size < 4000000; size = size * 3 / 2) {
    void *block = mallocx(size, flags);
    note(block, size, LIVE, 0);
    note(block, 0, OWN, 0);
  }
  snprintf(name, sizeof name, "arena.%u.destroy", ownArena);
  control(name, NULL, 0, NULL, 0);
}

/// Frees blocks to caches that belong to no thread, and destroys one of the caches.
static void use_own_caches(void) {
  unsigned caches[3];
  for (int c = 0; c < 3; c++) {
    control("tcache.create", &caches[c], sizeof caches[c], NULL, 0);
    int flags = (int)(caches[c] + 2) << 8;
    for (size_t size = 8; size < 40000; size = size * 3 / 2) {
      void *blocks[5];
      for (int i = 0; i < 5; i++) note(blocks[i] = mallocx(size, flags), size, LIVE, 0);
      for (int i = 0; i < 3; i++) {
        note(blocks[i], 0, OWN, 0);
        dallocx(blocks[i], flags);
      }
    }
  }
  control("tcache.destroy", NULL, 0, &caches[1], sizeof caches[1]);
}

/// Allocates blocks as large as the stacks of caches: some lie where a cache was that is off.
static void replace_stacks(void) {
  for (size_t size = 16384; size < 49152; size += 2048)
    for (int i = 0; i < 20; i++) note(malloc(size), size, LIVE, 0);
}

static void *run(void *argument) {
  unsigned thread = (unsigned)(uintptr_t)argument;
  pthread_barrier_wait(&allBegun);
  work(thread);
  bool isOn = false;
  if (isJemallocBefore53 && thread % 4 == 2) control("thread.tcache.enabled", NULL, 0, &isOn, sizeof isOn);
  atomic_fetch_add(&parked, 1);
  if (thread % 2) return NULL; // a thread that ends
  for (;;) pause();
}

static void write_all(const char *text, size_t size) {
  while (size) {
    ssize_t n = write(STDOUT_FILENO, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    text += n;
    size -= (size_t)n;
  }
}

int main(int argc, char **argv) {
  if (argc > 1) seed = strtoull(argv[1], NULL, 10);
  if (argc > 2) threadCount = atoi(argv[2]);
  if (argc > 3) callCount = atoi(argv[3]);
  isFragile = mi_version && mi_version() >= 300 && mi_version() < 320;
  if (threadCount < 0 || threadCount >= THREAD_LIMIT) return 64;
  notes = mmap(NULL, TABLE * sizeof *notes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (notes == MAP_FAILED) return 1;
  prepare_heaps();
  prepare_jemalloc();
  pthread_t threads[THREAD_LIMIT];
  pthread_barrier_init(&allBegun, NULL, (unsigned)threadCount + 1);
  for (int i = 0; i < threadCount; i++)
    if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(i + 1))) return 1;
  pthread_barrier_wait(&allBegun);
  work(0);
  for (int i = 0; i < threadCount; i++)
    if ((i + 1) % 2) pthread_join(threads[i], NULL);
  while (atomic_load(&parked) < threadCount) usleep(1000);
  for (int i = 0; i < SHARED; i += 2) {
    if (shared[i]) drop(shared[i], PASSED, 0);
    shared[i] = NULL;
  }
  for (int i = 0; i <= threadCount; i++)
    for (int j = 0; j < HUGE_KINDS; j++) drop(huge[i][j], PASSED, 0);
  get_alike();
  free_batches();
  if (mallctl) destroy_arena();
  if (isJemallocBefore53) {
    use_own_caches();
    replace_stacks();
  }
  char line[128];
  static const char *const NAMES[] = {"", "live", "own", "passed", "moved"};
  for (int i = 0; i < TABLE; i++) {
    const struct note *n = &notes[i];
    if (!n->address) continue;
    const char *kind = n->kind == OWN && n->thread % 2 ? "ended" : NAMES[n->kind];
    unsigned long long address = n->address, size = n->size, usable = n->kind == LIVE ? usable_size(n) : 0;
    int length = n->kind == LIVE ? snprintf(line, sizeof line, "live %llx %llu %llu\n", address, size, usable)
                                 : snprintf(line, sizeof line, "freed %llx %llu %s\n", address, size, kind);
    write_all(line, (size_t)length);
  }
  write_all("ready\n", 6);
  for (;;) pause();
}
