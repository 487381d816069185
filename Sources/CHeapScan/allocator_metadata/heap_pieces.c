// Finds the memory of glibc's arenas. It is the program break, heaps, or memory that was mapped because the break could
// not be moved.

#include "allocator_metadata/heap_pieces.h"

#include "allocator_metadata/chunk_walk.h"
#include "allocator_metadata/glibc_layout.h"
#include "check.h"

enum {
  /// The most heaps of one arena.
  HEAP_LIMIT = 1 << 20,
  /// Heaps begin at multiples of 64 MiB by default. If a tunable requests huge pages, another power of two is used.
  USUAL_HEAP_SHIFT = 26,
  MIN_HEAP_SHIFT = 20,
  MAX_HEAP_SHIFT = 32,
};

struct finding {
  const struct lt_allocator_memory *metadata;
  struct lt_word_window *window;
  struct lt_glibc_arena *arena;
  uint32_t index;
  struct lt_growing_list *pieces;
  bool isIncomplete;
};

static void append(struct finding *f, uint64_t start, uint64_t end, bool isBreak) {
  start = lt_round_up(start, GLIBC_ALIGNMENT);
  if (start > end || end > LT_ALLOCATOR_ADDRESS_LIMIT) {
    f->isIncomplete = true;
    return;
  }
  struct lt_heap_piece piece = {.start = start, .end = end, .takenEnd = end, .arena = f->index, .isBreak = isBreak};
  piece.hasTop = end == f->arena->top;
  if (piece.hasTop && f->arena->topBytes < LT_ALLOCATOR_ADDRESS_LIMIT - end) piece.takenEnd += f->arena->topBytes;
  piece.takenEnd = lt_round_up(piece.takenEnd, lt_allocator_page_size(f->metadata));
  LT_CHECK(piece.start <= piece.end && piece.end <= piece.takenEnd && piece.start % GLIBC_ALIGNMENT == 0);
  if (!lt_list_append(f->pieces, &piece)) f->isIncomplete = true;
}

/// A region, or several adjacent regions, that may belong to the main arena.
struct run {
  uint64_t start, end;
};

static bool may_be_heap(const struct lt_snapshot_region *region) {
  return (region->kind == LT_REGION_BREAK || region->kind == LT_REGION_ANONYMOUS) &&
         (region->flags & LT_REGION_READABLE) && (region->flags & LT_REGION_CAPTURED);
}

/// Finds the region at an address. For the program break, also includes the adjacent regions of the same kind. The
/// kernel splits the break where its protection changes. Returns false if there is no such region.
static bool run_with(struct finding *f, uint64_t address, bool isBreak, struct run *run) {
  const struct lt_snapshot_region *region = lt_allocator_memory_region(f->metadata, address),
                                  *last = f->metadata->regions + f->metadata->regionCount;
  if (!region || !may_be_heap(region)) return false;
  *run = (struct run){region->start, region->end};
  LT_CHECK(address >= run->start && address < run->end);
  if (!isBreak) return true;
  for (const struct lt_snapshot_region *r = region; r > f->metadata->regions; r--) {
    if (r[-1].end != run->start || r[-1].kind != region->kind || !may_be_heap(&r[-1])) break;
    run->start = r[-1].start;
  }
  for (const struct lt_snapshot_region *r = region + 1; r < last; r++) {
    if (r->start != run->end || r->kind != region->kind || !may_be_heap(r)) break;
    run->end = r->end;
  }
  return true;
}

/// Appends a run, up to the top if the run contains it.
static void append_run(struct finding *f, struct run run, uint64_t from, bool isBreak) {
  LT_CHECK(run.start < run.end);
  if (from > run.start && from < run.end) run.start = from;
  bool hasTop = f->arena->top >= run.start && f->arena->top < run.end;
  append(f, run.start, hasTop ? f->arena->top : run.end, isBreak);
}

/// Narrows a range to its first part that is in none of the first `known` pieces. Returns false if there is no such
/// part.
static bool free_part(const struct finding *f, size_t known, uint64_t *start, uint64_t *end) {
  for (size_t i = 0; i < known; i++) {
    const struct lt_heap_piece *piece = lt_list_item(f->pieces, i);
    uint64_t first = piece->start & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1);
    if (*start >= first && *start < piece->takenEnd) {
      *start = piece->takenEnd;
      i = (size_t)-1; // another piece may begin there
    } else if (first > *start && first < *end) {
      *end = first;
    }
    if (*start >= *end) return false;
  }
  return true;
}

/// Finds memory that was mapped because the program break could not be moved. Such memory begins with a chunk at the
/// start of a page, and ends with fenceposts or with the top. Searches only memory that is in no other piece. Returns
/// true if the top was found.
static bool find_mapped_more(struct finding *f) {
  struct lt_chunk_walk walk;
  bool hasRoom = lt_chunk_walk_init(&walk, f->metadata), hasTop = false;
  size_t known = f->pieces->count;
  uint64_t page = lt_allocator_page_size(f->metadata);
  for (uint32_t i = 0; hasRoom && i < f->metadata->regionCount; i++) {
    const struct lt_snapshot_region *region = &f->metadata->regions[i];
    if (!may_be_heap(region) || !(region->flags & LT_REGION_WRITABLE)) continue;
    uint64_t start = region->start, end = region->end;
    for (; start < region->end; end = region->end) {
      if (!free_part(f, known, &start, &end)) continue;
      uint64_t length = lt_chunk_walk_length(&walk, start, end, f->arena->top);
      if (!length) {
        start += page;
        continue;
      }
      append(f, start, start + length, false);
      hasTop |= start + length == f->arena->top;
      start = lt_round_up(start + length, page);
    }
  }
  if (!hasRoom) f->isIncomplete = true;
  lt_chunk_walk_free(&walk);
  return hasTop;
}

