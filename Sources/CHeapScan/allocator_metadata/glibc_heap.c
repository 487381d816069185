// Reads the metadata of glibc's allocator, in two walks through its chunks. The first walk finds threads' caches. The
// second walk passes on the allocated blocks, which are the chunks that are neither free nor cached.

#include "allocator_metadata/glibc_heap.h"

#include "allocator_metadata/chunk_walk.h"
#include "allocator_metadata/free_lists.h"
#include "allocator_metadata/glibc_layout.h"
#include "allocator_metadata/heap_pieces.h"
#include "allocator_metadata/mapped_chunks.h"
#include "allocator_metadata/thread_caches.h"
#include "check.h"

#include <errno.h>
#include <string.h>

static struct lt_heap_piece *piece_at(const struct lt_glibc_heap *h, size_t index) {
  return lt_list_item(&h->pieces, index);
}
static struct lt_glibc_arena *arena_at(const struct lt_glibc_heap *h, size_t index) {
  return lt_list_item(&h->arenas, index);
}
static bool is_main(const struct lt_glibc_arena *arena) { return arena->address == arena->main; }

// --- pieces, and freed blocks that neighbours record as in use -------------------------------------------------------

static bool find_pieces(struct lt_glibc_heap *h) {
  struct lt_word_window window;
  if (!lt_word_window_init(&window, h->metadata, LT_ALLOCATOR_PAGE)) return false;
  bool isWhole = true;
  uint64_t main = 0;
  struct lt_malloc_parameters parameters = {0};
  h->mappedByCount = 0;
  // The main arenas come last. The memory that a main arena has mapped is searched for only outside the other arenas'
  // memory.
  for (size_t i = h->arenas.count; i-- > 0;) {
    struct lt_glibc_arena *arena = arena_at(h, i);
    if (is_main(arena)) {
      main = arena->address;
      bool isKnown = lt_glibc_find_parameters(h->metadata, main, &parameters);
      if (!isKnown) h->mappedByCount = LT_GLIBC_UNKNOWN;
      else if (h->mappedByCount != LT_GLIBC_UNKNOWN) h->mappedByCount += parameters.mapped;
      if (i == 0) h->parameters = parameters;
      isWhole &=
          lt_find_heap_pieces(h->metadata, &window, arena, (uint32_t)i, isKnown ? &parameters : NULL, &h->pieces);
    } else {
      isWhole &= lt_find_heap_pieces(h->metadata, &window, arena, (uint32_t)i, NULL, &h->pieces);
    }
  }
  lt_word_window_free(&window);
  lt_order_heap_pieces(&h->pieces);
  return isWhole && !h->pieces.isShort;
}

static bool find_fast_chunks(struct lt_glibc_heap *h) {
  struct lt_word_window window, entries = {0};
  bool isWhole = lt_word_window_init(&window, h->metadata, LT_ALLOCATOR_PAGE) &&
                 lt_word_window_init(&entries, h->metadata, LT_ALLOCATOR_PAGE);
  for (size_t i = 0; isWhole && i < h->arenas.count; i++) {
    for (unsigned bin = 0; bin < arena_at(h, i)->layout->fastbins; bin++) {
      uint64_t first;
      bool isFollowed;
      if (!lt_window_word(&window, arena_at(h, i)->address + GLIBC_FASTBINS + 8 * bin, &first) || !first) continue;
      uint64_t size = lt_glibc_bin_chunk(bin);
      struct lt_free_list list = {first, GLIBC_CHUNK_MEMORY, 0, {size, size}, UINT64_MAX};
      lt_follow_free_list(&entries, &list, LT_GLIBC_FAST, &h->kept, &isFollowed);
    }
  }
  lt_word_window_free(&window);
  lt_word_window_free(&entries);
  return isWhole;
}

struct first_walk {
  struct lt_thread_caches caches;
  bool isMain;
};

static void look_for_cache(void *context, const struct lt_heap_chunk *chunk) {
  struct first_walk *walk = context;
  if (lt_glibc_cache_layout(chunk->size) && chunk->isInUse && chunk->isMarked != walk->isMain)
    lt_thread_caches_examine(&walk->caches, chunk->address);
}

