// Finds the data of images, and reads its words.

#include "allocator_metadata/image_data.h"

static bool is_data(const struct lt_snapshot_region *region) {
  return (region->flags & LT_REGION_WRITABLE) && (region->flags & LT_REGION_CAPTURED);
}

bool lt_image_data_next(const struct lt_allocator_memory *metadata, uint32_t *region, struct lt_address_range *data) {
  const struct lt_snapshot_region *end = metadata->regions + metadata->regionCount, *at = metadata->regions + *region;
  while (at < end && !(at->kind == LT_REGION_FILE && is_data(at))) at++;
  bool isFound = at < end;
  if (isFound) *data = (struct lt_address_range){at->start, at->end};
  // Data without initial values (.bss) is mapped right after an image's initialised data.
  for (at += isFound; isFound && at < end && at->start == data->end && is_data(at); at++) {
    if (at->kind != LT_REGION_FILE && at->kind != LT_REGION_ANONYMOUS && at->kind != LT_REGION_BREAK) break;
    data->end = at->end;
  }
  *region = (uint32_t)(at - metadata->regions);
  return isFound;
}

void lt_image_data_each(const struct lt_allocator_memory *metadata, struct lt_word_window *window,
                        bool (*visit)(void *context, uint64_t address, uint64_t word), void *context) {
  struct lt_address_range data;
  uint32_t region = 0;
  while (lt_image_data_next(metadata, &region, &data) &&
         lt_window_each_word(window, data.start, data.end, visit, context)) {}
}