/// Finds the memory of a main arena. It is the program break, or memory that was mapped because the break could not be
/// moved.
static void find_main(struct finding *f, const struct lt_malloc_parameters *parameters) {
  uint64_t from = parameters ? parameters->breakStart : 0, flags;
  bool isNamed = false, hasTop = false, isContiguous = true;
  struct run run;
  for (uint32_t i = 0; i < f->metadata->regionCount; i++) {
    const struct lt_snapshot_region *region = &f->metadata->regions[i];
    if (region->kind != LT_REGION_BREAK || (i && region[-1].kind == LT_REGION_BREAK && region[-1].end == region->start))
      continue;
    if (!run_with(f, region->start, true, &run)) continue;
    append_run(f, run, from, true);
    isNamed = true;
    hasTop |= f->arena->top >= run.start && f->arena->top < run.end;
  }
  if (lt_window_word(f->window, f->arena->address, &flags)) isContiguous = !(flags >> 32 & GLIBC_NONCONTIGUOUS);
  // Core files do not say which region is the break.
  if (!isNamed && isContiguous && from && run_with(f, from, true, &run)) {
    append_run(f, run, from, true);
    hasTop |= f->arena->top >= run.start && f->arena->top < run.end;
  }
  if (!isContiguous) hasTop |= find_mapped_more(f);
  if (hasTop) return;
  if (run_with(f, f->arena->top, false, &run)) append_run(f, run, 0, true);
  else f->isIncomplete = true;
}

static bool newest_heap(struct finding *f, uint64_t *heap, uint64_t *alignment) {
  for (int shift = MIN_HEAP_SHIFT - 1; shift <= MAX_HEAP_SHIFT; shift++) {
    uint64_t owner;
    *alignment = 1ull << (shift < MIN_HEAP_SHIFT ? USUAL_HEAP_SHIFT : shift);
    *heap = f->arena->top & ~(*alignment - 1);
    if (lt_window_word(f->window, *heap + GLIBC_HEAP_ARENA, &owner) && owner == f->arena->address) return true;
  }
  return false;
}

/// Finds the heaps of an arena that is not a main arena. A heap has a fixed maximum size. The newest heap contains the
/// top, and each heap refers to the previous heap.
static void find_heaps(struct finding *f) {
  uint64_t arena = f->arena->address, first = lt_glibc_first_heap(arena), heap, alignment, before = UINT64_MAX;
  if (!newest_heap(f, &heap, &alignment)) {
    f->isIncomplete = true;
    return;
  }
  uint64_t mark = 0;
  for (uint64_t count = 1, markAt = 1; count < HEAP_LIMIT; count++) {
    uint64_t owner, previous, size;
    if ((heap & (alignment - 1)) || heap >= LT_ALLOCATOR_ADDRESS_LIMIT || heap == mark || heap == before ||
        !lt_window_word(f->window, heap + GLIBC_HEAP_ARENA, &owner) || owner != arena ||
        !lt_window_word(f->window, heap + GLIBC_PREVIOUS_HEAP, &previous) ||
        !lt_window_word(f->window, heap + GLIBC_HEAP_SIZE, &size) || size > alignment)
      break; // heaps that pass these checks do not overlap
    uint64_t end = heap + size, top = f->arena->top;
    append(f, heap == first ? lt_glibc_bins(f->arena) + GLIBC_ARENA_BEHIND_BINS : heap + (arena - first),
           top >= heap && top < end ? top : end, false);
    if (heap == first) return;
    if (count == markAt) {
      mark = heap;
      markAt *= 2;
    }
    before = heap;
    heap = previous;
  }
  f->isIncomplete = true;
}

bool lt_find_heap_pieces(const struct lt_allocator_memory *metadata, struct lt_word_window *window,
                         struct lt_glibc_arena *arena, uint32_t index, const struct lt_malloc_parameters *parameters,
                         struct lt_growing_list *pieces) {
  struct finding f = {metadata, window, arena, index, pieces, false};
  uint64_t top, head;
  if (!lt_window_word(window, lt_glibc_top(arena), &top) || (top & 15) || top >= LT_ALLOCATOR_ADDRESS_LIMIT)
    return false;
  if (!lt_window_word(window, lt_glibc_bins(arena) + GLIBC_SYSTEM_MEMORY_BEHIND_BINS, &arena->systemBytes))
    arena->systemBytes = 0;
  // The `top` field refers to an empty bin until the arena has memory.
  if (top == lt_glibc_top(arena)) return true;
  arena->top = top;
  if (lt_window_word(window, top + GLIBC_CHUNK_SIZE, &head)) arena->topBytes = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
  if (arena->address == arena->main) find_main(&f, parameters);
  else find_heaps(&f);
  return !f.isIncomplete;
}

void lt_order_heap_pieces(struct lt_growing_list *pieces) {
  lt_list_sort(pieces);
  size_t kept = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    struct lt_heap_piece piece = *(struct lt_heap_piece *)lt_list_item(pieces, i);
    struct lt_heap_piece *before = kept ? lt_list_item(pieces, kept - 1) : NULL;
    LT_CHECK(kept <= i && (!before || before->start <= piece.start));
    if (before && before->end > piece.start) {
      before->end = piece.start;
      before->hasTop = false;
    }
    if (before && before->takenEnd > (piece.start & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1)))
      before->takenEnd = piece.start & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1);
    if (piece.start < piece.end || piece.takenEnd > piece.end)
      *(struct lt_heap_piece *)lt_list_item(pieces, kept++) = piece;
  }
  pieces->count = kept;
}
