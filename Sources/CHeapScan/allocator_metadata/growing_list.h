// A list that grows as items are appended.

#ifndef LEAKTRACE_GROWING_LIST_H
#define LEAKTRACE_GROWING_LIST_H

#include "check.h"
#include "scanned_memory.h"

/// An array of items of one size. Each item begins with a 64-bit number, the key for sorting.
struct lt_growing_list {
  const struct lt_memory *memory;
  uint8_t *items;
  size_t itemSize, count, limit; ///< `count` is at most `limit`
  bool isShort;                  ///< an item was left out because there was no memory
};

/// The largest item size.
enum { LT_LIST_ITEM_LIMIT = 160 };

/// - `itemSize`: at most LT_LIST_ITEM_LIMIT, and a multiple of 8.
void lt_list_init(struct lt_growing_list *list, const struct lt_memory *memory, size_t itemSize);
void lt_list_free(struct lt_growing_list *list);
/// Copies an item to the end of the list. Returns false if there is no memory.
bool lt_list_append(struct lt_growing_list *list, const void *item);
/// Sorts the items by their numbers. O(n log n).
void lt_list_sort(struct lt_growing_list *list);
/// Returns the index of the first item whose number is at least `number`, in a sorted list. O(log n).
size_t lt_list_place(const struct lt_growing_list *list, uint64_t number);

static inline void *lt_list_item(const struct lt_growing_list *list, size_t index) {
  LT_CHECK(index < list->limit);
  return list->items + index * list->itemSize;
}
static inline uint64_t lt_list_number(const struct lt_growing_list *list, size_t index) {
  return *(const uint64_t *)lt_list_item(list, index);
}
/// True if a sorted list has an item with this number.
static inline bool lt_list_has(const struct lt_growing_list *list, uint64_t number) {
  size_t place = lt_list_place(list, number);
  return place < list->count && lt_list_number(list, place) == number;
}

#endif
