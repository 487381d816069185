// Lists whose length is not known beforehand.

#ifndef LEAKTRACE_GROWING_LIST_H
#define LEAKTRACE_GROWING_LIST_H

#include "check.h"
#include "scanned_memory.h"

/// Adjacent items of one size. Each begins with a number that determines its order.
struct lt_growing_list {
  const struct lt_memory *memory;
  uint8_t *items;
  size_t itemSize, count, limit; ///< a multiple of 8, at most LT_LIST_ITEM_LIMIT; `count` is at most `limit`
  bool isShort;                  ///< an item was left out for lack of memory
};

enum { LT_LIST_ITEM_LIMIT = 160 };

/// - `itemSize`: LT_LIST_ITEM_LIMIT at most, and a multiple of 8.
void lt_list_init(struct lt_growing_list *list, const struct lt_memory *memory, size_t itemSize);
void lt_list_free(struct lt_growing_list *list);
/// Copies an item to the end. False without memory.
bool lt_list_append(struct lt_growing_list *list, const void *item);
/// Sorts the items by their first numbers. n log n.
void lt_list_sort(struct lt_growing_list *list);
/// The index of the first item whose number is at least `number`, in a sorted list. Logarithmic.
size_t lt_list_place(const struct lt_growing_list *list, uint64_t number);

static inline void *lt_list_item(const struct lt_growing_list *list, size_t index) {
  LT_CHECK(index < list->limit);
  return list->items + index * list->itemSize;
}
static inline uint64_t lt_list_number(const struct lt_growing_list *list, size_t index) {
  return *(const uint64_t *)lt_list_item(list, index);
}
/// True if a sorted list has an item with a number.
static inline bool lt_list_has(const struct lt_growing_list *list, uint64_t number) {
  size_t place = lt_list_place(list, number);
  return place < list->count && lt_list_number(list, place) == number;
}

#endif