/// Returns the key if it is plausible, otherwise 0. If few bits of a random key are set, or few are clear, glibc draws
/// another key.
static uint64_t random_key(uint64_t key) {
  enum { MIN_BITS = 16, MAX_BITS = 48, LEAST = 0x1000000 };
  int bits = __builtin_popcountll(key);
  return bits >= MIN_BITS && bits <= MAX_BITS && key > LEAST && key < UINT64_MAX - LEAST ? key : 0;
}

static bool find_caches(struct lt_glibc_heap *h) {
  struct lt_chunk_walk walk;
  struct first_walk first;
  bool hasRoom = lt_chunk_walk_init(&walk, h->metadata);
  hasRoom &= lt_thread_caches_init(&first.caches, h->metadata, &h->pieces, &h->kept);
  for (size_t i = 0; hasRoom && i < h->pieces.count; i++) {
    first.isMain = is_main(arena_at(h, piece_at(h, i)->arena));
    const struct lt_heap_piece *piece = piece_at(h, i);
    lt_chunk_walk_run(&walk, piece->start, piece->end, piece->isBreak, look_for_cache, &first);
  }
  if (hasRoom) lt_thread_caches_finish(&first.caches);
  h->caches = first.caches.count;
  if (h->metadata->libcRelease >= GLIBC_FIRST_WITH_CLEARED_KEYS) h->cacheKey = random_key(first.caches.key);
  lt_thread_caches_free(&first.caches);
  lt_chunk_walk_free(&walk);
  return hasRoom;
}

/// False if the program's environment has turned off threads' caches.
static bool may_have_caches(const struct lt_glibc_heap *h) {
  return !h->parameters.address || h->parameters.cacheLimit > 0;
}

static bool find_mapped(struct lt_glibc_heap *h) {
  struct lt_growing_list taken;
  lt_list_init(&taken, h->metadata->memory, sizeof(struct lt_address_range));
  for (size_t i = 0; i < h->pieces.count; i++) {
    const struct lt_heap_piece *piece = piece_at(h, i);
    struct lt_address_range range = {piece->start & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1), piece->takenEnd};
    lt_list_append(&taken, &range);
  }
  bool isWhole =
      !taken.isShort && lt_glibc_find_mapped_chunks(h->metadata, arena_at(h, 0)->layout, &taken, &h->mappedChunks);
  lt_list_free(&taken);
  return isWhole;
}

bool lt_glibc_heap_find(struct lt_glibc_heap *h, const struct lt_allocator_memory *metadata) {
  memset(h, 0, sizeof *h);
  h->metadata = metadata;
  lt_list_init(&h->arenas, metadata->memory, sizeof(struct lt_glibc_arena));
  lt_list_init(&h->pieces, metadata->memory, sizeof(struct lt_heap_piece));
  lt_list_init(&h->kept, metadata->memory, 2 * sizeof(uint64_t));
  lt_list_init(&h->mappedChunks, metadata->memory, sizeof(struct lt_mapped_chunk));
  bool hasBins = false, isWhole = lt_glibc_find_arenas(metadata, &h->arenas, &hasBins);
  if (h->arenas.count == 0) {
    h->isShort = h->arenas.isShort;
    h->failure = h->isShort             ? ENOMEM
                 : !metadata->dataCount ? LT_METADATA_NO_LIBC
                 : hasBins              ? LT_METADATA_NO_RING
                                        : LT_METADATA_NO_BINS;
    return false;
  }
  isWhole &= find_pieces(h);
  bool hasRoom = find_fast_chunks(h) && find_caches(h);
  // Since 2.43, a program that has freed nothing has no cache, so a missing cache means nothing.
  h->areCachesUnread =
      h->caches == 0 && h->pieces.count > 0 && may_have_caches(h) &&
      (metadata->libcRelease < GLIBC_FIRST_WITH_LATE_CACHES || metadata->libcRelease > GLIBC_LAST_KNOWN);
  isWhole &= find_mapped(h);
  lt_list_sort(&h->kept);
  h->isShort = !hasRoom || h->kept.isShort || h->mappedChunks.isShort || h->arenas.isShort;
  h->isIncomplete = !isWhole || h->isShort;
  return true;
}

