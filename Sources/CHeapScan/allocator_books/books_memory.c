// Reads the memory of a process whose allocator's metadata is examined.

#include "allocator_books/books_memory.h"

#include "check.h"

const struct lt_snapshot_region *lt_books_region(const struct lt_books_memory *books, uint64_t address) {
  uint32_t low = 0, high = books->regionCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (books->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  LT_CHECK(low == 0 || books->regions[low - 1].end <= address);
  return low < books->regionCount && books->regions[low].start <= address ? &books->regions[low] : NULL;
}

size_t lt_books_read(const struct lt_books_memory *books, uint64_t address, void *to, size_t size) {
  if (address < LT_BOOKS_PAGE || address >= LT_BOOKS_ADDRESS_LIMIT) return 0;
  if (size > LT_BOOKS_ADDRESS_LIMIT - address) size = (size_t)(LT_BOOKS_ADDRESS_LIMIT - address);
  if (books->readOn) return books->readOn(books, address, to, size);
  size_t done = 0;
  while (done < size) {
    size_t piece = LT_BOOKS_PAGE - (size_t)((address + done) & (LT_BOOKS_PAGE - 1));
    if (piece > size - done) piece = size - done;
    LT_CHECK(piece > 0 && piece <= LT_BOOKS_PAGE);
    if (!lt_read_bytes(books->memory, address + done, (uint8_t *)to + done, piece)) break;
    done += piece;
  }
  return done;
}

bool lt_books_next_present(const struct lt_books_memory *books, uint64_t start, uint64_t end,
                           struct lt_address_range *run) {
  if (start >= end) return false;
  *run = (struct lt_address_range){start, end};
  if (!books->nextPresent) return true;
  if (!books->nextPresent(books, start, end, run)) return false;
  if (run->start < start) run->start = start;
  if (run->end > end) run->end = end;
  return run->start < run->end;
}
