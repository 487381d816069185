// Finds the parameters of glibc's allocator by the relations among their words.

#include "allocator_metadata/malloc_parameters.h"

#include "allocator_metadata/glibc_layout.h"

/// Indexes of words in malloc_par, the number of words, and the greatest plausible number of arenas.
enum { TRIM_THRESHOLD = 0, ARENA_TEST = 3, ARENA_MAX = 4, WORDS = 17, ARENA_LIMIT = 1 << 20 };
/// The layouts up to 2.34, up to 2.42, and of 2.43.
static const struct {
  unsigned counts; ///< the counts begin at the half word of this index
  uint32_t lastRelease;
  /// The bytes of mapped blocks are a multiple of this. 2.43 counts 16 bytes too many whenever it moves a mapping.
  uint64_t unit;
} LAYOUTS[] = {{10, 34, LT_ALLOCATOR_PAGE}, {15, 42, LT_ALLOCATOR_PAGE}, {17, UINT32_MAX, GLIBC_ALIGNMENT}};
enum { LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS, MIN_SCORE = 3 };
/// The most bytes of libc's data that are searched on each side of the arena. All data of libc takes about 20 KiB.
static const uint64_t DATA_LIMIT = 1 << 20;

/// Returns how many bins a thread's cache has if its largest block has `bytes` bytes.
static uint64_t bins_for(uint64_t bytes) {
  uint64_t chunk = bytes + 8 < GLIBC_MIN_CHUNK ? GLIBC_MIN_CHUNK : lt_round_up(bytes + 8, GLIBC_ALIGNMENT);
  return (chunk - GLIBC_MIN_CHUNK) / GLIBC_ALIGNMENT + 1;
}

/// True if a number of bins fits `largest`, the size of the largest cached block. Up to 2.42, `largest` is in bytes of
/// the block. Since 2.42, the environment may set `largest` in bytes of a chunk. Then there is a bin for each size of a
/// smaller chunk. Release 2.43 adds 1 to these bytes.
static bool fits_bins(uint64_t largest, uint64_t bins) {
  if (bins < 1 || bins > GLIBC_SMALL_CACHE_BINS || largest > GLIBC_MAX_CACHED_CHUNK + 1) return false;
  if (bins_for(largest) == bins) return true;
  uint64_t chunk = largest & ~1ull;
  if (chunk < GLIBC_MIN_CHUNK || (chunk & (GLIBC_ALIGNMENT - 1))) return false;
  uint64_t fitting = (chunk - GLIBC_MIN_CHUNK) / GLIBC_ALIGNMENT + 1;
  return bins == (fitting < GLIBC_SMALL_CACHE_BINS ? fitting : GLIBC_SMALL_CACHE_BINS);
}

static uint32_t half(const uint64_t *words, unsigned index) { return (uint32_t)(words[index / 2] >> index % 2 * 32); }

static bool read_layout(const struct lt_allocator_memory *metadata, const uint64_t *words, unsigned layout,
                        struct lt_malloc_parameters *p) {
  unsigned counts = LAYOUTS[layout].counts;
  // Four numbers of 4 bytes come first: the mappings, their limit, the most mappings so far, and a flag. Six words
  // follow. Three are the bytes of the mappings, the most bytes so far, and the start of the break. The others are the
  // bins of a cache, the bytes of the largest cached block, and the most blocks of a bin. A thread may have been
  // stopped while it changed these values one by one, so counts and bytes may disagree.
  const uint64_t *rest = words + (counts + 4 + 1) / 2;
  if (half(words, counts + 3) > 1 || ((rest[0] | rest[1]) & (LAYOUTS[layout].unit - 1))) return false;
  if (rest[2] >= LT_ALLOCATOR_ADDRESS_LIMIT || (rest[2] & 15) ||
      (rest[2] && !lt_allocator_memory_region(metadata, rest[2])))
    return false;
  if (!fits_bins(rest[4], rest[3])) return false;
  if (rest[5] > UINT16_MAX || words[ARENA_TEST] > ARENA_LIMIT || words[ARENA_MAX] > ARENA_LIMIT) return false;
  p->trimThreshold = words[TRIM_THRESHOLD];
  p->arenaMax = words[ARENA_MAX];
  p->mapped = half(words, counts);
  p->mappedBytes = rest[0];
  p->breakStart = rest[2];
  p->cacheBins = rest[3];
  p->cacheLimit = rest[5];
  return true;
}

/// Returns how many of the words have their usual values. A few other places in libc's data look like the parameters by
/// chance. There, most of these words are 0.
static unsigned plausibility(const uint64_t *words, unsigned counts, const struct lt_malloc_parameters *p) {
  enum { USUAL_ARENA_TEST = 8 };
  return (half(words, counts + 1) == GLIBC_MAPPED_LIMIT) + (words[ARENA_TEST] == USUAL_ARENA_TEST) +
         (p->cacheBins == GLIBC_SMALL_CACHE_BINS) + (p->breakStart != 0) + (p->mapped != 0 || p->mappedBytes == 0);
}

/// Returns the layout of a release; the newest layout if the release is unknown.
static unsigned layout_of(uint32_t release) {
  unsigned i = 0;
  while (i + 1 < LAYOUT_COUNT && (!release || release > LAYOUTS[i].lastRelease)) i++;
  return i;
}

bool lt_glibc_find_parameters(const struct lt_allocator_memory *metadata, uint64_t mainArena,
                              struct lt_malloc_parameters *parameters) {
  *parameters = (struct lt_malloc_parameters){0};
  const struct lt_snapshot_region *region = lt_allocator_memory_region(metadata, mainArena);
  struct lt_word_window window;
  if (!region || !lt_word_window_init(&window, metadata, 64 << 10)) return false;
  uint64_t start = region->start, end = region->end;
  if (mainArena - start > DATA_LIMIT) start = mainArena - DATA_LIMIT;
  if (end - mainArena > DATA_LIMIT) end = mainArena + DATA_LIMIT;
  bool isFound = false;
  unsigned best = 0;
  for (unsigned tried = 0, layout = layout_of(metadata->libcRelease); !isFound && tried < LAYOUT_COUNT;
       tried++, layout = (layout + 1) % LAYOUT_COUNT) {
    for (uint64_t at = lt_round_up(start, 8); at < end && end - at >= 8 * WORDS; at += 8) {
      struct lt_malloc_parameters found;
      uint64_t words[WORDS];
      bool isKnown = true;
      for (unsigned i = 0; i < WORDS && isKnown; i++) isKnown = lt_window_word(&window, at + 8 * i, &words[i]);
      if (!isKnown) continue;
      if (!read_layout(metadata, words, layout, &found)) continue;
      unsigned score = plausibility(words, LAYOUTS[layout].counts, &found);
      if (score < MIN_SCORE || score <= best) continue;
      *parameters = found;
      parameters->address = at;
      best = score;
      isFound = true;
    }
  }
  lt_word_window_free(&window);
  return isFound;
}