void lt_glibc_heap_free(struct lt_glibc_heap *h) {
  lt_list_free(&h->arenas);
  lt_list_free(&h->pieces);
  lt_list_free(&h->kept);
  lt_list_free(&h->mappedChunks);
}

// --- blocks ----------------------------------------------------------------------------------------------------------

struct second_walk {
  struct lt_glibc_heap *heap;
  struct lt_glibc_arena *arena;
  void (*block)(void *context, uint64_t address, uint64_t size);
  void *context;
  size_t nextKept, nextMapped;
  struct lt_heap_chunk last; ///< the last chunk of the piece so far
  uint64_t lastUse;
  bool isMain;
  struct lt_chunk_walk *walk;
  struct lt_word_window mapped; ///< for the words of mapped chunks
};

/// True if a chunk has the key of cached blocks. Since 2.43, glibc clears the key when it takes a block from a cache.
/// So a cached block is recognised even if its list is damaged.
static bool has_cache_key(struct second_walk *w, struct lt_word_window *window, uint64_t chunk) {
  uint64_t word;
  return w->heap->cacheKey && lt_window_word(window, chunk + GLIBC_CHUNK_MEMORY + GLIBC_CACHE_KEY, &word) &&
         word == w->heap->cacheKey;
}

static void hand_over(struct second_walk *w, uint64_t address, uint64_t size) {
  w->heap->blocks++;
  w->heap->blockBytes += size;
  if (w->block) w->block(w->context, address, size);
}

/// Passes on the mapped blocks before an address.
static void hand_over_mapped(struct second_walk *w, uint64_t end) {
  const struct lt_growing_list *chunks = &w->heap->mappedChunks;
  for (; w->nextMapped < chunks->count && lt_list_number(chunks, w->nextMapped) < end; w->nextMapped++) {
    const struct lt_mapped_chunk *chunk = lt_list_item(chunks, w->nextMapped);
    LT_CHECK(chunk->size > GLIBC_CHUNK_MEMORY && chunk->usable < chunk->size);
    // Since 2.43, a thread's cache may contain mapped chunks.
    if (lt_list_has(&w->heap->kept, chunk->address) || has_cache_key(w, &w->mapped, chunk->address)) {
      struct lt_glibc_arena *main = arena_at(w->heap, 0);
      main->cached++;
      main->cachedBytes += chunk->size;
      continue;
    }
    w->heap->mapped++;
    w->heap->mappedBytes += chunk->size;
    hand_over(w, chunk->address + GLIBC_CHUNK_MEMORY, chunk->usable);
  }
}

/// Returns the bytes of the whole present pages in a range of free memory.
static uint64_t page_bytes(struct second_walk *w, uint64_t start, uint64_t end) {
  uint64_t page = lt_allocator_page_size(w->heap->metadata);
  start = lt_round_up(start, page);
  end &= ~(page - 1);
  if (start >= end) return 0;
  uint64_t sum = 0;
  struct lt_address_range run = {0, start};
  while (lt_allocator_memory_next_present(w->heap->metadata, run.end, end, &run)) sum += run.end - run.start;
  return sum;
}

/// Returns the use of a chunk that the next chunk records as in use. Must be called in order of address.
static uint64_t use_of(struct second_walk *w, uint64_t chunk) {
  const struct lt_growing_list *kept = &w->heap->kept;
  while (w->nextKept < kept->count && lt_list_number(kept, w->nextKept) < chunk) w->nextKept++;
  if (w->nextKept == kept->count || lt_list_number(kept, w->nextKept) != chunk) return LT_GLIBC_BLOCK;
  return ((const struct lt_kept_chunk *)lt_list_item(kept, w->nextKept))->use;
}

/// Returns a window for reading a chunk's first words. If the chunk is large, the walk's own window has already moved
/// past them.
static struct lt_word_window *window_of(struct second_walk *w, const struct lt_heap_chunk *chunk) {
  return w->walk->window.start <= chunk->address ? &w->walk->window : &w->walk->probe;
}

