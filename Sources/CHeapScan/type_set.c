// A hash table of the types of objects.

#include "type_set.h"

#include "check.h"

#include <string.h>

static uint64_t place_of(const struct lt_type_set *set, uint64_t metadata) {
  return ((metadata * LT_HASH_MULTIPLIER) >> 32) & (set->placeCount - 1);
}

bool lt_type_set_build(struct lt_type_set *set, const struct lt_memory *memory, const struct lt_scanned_type *types,
                       uint32_t count) {
  memset(set, 0, sizeof *set);
  set->placeCount = 64;
  while (set->placeCount < 2ull * count + LT_ADDED_TYPES) set->placeCount *= 2;
  LT_CHECK((set->placeCount & (set->placeCount - 1)) == 0 && set->placeCount > count);
  set->places = memory->allocate(set->placeCount * sizeof *set->places);
  if (!set->places) return false;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t metadata = types[i].metadata, place = place_of(set, metadata);
    if (metadata == 0) continue;
    LT_CHECK(place < set->placeCount && types[i].storage <= LT_STORAGE_LAST);
    while (set->places[place].metadata && set->places[place].metadata != metadata)
      place = (place + 1) & (set->placeCount - 1);
    set->places[place] = (struct lt_known_type){.metadata = metadata,
                                                .storage = types[i].storage,
                                                .cases = lt_enum_tags_of(memory, metadata, types[i].storage)};
    uint32_t index = lt_type_filter_index(metadata);
    set->filter[index >> 6] |= 1ull << (index & 63);
  }
  return true;
}

void lt_type_set_add(struct lt_type_set *set, uint64_t metadata, uint32_t storage) {
  uint64_t place = place_of(set, metadata);
  LT_CHECK(set->places && metadata && storage <= LT_STORAGE_LAST);
  while (set->places[place].metadata && set->places[place].metadata != metadata)
    place = (place + 1) & (set->placeCount - 1);
  if (set->places[place].metadata) {
    set->places[place].storage = storage;
    return;
  }
  if (set->added == LT_ADDED_TYPES) return;
  set->places[place] = (struct lt_known_type){.metadata = metadata, .storage = storage};
  set->added++;
  uint32_t index = lt_type_filter_index(metadata);
  set->filter[index >> 6] |= 1ull << (index & 63);
}

void lt_type_set_free(struct lt_type_set *set, const struct lt_memory *memory) {
  if (set->places) memory->release(set->places, set->placeCount * sizeof *set->places);
  memset(set, 0, sizeof *set);
}

const struct lt_known_type *lt_type_set_find(const struct lt_type_set *set, uint64_t metadata) {
  if (!metadata || !set->places) return NULL;
  LT_CHECK((set->placeCount & (set->placeCount - 1)) == 0);
  for (uint64_t place = place_of(set, metadata); set->places[place].metadata;
       place = (place + 1) & (set->placeCount - 1))
    if (set->places[place].metadata == metadata) return &set->places[place];
  return NULL;
}
