// Computes an allocator's figures and encodes them for a trace.

#include "allocator_metadata/allocator_figures.h"

#include "check.h"

/// Inserts an arena's pin, in order of the free memory below it. If there are too many pins, drops the pin with the
/// least free memory below it.
static void add_pin(struct lt_allocator_figures *f, const struct lt_glibc_arena *arena) {
  if (arena->pinUse != LT_GLIBC_BLOCK || !arena->freeBytes) return;
  uint32_t place = f->pinCount;
  while (place > 0 && f->pins[place - 1].freeBelow < arena->freeBytes) place--;
  if (place == LT_ALLOCATOR_PINS) return;
  LT_CHECK(f->pinCount <= LT_ALLOCATOR_PINS && place <= f->pinCount);
  if (f->pinCount < LT_ALLOCATOR_PINS) f->pinCount++;
  for (uint32_t i = f->pinCount - 1; i > place; i--) f->pins[i] = f->pins[i - 1];
  f->pins[place] = (struct lt_allocator_pin){
      .freeBelow = arena->freeBytes, .freeAbove = arena->topBytes, .address = arena->pin, .bytes = arena->pinBytes};
}

struct lt_allocator_figures lt_glibc_heap_figures(const struct lt_glibc_heap *heap) {
  struct lt_allocator_figures f = {.kind = heap->blocks ? LT_ALLOCATOR_GLIBC : 0};
  uint64_t *figures = f.figures;
  for (size_t i = 0; i < heap->arenas.count; i++) {
    const struct lt_glibc_arena *arena = lt_glibc_heap_arena(heap, i);
    uint64_t cached = arena->cachedBytes + arena->fastBytes;
    figures[LT_ALLOCATOR_IN_USE] += arena->inUseBytes;
    figures[LT_ALLOCATOR_FREE] += arena->freeBytes;
    figures[LT_ALLOCATOR_CACHED] += cached;
    figures[LT_ALLOCATOR_TOP] += arena->topBytes;
    figures[LT_ALLOCATOR_FREE_PAGES] += arena->freePageBytes;
    figures[LT_ALLOCATOR_SYSTEM] += arena->systemBytes;
    if (arena->address != arena->main)
      figures[LT_ALLOCATOR_OTHER_ARENAS] += arena->freeBytes + arena->topBytes + cached;
    add_pin(&f, arena);
  }
  figures[LT_ALLOCATOR_IN_USE] += heap->mappedBytes;
  figures[LT_ALLOCATOR_MAPPED] = heap->mappedBytes;
  figures[LT_ALLOCATOR_ARENAS] = heap->arenas.count;
  if (heap->parameters.address) figures[LT_ALLOCATOR_ARENA_LIMIT] = heap->parameters.arenaMax + 1;
  return f;
}

struct lt_allocator_figures lt_jemalloc_heap_figures(const struct lt_jemalloc_heap *heap) {
  struct lt_allocator_figures f = {.kind = heap->blocks ? LT_ALLOCATOR_JEMALLOC : 0};
  uint64_t *figures = f.figures, freePages = heap->dirtyBytes + heap->muzzyBytes;
  figures[LT_ALLOCATOR_IN_USE] = heap->blockBytes;
  figures[LT_ALLOCATOR_FREE] = heap->slabFreeBytes + freePages;
  figures[LT_ALLOCATOR_CACHED] = heap->cachedBytes;
  figures[LT_ALLOCATOR_FREE_PAGES] = freePages;
  figures[LT_ALLOCATOR_SYSTEM] = heap->blockBytes + figures[LT_ALLOCATOR_FREE] + heap->cachedBytes;
  return f;
}

struct lt_allocator_figures lt_mimalloc_heap_figures(const struct lt_mimalloc_heap *heap) {
  struct lt_allocator_figures f = {.kind = heap->blocks ? LT_ALLOCATOR_MIMALLOC : 0};
  uint64_t *figures = f.figures;
  figures[LT_ALLOCATOR_IN_USE] = heap->blockBytes;
  figures[LT_ALLOCATOR_FREE] = heap->freeBytes + heap->freeSpanBytes;
  figures[LT_ALLOCATOR_CACHED] = heap->cachedBytes;
  figures[LT_ALLOCATOR_SYSTEM] = heap->blockBytes + figures[LT_ALLOCATOR_FREE] + heap->cachedBytes + heap->unusedBytes;
  return f;
}

struct lt_allocator_figures lt_tcmalloc_heap_figures(const struct lt_tcmalloc_heap *heap) {
  struct lt_allocator_figures f = {.kind = heap->blocks ? LT_ALLOCATOR_TCMALLOC : 0};
  uint64_t *figures = f.figures;
  figures[LT_ALLOCATOR_IN_USE] = heap->blockBytes;
  figures[LT_ALLOCATOR_FREE] = heap->spanFreeBytes + heap->freeBytes;
  figures[LT_ALLOCATOR_CACHED] = heap->cachedBytes;
  figures[LT_ALLOCATOR_FREE_PAGES] = heap->freeBytes;
  figures[LT_ALLOCATOR_SYSTEM] = heap->spanBytes - heap->retainedBytes;
  return f;
}

size_t lt_allocator_figures_put(const struct lt_allocator_figures *f, uint64_t time, uint8_t *to) {
  uint8_t *p = lt_put_varint(to, time);
  p = lt_put_varint(p, f->kind);
  p = lt_put_varint(p, LT_ALLOCATOR_FIGURES);
  for (int i = 0; i < LT_ALLOCATOR_FIGURES; i++) p = lt_put_varint(p, f->figures[i]);
  p = lt_put_varint(p, f->pinCount);
  for (uint32_t i = 0; i < f->pinCount; i++) {
    const struct lt_allocator_pin *pin = &f->pins[i];
    p = lt_put_varint(lt_put_varint(p, pin->freeBelow), pin->freeAbove);
    p = lt_put_varint(lt_put_varint(p, pin->address), pin->bytes);
  }
  LT_CHECK(p - to <= LT_ALLOCATOR_PAYLOAD);
  return (size_t)(p - to);
}
