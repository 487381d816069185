// A list that grows as items are appended, and is sorted in place by heapsort.

#include "allocator_metadata/growing_list.h"

#include "check.h"

#include <string.h>

enum { FIRST_LIMIT = 512 };

void lt_list_init(struct lt_growing_list *list, const struct lt_memory *memory, size_t itemSize) {
  LT_CHECK(itemSize > 0 && itemSize <= LT_LIST_ITEM_LIMIT && itemSize % 8 == 0);
  *list = (struct lt_growing_list){.memory = memory, .itemSize = itemSize};
}

void lt_list_free(struct lt_growing_list *list) {
  if (list->items) list->memory->release(list->items, list->limit * list->itemSize);
  list->items = NULL;
  list->count = list->limit = 0;
}

bool lt_list_append(struct lt_growing_list *list, const void *item) {
  LT_CHECK(list->count <= list->limit && item);
  if (list->count == list->limit) {
    size_t limit = list->limit ? 2 * list->limit : FIRST_LIMIT;
    uint8_t *items = list->memory->allocate(limit * list->itemSize);
    if (!items) {
      list->isShort = true;
      return false;
    }
    if (list->items) {
      memcpy(items, list->items, list->count * list->itemSize);
      list->memory->release(list->items, list->limit * list->itemSize);
    }
    list->items = items;
    list->limit = limit;
  }
  memcpy(lt_list_item(list, list->count++), item, list->itemSize);
  return true;
}

/// Moves an item down to its place in the binary heap of the first `count` items.
static void sink(struct lt_growing_list *list, size_t index, size_t count) {
  LT_CHECK(index < count && count <= list->count);
  uint64_t held[LT_LIST_ITEM_LIMIT / 8];
  memcpy(held, lt_list_item(list, index), list->itemSize);
  for (;;) {
    size_t child = 2 * index + 1;
    if (child >= count) break;
    if (child + 1 < count && lt_list_number(list, child) < lt_list_number(list, child + 1)) child++;
    if (lt_list_number(list, child) <= held[0]) break;
    memcpy(lt_list_item(list, index), lt_list_item(list, child), list->itemSize);
    index = child;
  }
  memcpy(lt_list_item(list, index), held, list->itemSize);
}

/// True if the items are in order of their numbers.
LT_INVARIANT bool is_in_order(const struct lt_growing_list *list) {
  for (size_t i = 1; i < list->count; i++)
    if (lt_list_number(list, i - 1) > lt_list_number(list, i)) return false;
  return true;
}

void lt_list_sort(struct lt_growing_list *list) {
  bool isSorted = true;
  for (size_t i = 1; i < list->count && isSorted; i++)
    isSorted = lt_list_number(list, i - 1) <= lt_list_number(list, i);
  if (isSorted) return;
  for (size_t i = list->count / 2; i-- > 0;) sink(list, i, list->count);
  for (size_t end = list->count; end-- > 1;) {
    uint64_t last[LT_LIST_ITEM_LIMIT / 8];
    memcpy(last, lt_list_item(list, end), list->itemSize);
    memcpy(lt_list_item(list, end), lt_list_item(list, 0), list->itemSize);
    memcpy(lt_list_item(list, 0), last, list->itemSize);
    sink(list, 0, end);
  }
  LT_CHECK(is_in_order(list));
}

size_t lt_list_place(const struct lt_growing_list *list, uint64_t number) {
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (lt_list_number(list, middle) < number) low = middle + 1;
    else high = middle;
  }
  LT_CHECK(low == list->count || lt_list_number(list, low) >= number);
  LT_CHECK(low == 0 || lt_list_number(list, low - 1) < number);
  return low;
}
