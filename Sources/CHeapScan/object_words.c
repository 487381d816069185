// Recognises objects, side tables and task slabs by their words, and finds the words of an object that are counts.

#include "object_words.h"

#include "check.h"
#include "object_layout.h"
#include "storage_kind.h"

enum { SCALE_LIMIT = 37 };

bool lt_is_reference_count(uint64_t word) {
  enum { COUNT_BITS = 24 };
  if (lt_counts_are_immortal(word))
    return (word >> 32 & 0x7FFFFFFF) == 0 || word >> 32 == 0x7FFFFFFF || word >> 32 == UINT32_MAX;
  if (lt_counts_are_in_side_table(word)) return true;
  uint64_t unowned = lt_unowned_count(word), strong = lt_strong_extra_count(word);
  return (word & 1) && word >> 63 == 0 && unowned != 0 && unowned >> COUNT_BITS == 0 && strong >> COUNT_BITS == 0;
}

unsigned lt_object_ranges(const struct lt_memory *memory, struct lt_address_index *index, uint64_t end,
                          uint64_t address, uint32_t storage, uint64_t count,
                          struct lt_verbatim_range ranges[LT_OBJECT_RANGES], unsigned *aside) {
  unsigned n = 0;
  *aside = 0;
  LT_CHECK(address < end && storage <= LT_STORAGE_LAST);
  // The references of a task in another task's frames are counted, although the count is immortal.
  bool isInnerTask = storage == LT_STORAGE_TASK && lt_counts_are_immortal(count);
  if (!isInnerTask && !lt_is_reference_count(count)) return 0;
  if (!lt_counts_are_immortal(count) && lt_counts_are_in_side_table(count)) {
    uint64_t table = lt_side_table_of(count);
    if (!lt_address_index_has(index, table) || !lt_address_index_has(index, table + SWIFT_SIDE_TABLE_SIZE - 1) ||
        lt_word_at(memory, table) != address)
      return 0;
    ranges[n++] = (struct lt_verbatim_range){table, 1, 8};
    ranges[n++] = (struct lt_verbatim_range){table + SWIFT_SIDE_TABLE_COUNTS, 1, 8};
    ranges[n++] = (struct lt_verbatim_range){table + SWIFT_SIDE_TABLE_WEAK_COUNT, 1, 4};
    *aside = n;
  }
  ranges[n++] = (struct lt_verbatim_range){address + SWIFT_OBJECT_COUNTS, 1, 8};
  if (storage == LT_STORAGE_ARRAY && address + SWIFT_ARRAY_ELEMENTS <= end) {
    uint64_t elements = lt_word_at(memory, address + SWIFT_ARRAY_COUNT),
             capacity = lt_word_at(memory, address + SWIFT_ARRAY_CAPACITY) >> 1;
    if (elements <= capacity && elements >> LT_SCANNED_ADDRESS_BITS == 0)
      ranges[n++] = (struct lt_verbatim_range){address + SWIFT_ARRAY_COUNT, 1, 8};
  } else if (storage == LT_STORAGE_DEQUE) {
    if (address + SWIFT_DEQUE_ELEMENTS > end) return n;
    uint64_t capacity = lt_word_at(memory, address + SWIFT_DEQUE_CAPACITY),
             elements = lt_word_at(memory, address + SWIFT_DEQUE_COUNT),
             first = lt_word_at(memory, address + SWIFT_DEQUE_FIRST);
    if (elements <= capacity && first <= capacity && capacity >> LT_SCANNED_ADDRESS_BITS == 0)
      ranges[n++] = (struct lt_verbatim_range){address + SWIFT_DEQUE_CAPACITY, 3, 8};
  } else if (storage == LT_STORAGE_TASK) {
    // The upper half of the state's word is always 0 on Linux. A task of another layout has another word there.
    if (address + SWIFT_TASK_SIZE > end || lt_word_at(memory, address + SWIFT_TASK_STATUS) >> 16) return n;
    ranges[n++] = (struct lt_verbatim_range){address + SWIFT_TASK_FLAGS, 1, 8};
    ranges[n++] = (struct lt_verbatim_range){address + SWIFT_TASK_STATUS, 1, 8};
  } else if (storage != LT_STORAGE_NONE && address + SWIFT_DICTIONARY_BITMAP <= end) {
    uint64_t elements = lt_word_at(memory, address + SWIFT_TABLE_COUNT),
             capacity = lt_word_at(memory, address + SWIFT_TABLE_CAPACITY),
             scale = lt_word_at(memory, address + SWIFT_TABLE_SCALE) & 0xFF;
    if (scale <= SCALE_LIMIT && elements <= capacity && capacity <= 1ull << scale) {
      uint64_t bitmap = address + (storage == LT_STORAGE_DICTIONARY ? SWIFT_DICTIONARY_BITMAP : SWIFT_SET_BITMAP),
               words = scale <= 6 ? 1 : 1ull << (scale - 6);
      if (bitmap + 8 * words <= end) {
        ranges[n++] = (struct lt_verbatim_range){address + SWIFT_TABLE_COUNT, 2, 8};
        ranges[n++] = (struct lt_verbatim_range){address + SWIFT_TABLE_SCALE, 1, 1};
        ranges[n++] = (struct lt_verbatim_range){bitmap, (uint32_t)words, 8};
      }
    }
  }
  return n;
}

bool lt_is_freed_side_table(const uint64_t *table) {
  // Only the low half of the last word is a count. The high half holds stale contents.
  uint32_t weak = (uint32_t)table[SWIFT_SIDE_TABLE_WEAK_COUNT / 8];
  return table[0] != 0 && table[0] % 8 == 0 && table[SWIFT_SIDE_TABLE_COUNTS / 8] == LT_FREED_OBJECT_COUNTS &&
         weak != 0 && weak >> 31 == 0;
}

bool lt_is_task_slab(uint64_t address, const uint64_t *slab) {
  uint64_t counts = slab[SWIFT_SLAB_COUNTS / 8], first = slab[(SWIFT_SLAB_HEADER + SWIFT_SLAB_ALLOCATION_SLAB) / 8];
  uint32_t capacity = (uint32_t)counts, used = (uint32_t)(counts >> 32);
  return slab[0] != 0 && slab[0] % 8 == 0 && first == address && used <= capacity && used % 16 == 0 &&
         capacity >> 30 == 0;
}
