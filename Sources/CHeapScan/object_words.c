// Recognises objects, side tables and task slabs by their words, and finds the words of an object that are counts.

#include "object_words.h"

#include "check.h"
#include "storage_kind.h"

enum { SCALE_LIMIT = 37 };
#define SIDE_TABLE_MARK (3ull << 62)

bool lt_is_reference_count(uint64_t word) {
  enum { COUNT_BITS = 24 };
  if ((uint32_t)word == UINT32_MAX)
    return (word >> 32 & 0x7FFFFFFF) == 0 || word >> 32 == 0x7FFFFFFF || word >> 32 == UINT32_MAX;
  if ((word & SIDE_TABLE_MARK) == SIDE_TABLE_MARK) return true;
  uint64_t unowned = word >> 1 & 0x7FFFFFFF, strong = word >> 33 & 0x3FFFFFFF;
  return (word & 1) && word >> 63 == 0 && unowned != 0 && unowned >> COUNT_BITS == 0 && strong >> COUNT_BITS == 0;
}

unsigned lt_object_ranges(const struct lt_memory *memory, struct lt_address_index *index, uint64_t end,
                          uint64_t address, uint32_t storage, uint64_t count,
                          struct lt_exact_range ranges[LT_OBJECT_RANGES], unsigned *aside) {
  unsigned n = 0;
  *aside = 0;
  LT_CHECK(address < end && storage <= LT_STORAGE_DEQUE);
  if (!lt_is_reference_count(count)) return 0;
  if ((uint32_t)count != UINT32_MAX && (count & SIDE_TABLE_MARK) == SIDE_TABLE_MARK) {
    // Offset 0 holds the object's address, 16 its counts, and 24 the number of weak references in 4 bytes.
    uint64_t table = (count & ~SIDE_TABLE_MARK) << 3;
    if (!lt_address_index_has(index, table) || !lt_address_index_has(index, table + 31) ||
        lt_word_at(memory, table) != address)
      return 0;
    ranges[n++] = (struct lt_exact_range){table, 1, 8};
    ranges[n++] = (struct lt_exact_range){table + 16, 1, 8};
    ranges[n++] = (struct lt_exact_range){table + 24, 1, 4};
    *aside = n;
  }
  ranges[n++] = (struct lt_exact_range){address + 8, 1, 8};
  if (storage == LT_STORAGE_ARRAY && address + 32 <= end) {
    // Offset 16 holds the count, and 24 twice the capacity plus a flag.
    uint64_t elements = lt_word_at(memory, address + 16), capacity = lt_word_at(memory, address + 24) >> 1;
    if (elements <= capacity && elements >> LT_SCANNED_ADDRESS_BITS == 0)
      ranges[n++] = (struct lt_exact_range){address + 16, 1, 8};
  } else if (storage == LT_STORAGE_DEQUE) {
    // From offset 16 on: the capacity, the count and the index of the first slot.
    if (address + 40 > end) return n;
    uint64_t capacity = lt_word_at(memory, address + 16), elements = lt_word_at(memory, address + 24),
             first = lt_word_at(memory, address + 32);
    if (elements <= capacity && first <= capacity && capacity >> LT_SCANNED_ADDRESS_BITS == 0)
      ranges[n++] = (struct lt_exact_range){address + 16, 3, 8};
  } else if (storage != LT_STORAGE_NONE && address + 64 <= end) {
    // From offset 16 on: count, capacity, scale, seed, address of the keys, and in a dictionary the address of the
    // values. A bit for each of 2^scale buckets follows.
    uint64_t elements = lt_word_at(memory, address + 16), capacity = lt_word_at(memory, address + 24),
             scale = lt_word_at(memory, address + 32) & 0xFF;
    if (scale <= SCALE_LIMIT && elements <= capacity && capacity <= 1ull << scale) {
      uint64_t bitmap = address + (storage == LT_STORAGE_DICTIONARY ? 64 : 56),
               words = scale <= 6 ? 1 : 1ull << (scale - 6);
      if (bitmap + 8 * words <= end) {
        ranges[n++] = (struct lt_exact_range){address + 16, 2, 8};
        ranges[n++] = (struct lt_exact_range){address + 32, 1, 1};
        ranges[n++] = (struct lt_exact_range){bitmap, (uint32_t)words, 8};
      }
    }
  }
  return n;
}

bool lt_is_freed_side_table(const uint64_t *table) {
  // Only the low half of the last word is a count. The high half holds stale contents.
  uint32_t weak = (uint32_t)table[3];
  return table[0] != 0 && table[0] % 8 == 0 && table[2] == LT_FREED_OBJECT_COUNTS && weak != 0 && weak >> 31 == 0;
}

bool lt_is_task_slab(uint64_t address, const uint64_t *slab) {
  uint32_t capacity = (uint32_t)slab[2], used = (uint32_t)(slab[2] >> 32);
  return slab[0] != 0 && slab[0] % 8 == 0 && slab[5] == address && used <= capacity && used % 16 == 0 &&
         capacity >> 30 == 0;
}
