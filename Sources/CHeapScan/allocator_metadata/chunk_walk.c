// Follows chunks by their sizes, and finds the next chunk where the sequence breaks off.

#include "allocator_metadata/chunk_walk.h"

#include "allocator_metadata/glibc_layout.h"
#include "check.h"

#include <string.h>

enum {
  WINDOW = 128 << 10,
  PROBE = 16 << 10,
  /// Bytes that look like this many consecutive chunks count as chunks.
  CONVINCING_CHUNKS = 12,
  /// After this many unreadable pages, the search for the next chunk ends.
  MISSING_PAGES = 1 << 16,
};
static const uint64_t SEARCH_LIMIT = 1ull << 30;

bool lt_chunk_walk_init(struct lt_chunk_walk *walk, const struct lt_allocator_memory *metadata) {
  memset(walk, 0, sizeof *walk);
  walk->metadata = metadata;
  walk->searchLeft = SEARCH_LIMIT;
  return lt_word_window_init(&walk->window, metadata, WINDOW) && lt_word_window_init(&walk->probe, metadata, PROBE);
}

void lt_chunk_walk_free(struct lt_chunk_walk *walk) {
  if (!walk->metadata) return;
  lt_word_window_free(&walk->window);
  lt_word_window_free(&walk->probe);
}

void lt_chunk_walk_rewind(struct lt_chunk_walk *walk) {
  walk->searchLeft = SEARCH_LIMIT;
  walk->breaks = walk->skippedBytes = 0;
}

/// Reads the chunk at an address below `end`. Returns false if there is no chunk.
static LT_ALWAYS_INLINE bool chunk_at(struct lt_word_window *window, uint64_t address, uint64_t end,
                                      struct lt_heap_chunk *chunk) {
  uint64_t head, next;
  if (end - address < GLIBC_MIN_CHUNK || !lt_window_word(window, address + GLIBC_CHUNK_SIZE, &head)) return false;
  uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
  if (size < GLIBC_MIN_CHUNK || (size & (GLIBC_ALIGNMENT - 1)) || size > end - address || (head & GLIBC_IS_MAPPED) ||
      !lt_window_word(window, address + size + GLIBC_CHUNK_SIZE, &next))
    return false;
  *chunk =
      (struct lt_heap_chunk){address, size, (next & GLIBC_PREVIOUS_IN_USE) != 0, (head & GLIBC_NOT_MAIN_ARENA) != 0};
  return true;
}

/// True for the fencepost that ends a piece. It is a chunk of 16 bytes, followed by another chunk of 16 or 0 bytes.
/// If the top of a heap had 48 bytes, only the chunk of 0 bytes is left for the last 16.
static bool is_fencepost(struct lt_word_window *window, uint64_t address, uint64_t end) {
  uint64_t head, next;
  if (end - address < GLIBC_FENCEPOST || !lt_window_word(window, address + GLIBC_CHUNK_SIZE, &head)) return false;
  uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
  if (end - address == GLIBC_FENCEPOST) return size == 0 && (head & GLIBC_PREVIOUS_IN_USE);
  return end - address >= 2 * GLIBC_FENCEPOST && size == GLIBC_FENCEPOST &&
         lt_window_word(window, address + GLIBC_FENCEPOST + GLIBC_CHUNK_SIZE, &next) &&
         (next & ~(uint64_t)GLIBC_CHUNK_FLAGS) <= GLIBC_FENCEPOST;
}

static bool is_convincing(struct lt_chunk_walk *walk, uint64_t address, uint64_t end) {
  uint64_t at = address;
  for (int i = 0; i < CONVINCING_CHUNKS; i++) {
    struct lt_heap_chunk chunk;
    uint64_t before;
    if (!chunk_at(&walk->probe, at, end, &chunk)) return false;
    at += chunk.size;
    // A free chunk's size is also stored in the next chunk.
    if (!chunk.isInUse && (!lt_window_word(&walk->probe, at, &before) || before != chunk.size)) return false;
    if (at == end) return true;
  }
  return true;
}

/// Returns the next address where a sequence of chunks begins; 0 if there is none before `end`.
static uint64_t resynchronised(struct lt_chunk_walk *walk, uint64_t address, uint64_t end) {
  uint64_t at = address + GLIBC_ALIGNMENT, head;
  unsigned missingPages = 0;
  while (at < end && end - at >= GLIBC_MIN_CHUNK && walk->searchLeft >= GLIBC_ALIGNMENT) {
    walk->searchLeft -= GLIBC_ALIGNMENT;
    if (!lt_window_word(&walk->window, at + GLIBC_CHUNK_SIZE, &head)) {
      if (++missingPages >= MISSING_PAGES) return 0;
      at = lt_round_up(at + GLIBC_ALIGNMENT, LT_ALLOCATOR_PAGE);
      continue;
    }
    if (head >= GLIBC_MIN_CHUNK && is_convincing(walk, at, end)) return at;
    at += GLIBC_ALIGNMENT;
  }
  return 0;
}

void lt_chunk_walk_run(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, bool mayBeginLate,
                       void (*visit)(void *context, const struct lt_heap_chunk *chunk), void *context) {
  uint64_t at = start;
  LT_CHECK(start <= end && visit && walk->metadata);
  while (at < end) {
    struct lt_heap_chunk chunk;
    if (LT_LIKELY(chunk_at(&walk->window, at, end, &chunk))) {
      LT_CHECK(chunk.address == at && chunk.size >= GLIBC_MIN_CHUNK && chunk.size <= end - at);
      visit(context, &chunk);
      at += chunk.size;
      continue;
    }
    // Memory of other code, or none, follows fenceposts. Memory of other code may also precede the first chunk of the
    // program break. Neither is a break in the sequence.
    bool isEnd = is_fencepost(&walk->window, at, end) || (mayBeginLate && at == start);
    if (!isEnd) walk->breaks++;
    uint64_t next = resynchronised(walk, at, end);
    if (!next) {
      if (!isEnd) walk->skippedBytes += end - at;
      return;
    }
    LT_CHECK(next > at && next < end);
    walk->skippedBytes += next - at;
    at = next;
  }
}

uint64_t lt_chunk_walk_length(struct lt_chunk_walk *walk, uint64_t start, uint64_t end, uint64_t top) {
  uint64_t at = start;
  struct lt_heap_chunk chunk;
  while (at < end && at != top && walk->searchLeft >= GLIBC_ALIGNMENT && chunk_at(&walk->window, at, end, &chunk)) {
    walk->searchLeft -= GLIBC_ALIGNMENT;
    at += chunk.size;
    LT_CHECK(at > start && at <= end);
  }
  if (at == start || at >= end) return 0;
  if (at == top) return at - start;
  return is_fencepost(&walk->window, at, end) ? at + 2 * GLIBC_FENCEPOST - start : 0;
}
