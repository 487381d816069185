// Finds the parameters of glibc's allocator by what their words have to do with each other.

#include "allocator_books/malloc_parameters.h"

#include "allocator_books/glibc_layout.h"

/// Words of malloc_par, from its first on.
enum { TRIM_THRESHOLD = 0, ARENA_MAX = 4 };
/// Where the counts begin, in halves of words, and how many words lie between them and the end.
enum { OLD_COUNTS = 10, NEW_COUNTS = 15, WORDS = 17, ARENA_LIMIT = 1 << 20 };
/// Bytes of libc's data that are searched: it has some 20 KiB.
static const uint64_t DATA_LIMIT = 1 << 20;

/// Bins that caches have whose blocks have some bytes at most.
static uint64_t bins_for(uint64_t bytes) {
  uint64_t chunk = bytes + 8 < GLIBC_LEAST_CHUNK ? GLIBC_LEAST_CHUNK : lt_round_up(bytes + 8, GLIBC_ALIGNMENT);
  return (chunk - GLIBC_LEAST_CHUNK) / GLIBC_ALIGNMENT + 1;
}

static uint32_t half(const uint64_t *words, unsigned index) { return (uint32_t)(words[index / 2] >> index % 2 * 32); }

static bool read_layout(const uint64_t *words, unsigned counts, struct lt_malloc_parameters *p) {
  // Four numbers of 4 bytes: mappings, how many are allowed, how many there were, a flag. Then words: their bytes, the
  // most there were, the start of the break, bins of caches, bytes of a cached block, blocks a bin.
  // A thread may be about to change them, one after the other.
  const uint64_t *rest = words + (counts + 4 + 1) / 2;
  if (half(words, counts + 3) > 1 || ((rest[0] | rest[1]) & 4095)) return false;
  if (rest[2] >= LT_BOOKS_ADDRESS_LIMIT || (rest[2] & 15)) return false;
  if (rest[3] < 1 || rest[3] > GLIBC_CACHE_BINS || rest[4] > 1 << 12 || bins_for(rest[4]) != rest[3]) return false;
  if (rest[5] > UINT16_MAX || words[ARENA_MAX] > ARENA_LIMIT) return false;
  p->trimThreshold = words[TRIM_THRESHOLD];
  p->arenaMax = words[ARENA_MAX];
  p->mapped = half(words, counts);
  p->mappedBytes = rest[0];
  p->breakStart = rest[2];
  p->cacheBins = rest[3];
  p->cacheLimit = rest[5];
  return true;
}

bool lt_glibc_find_parameters(const struct lt_books_memory *books, uint64_t mainArena,
                              struct lt_malloc_parameters *parameters) {
  *parameters = (struct lt_malloc_parameters){0};
  const struct lt_snapshot_region *region = lt_books_region(books, mainArena);
  struct lt_word_window window;
  if (!region || !lt_word_window_init(&window, books, 64 << 10)) return false;
  uint64_t start = region->start, end = region->end;
  if (mainArena - start > DATA_LIMIT) start = mainArena - DATA_LIMIT;
  if (end - mainArena > DATA_LIMIT) end = mainArena + DATA_LIMIT;
  bool isFound = false;
  for (uint64_t at = lt_round_up(start, 8); !isFound && at < end && end - at >= 8 * WORDS; at += 8) {
    uint64_t words[WORDS];
    bool isKnown = true;
    for (unsigned i = 0; i < WORDS && isKnown; i++) isKnown = lt_window_word(&window, at + 8 * i, &words[i]);
    if (!isKnown) continue;
    isFound = read_layout(words, NEW_COUNTS, parameters) || read_layout(words, OLD_COUNTS, parameters);
    if (isFound) parameters->address = at;
  }
  lt_word_window_free(&window);
  return isFound;
}
