// Reads the memory of a process whose allocator's metadata is examined.

#include "allocator_metadata/allocator_memory.h"

#include "check.h"

const struct lt_snapshot_region *lt_allocator_memory_region(const struct lt_allocator_memory *metadata,
                                                            uint64_t address) {
  uint32_t low = 0, high = metadata->regionCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (metadata->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  LT_CHECK(low == 0 || metadata->regions[low - 1].end <= address);
  return low < metadata->regionCount && metadata->regions[low].start <= address ? &metadata->regions[low] : NULL;
}

size_t lt_allocator_memory_read(const struct lt_allocator_memory *metadata, uint64_t address, void *to, size_t size) {
  if (address < LT_ALLOCATOR_PAGE || address >= LT_ALLOCATOR_ADDRESS_LIMIT) return 0;
  if (size > LT_ALLOCATOR_ADDRESS_LIMIT - address) size = (size_t)(LT_ALLOCATOR_ADDRESS_LIMIT - address);
  if (metadata->readOn) return metadata->readOn(metadata, address, to, size);
  size_t done = 0;
  while (done < size) {
    size_t piece = LT_ALLOCATOR_PAGE - (size_t)((address + done) & (LT_ALLOCATOR_PAGE - 1));
    if (piece > size - done) piece = size - done;
    LT_CHECK(piece > 0 && piece <= LT_ALLOCATOR_PAGE);
    if (!lt_read_bytes(metadata->memory, address + done, (uint8_t *)to + done, piece)) break;
    done += piece;
  }
  return done;
}

bool lt_allocator_memory_next_present(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end,
                                      struct lt_address_range *run) {
  if (start >= end) return false;
  *run = (struct lt_address_range){start, end};
  if (!metadata->nextPresent) return true;
  if (!metadata->nextPresent(metadata, start, end, run)) return false;
  if (run->start < start) run->start = start;
  if (run->end > end) run->end = end;
  return run->start < run->end;
}
