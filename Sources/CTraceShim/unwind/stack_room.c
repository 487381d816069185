// Memory for the record of a thread's last stack: one mapping that holds all arrays.

#include "unwind/stack_room.h"

#include "check.h"
#include "unwind/stack_change.h"

enum {
  PAGE = 4096,
  /// arrays that are used together begin in different parts of a page, so that they do not compete for the same cache
  /// lines
  PART = 512,
  FIRST_FRAMES = 512, ///< 100 kB; deeper stacks are rare
  GROWTH = 8,
};

/// Places an array after the earlier ones, in the given part of a page.
static size_t place(size_t *used, size_t size, unsigned part) {
  size_t start = (*used + PAGE - 1) / PAGE * PAGE + part * PART;
  *used = start + size;
  return start;
}

static bool take(struct lt_thread *t, uint32_t frames) {
  size_t used = 0;
  size_t entries = place(&used, (frames + 1ul) * sizeof *t->entries, 0),
         addresses = place(&used, frames * sizeof *t->addresses, 3);
  size_t wordAddresses = place(&used, 2ul * frames * sizeof *t->words.addresses, 1),
         wordValues = place(&used, 2ul * frames * sizeof *t->words.values, 2);
  size_t pairAddresses = place(&used, frames * sizeof *t->pairs.addresses, 4),
         pairValues = place(&used, frames * sizeof *t->pairs.values, 5);
  size_t fresh = place(&used, frames * sizeof *t->fresh, 7),
         pushed = place(&used, (frames + LT_ASYNC_LIMIT + 1ul) * sizeof *t->pushed, 6);
  uint8_t *memory = lt_map_private(used);
  if (!memory) return false;
  LT_CHECK(frames > 0 && fresh + frames * sizeof *t->fresh <= used);
  LT_CHECK(pushed + (frames + LT_ASYNC_LIMIT + 1ul) * sizeof *t->pushed == used);
  t->room = memory;
  t->roomSize = used;
  t->entries = (struct lt_frame_entry *)(memory + entries);
  // An extra entry precedes the first.
  *t->entries++ = (struct lt_frame_entry){.state.returnSlot = UINTPTR_MAX};
  t->addresses = (uint64_t *)(memory + addresses);
  t->words = (struct lt_stack_words){(const uint64_t **)(memory + wordAddresses), (uint64_t *)(memory + wordValues)};
  t->pairs = (struct lt_stack_pairs){(const lt_two_words_anywhere **)(memory + pairAddresses),
                                     (lt_two_words *)(memory + pairValues)};
  t->fresh = (struct lt_fresh_frame *)(memory + fresh);
  t->pushed = (uint64_t *)(memory + pushed);
  t->entryLimit = frames;
  t->freshLimit = frames < LT_EVENT_PUSH_LIMIT ? frames : LT_EVENT_PUSH_LIMIT;
  t->depth = 0;
  LT_CHECK(lt_stack_room_is_valid(t));
  return true;
}

bool lt_stack_room_make(struct lt_thread *t, uint32_t limit) {
  LT_CHECK(limit > 0 && !t->room);
  t->mayGrow = limit > FIRST_FRAMES;
  return take(t, t->mayGrow ? FIRST_FRAMES : limit);
}

bool lt_stack_room_grow(struct lt_thread *t, uint32_t limit) {
  if (!t->mayGrow) return false;
  LT_CHECK(lt_stack_room_is_valid(t) && t->entryLimit < limit);
  uint8_t *room = t->room;
  size_t size = t->roomSize;
  uint32_t frames = t->entryLimit <= limit / GROWTH ? t->entryLimit * GROWTH : limit;
  LT_CHECK(frames > t->entryLimit && frames <= limit);
  if (!take(t, frames)) {
    t->mayGrow = false;
    return false;
  }
  t->mayGrow = frames < limit;
  lt_unmap(room, size);
  return true;
}
