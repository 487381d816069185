// An index of the mappings of a process.

#include "address_index.h"

#include "check.h"

#include <string.h>

enum { BITMAP_SIZE = 1 << (LT_SCANNED_ADDRESS_BITS - LT_CELL_SHIFT - 3) };

/// Sets the bits [first, end).
static void set_bits(uint64_t *bits, uint64_t first, uint64_t end) {
  LT_CHECK(first <= end && end <= 8ull * BITMAP_SIZE);
  for (; first < end && (first & 63); first++) bits[first >> 6] |= 1ull << (first & 63);
  for (; first + 64 <= end; first += 64) bits[first >> 6] = ~0ull;
  for (; first < end; first++) bits[first >> 6] |= 1ull << (first & 63);
}

bool lt_address_index_build(struct lt_address_index *index, const struct lt_memory *memory,
                            const struct lt_snapshot_region *regions, uint32_t regionCount) {
  memset(index, 0, sizeof *index);
  index->some = memory->allocate(BITMAP_SIZE);
  index->all = memory->allocate(BITMAP_SIZE);
  index->runLimit = regionCount + 1;
  index->runs = memory->allocate(index->runLimit * sizeof *index->runs);
  if (!index->some || !index->all || !index->runs) return false;
  for (uint32_t i = 0; i < regionCount; i++) {
    uint64_t start = regions[i].start, end = regions[i].end;
    if (end >> LT_SCANNED_ADDRESS_BITS) continue; // the kernel's region
    LT_CHECK(start < end && (!index->runCount || index->runs[index->runCount - 1].end <= start));
    if (index->runCount && index->runs[index->runCount - 1].end == start) index->runs[index->runCount - 1].end = end;
    else index->runs[index->runCount++] = (struct lt_address_range){start, end};
    LT_CHECK(index->runCount < index->runLimit);
  }
  enum { CELL = 1 << LT_CELL_SHIFT };
  for (uint32_t i = 0; i < index->runCount; i++) {
    uint64_t start = index->runs[i].start, end = index->runs[i].end;
    set_bits(index->some, start >> LT_CELL_SHIFT, (end + CELL - 1) >> LT_CELL_SHIFT);
    uint64_t first = (start + CELL - 1) >> LT_CELL_SHIFT, last = end >> LT_CELL_SHIFT;
    if (first < last) set_bits(index->all, first, last);
  }
  return true;
}

void lt_address_index_free(struct lt_address_index *index, const struct lt_memory *memory) {
  if (index->some) memory->release(index->some, BITMAP_SIZE);
  if (index->all) memory->release(index->all, BITMAP_SIZE);
  if (index->runs) memory->release(index->runs, index->runLimit * sizeof *index->runs);
  memset(index, 0, sizeof *index);
}

LT_NOINLINE bool lt_address_index_search(struct lt_address_index *index, uint64_t address) {
  uint32_t low = 0, high = index->runCount;
  LT_CHECK(index->runCount < index->runLimit);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index->runs[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  if (low == index->runCount || address < index->runs[low].start) return false;
  LT_CHECK(address < index->runs[low].end);
  index->last = low;
  return true;
}
