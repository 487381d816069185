// The places whose words are copied to a heap image unchanged. Calls no allocator.

#include "verbatim_words.h"

#include "check.h"

#include <string.h>

bool lt_verbatim_words_init(struct lt_verbatim_words *words, const struct lt_memory *memory, uint64_t limit) {
  LT_CHECK(limit > 0);
  *words = (struct lt_verbatim_words){
      .memory = memory, .ranges = memory->allocate(limit * sizeof *words->ranges), .limit = limit};
  return words->ranges != NULL;
}

void lt_verbatim_words_free(struct lt_verbatim_words *words) {
  if (words->ranges) words->memory->release(words->ranges, words->limit * sizeof *words->ranges);
  memset(words, 0, sizeof *words);
}

/// Sorts with a bottom-up merge sort, which has no slow case. Returns false if there is no memory.
static bool sort(struct lt_verbatim_words *words) {
  uint64_t count = words->count;
  bool isSorted = true;
  for (uint64_t i = 1; i < count && isSorted; i++) isSorted = words->ranges[i - 1].address <= words->ranges[i].address;
  if (isSorted) return true;
  struct lt_verbatim_range *from = words->ranges, *to = words->memory->allocate(count * sizeof *to), *scratch = to;
  if (!to) return false;
  for (uint64_t width = 1; width < count; width *= 2) {
    for (uint64_t start = 0; start < count; start += 2 * width) {
      uint64_t a = start, middle = start + width < count ? start + width : count, b = middle;
      uint64_t end = start + 2 * width < count ? start + 2 * width : count;
      for (uint64_t k = start; k < end; k++) {
        bool takesFirst = a < middle && (b >= end || from[a].address <= from[b].address);
        to[k] = takesFirst ? from[a++] : from[b++];
      }
    }
    struct lt_verbatim_range *swap = from;
    from = to;
    to = swap;
  }
  if (from != words->ranges) memcpy(words->ranges, from, count * sizeof *from);
  words->memory->release(scratch, count * sizeof *scratch);
  return true;
}

/// True if the ranges are in order of address.
LT_INVARIANT bool are_in_order(const struct lt_verbatim_words *words) {
  for (uint64_t i = 1; i < words->count; i++)
    if (words->ranges[i - 1].address > words->ranges[i].address) return false;
  return true;
}

bool lt_verbatim_words_sort(struct lt_verbatim_words *words) {
  if (!sort(words)) return false;
  struct lt_verbatim_range *ranges = words->ranges;
  LT_CHECK(are_in_order(words));
  uint64_t kept = 0, whole = UINT64_MAX; // `whole`: the last range whose words are kept whole
  for (uint64_t i = 0; i < words->count; i++) {
    struct lt_verbatim_range r = ranges[i];
    if (r.keptBytes == 8 && whole != UINT64_MAX) {
      struct lt_verbatim_range *last = &ranges[whole];
      LT_CHECK(last->keptBytes == 8 && last->address <= r.address);
      uint64_t distance = (r.address - last->address) / 8;
      if (distance <= last->count && distance + r.count <= UINT32_MAX) {
        if (distance + r.count > last->count) last->count = (uint32_t)(distance + r.count);
        continue;
      }
    }
    if (r.keptBytes == 8) whole = kept;
    ranges[kept++] = r;
  }
  LT_CHECK(kept <= words->count);
  words->count = kept;
  LT_CHECK(are_in_order(words));
  return true;
}
