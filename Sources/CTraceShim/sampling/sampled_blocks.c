#include "sampling/sampled_blocks.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <string.h>

enum {
  GROUP_SIZE = 16, ///< possible places of a block: two cache lines
  GROUP_BITS = 12,
  RESERVED = 1, ///< a place that is being filled
  MARK_LIMIT = 255,
  /// A mark without a block, so that every free is checked. Adding a block to it makes it MARK_LIMIT.
  MARK_HELD = MARK_LIMIT - 1,
};
/// All groups hold 65,536 blocks. With a sample in 512 KiB, a heap of 16 GiB uses half of them.
struct group {
  _Atomic uintptr_t keys[GROUP_SIZE]; ///< 0 where there is no block. A block is in one place at most, and has a mark
  struct lt_sampled_block blocks[GROUP_SIZE];
};

static _Atomic uint8_t alwaysMarked = 1;
LT_HOOK_DATA struct lt_sampled_marks lt_sampled_marks = {&alwaysMarked, 0};
static _Atomic uint8_t *marks;
static struct group *groups;

bool lt_sampled_blocks_begin(void) {
  if (!groups) groups = lt_map_private(sizeof *groups << GROUP_BITS);
  if (!marks) marks = lt_map_private(LT_SAMPLED_MARK_COUNT);
  return groups && marks;
}

// --- marks -----------------------------------------------------------------------------------------------------------

static _Atomic uint8_t *mark_of(uintptr_t address) {
  LT_CHECK(marks != NULL);
  return &marks[address >> 4 & (LT_SAMPLED_MARK_COUNT - 1)];
}

void lt_sampled_marks_use(void) {
  LT_CHECK(marks != NULL);
  // Other threads may be freeing: the old mask is valid with both tables.
  lt_sampled_marks.counts = marks;
  atomic_thread_fence(memory_order_seq_cst);
  lt_sampled_marks.mask = LT_SAMPLED_MARK_COUNT - 1;
}

void lt_sampled_marks_hold(void) {
  LT_CHECK(marks && lt_sampled_marks.counts != marks);
  memset((void *)marks, MARK_HELD, LT_SAMPLED_MARK_COUNT);
}

void lt_sampled_marks_release(void) {
  LT_CHECK(marks != NULL);
  // In place: a thread in the middle of a free has the address of its mark.
  for (uint32_t i = 0; i < LT_SAMPLED_MARK_COUNT; i++) {
    uint8_t held = MARK_HELD;
    atomic_compare_exchange_strong(&marks[i], &held, 0);
  }
}

void lt_sampled_marks_add(uintptr_t address) {
  if (!marks) return;
  _Atomic uint8_t *mark = mark_of(address);
  uint8_t count = atomic_load(mark);
  while (count != MARK_LIMIT && !atomic_compare_exchange_weak(mark, &count, count + 1)) {}
}

static void remove_mark(uintptr_t address) {
  _Atomic uint8_t *mark = mark_of(address);
  uint8_t count = atomic_load(mark);
  LT_CHECK(count > 0);
  while (count != MARK_LIMIT && count && !atomic_compare_exchange_weak(mark, &count, count - 1)) {}
}

// --- blocks ----------------------------------------------------------------------------------------------------------

static struct group *group_of(uintptr_t address) {
  return &groups[((address >> 4) * LT_HASH_MULTIPLIER) >> (64 - GROUP_BITS)];
}

/// An address in a form that does not look like a pointer. A reader that scans the process from outside would otherwise
/// believe that the table refers to the block.
static uintptr_t key_of(uintptr_t address) { return ~address; }

/// The place of a block in its group; GROUP_SIZE if it is not there.
static int place_of(const struct group *group, uintptr_t address) {
  uintptr_t key = key_of(address);
  int place = 0;
  while (place < GROUP_SIZE && atomic_load_explicit(&group->keys[place], memory_order_acquire) != key) place++;
  return place;
}

bool lt_sampled_blocks_remove(uintptr_t address, struct lt_sampled_block *block) {
  struct group *group = group_of(address);
  int place = groups ? place_of(group, address) : GROUP_SIZE;
  if (place == GROUP_SIZE) return false;
  *block = group->blocks[place];
  // A program that frees a block twice at once is at fault; the free is counted once.
  uintptr_t key = key_of(address);
  if (!atomic_compare_exchange_strong(&group->keys[place], &key, 0)) return false;
  remove_mark(address);
  return true;
}

bool lt_sampled_blocks_add(uintptr_t address, const struct lt_sampled_block *block) {
  struct group *group = group_of(address);
  LT_CHECK(groups && key_of(address) > RESERVED);
  LT_CHECK(place_of(group, address) == GROUP_SIZE);
  for (int place = 0; place < GROUP_SIZE; place++) {
    uintptr_t none = 0;
    if (atomic_load_explicit(&group->keys[place], memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&group->keys[place], &none, RESERVED))
      continue;
    group->blocks[place] = *block;
    lt_sampled_marks_add(address);
    atomic_store_explicit(&group->keys[place], key_of(address), memory_order_release);
    LT_CHECK(atomic_load(mark_of(address)) > 0);
    return true;
  }
  return false;
}

bool lt_sampled_blocks_find(uintptr_t address, struct lt_sampled_block *block) {
  if (!groups) return false;
  const struct group *group = group_of(address);
  int place = place_of(group, address);
  if (place == GROUP_SIZE) return false;
  *block = group->blocks[place];
  return true;
}