static void visit(void *context, const struct lt_heap_chunk *chunk) {
  struct second_walk *w = context;
  struct lt_glibc_arena *arena = w->arena;
  LT_CHECK(arena && (!w->last.size || w->last.address + w->last.size <= chunk->address));
  w->last = *chunk;
  if (!chunk->isInUse) {
    // The bin uses four words after the header of a free chunk.
    enum { FREE_HEAD = 48 };
    arena->free++;
    arena->freeBytes += chunk->size;
    if (chunk->size >= LT_ALLOCATOR_PAGE)
      arena->freePageBytes += page_bytes(w, chunk->address + FREE_HEAD, chunk->address + chunk->size);
    return;
  }
  w->lastUse = use_of(w, chunk->address);
  if (w->lastUse == LT_GLIBC_BLOCK && has_cache_key(w, window_of(w, chunk), chunk->address))
    w->lastUse = LT_GLIBC_CACHED;
  switch (w->lastUse) {
    case LT_GLIBC_CACHED:
      arena->cached++;
      arena->cachedBytes += chunk->size;
      break;
    case LT_GLIBC_FAST:
      arena->fast++;
      arena->fastBytes += chunk->size;
      break;
    case LT_GLIBC_CACHE: break;
    default:
      if (chunk->isMarked == w->isMain) break;
      arena->inUse++;
      arena->inUseBytes += chunk->size;
      // A block also has the first word of the next chunk.
      hand_over(w, chunk->address + GLIBC_CHUNK_MEMORY, chunk->size - sizeof(uint64_t));
  }
}

static void finish_piece(struct second_walk *w, const struct lt_heap_piece *piece) {
  struct lt_glibc_arena *arena = w->arena;
  if (!piece->hasTop) return;
  arena->freePageBytes += page_bytes(w, piece->end + GLIBC_CHUNK_MEMORY, piece->takenEnd);
  if (w->last.size && w->last.isInUse && w->last.address + w->last.size == piece->end) {
    arena->pin = w->last.address + GLIBC_CHUNK_MEMORY;
    arena->pinBytes = w->last.size;
    arena->pinUse = w->lastUse;
  }
}

static void forget_figures(struct lt_glibc_heap *h) {
  h->blocks = h->blockBytes = h->mapped = h->mappedBytes = 0;
  for (size_t i = 0; i < h->arenas.count; i++) {
    struct lt_glibc_arena *a = arena_at(h, i);
    *a = (struct lt_glibc_arena){.address = a->address,
                                 .layout = a->layout,
                                 .main = a->main,
                                 .top = a->top,
                                 .topBytes = a->topBytes,
                                 .systemBytes = a->systemBytes};
  }
}

void lt_glibc_heap_walk(struct lt_glibc_heap *h, void (*block)(void *context, uint64_t address, uint64_t size),
                        void *context) {
  struct lt_chunk_walk walk;
  struct second_walk w = {.heap = h, .block = block, .context = context, .walk = &walk};
  forget_figures(h);
  if (lt_word_window_init(&w.mapped, h->metadata, LT_ALLOCATOR_PAGE) && lt_chunk_walk_init(&walk, h->metadata)) {
    for (size_t i = 0; i < h->pieces.count; i++) {
      const struct lt_heap_piece *piece = piece_at(h, i);
      LT_CHECK(piece->arena < h->arenas.count && (i == 0 || piece_at(h, i - 1)->end <= piece->start));
      hand_over_mapped(&w, piece->start);
      w.arena = arena_at(h, piece->arena);
      w.isMain = is_main(w.arena);
      w.last = (struct lt_heap_chunk){0};
      lt_chunk_walk_run(&walk, piece->start, piece->end, piece->isBreak, visit, &w);
      finish_piece(&w, piece);
    }
  } else {
    h->isIncomplete = h->isShort = true;
  }
  hand_over_mapped(&w, UINT64_MAX);
  lt_word_window_free(&w.mapped);
  h->breaks = walk.breaks;
  h->skippedBytes = walk.skippedBytes;
  lt_chunk_walk_free(&walk);
}
