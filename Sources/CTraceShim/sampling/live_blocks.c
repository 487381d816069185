// Two sets of live blocks: the sampled blocks, and, if the allocator's metadata cannot be read, all blocks.

#include "sampling/live_blocks.h"

#include "CTraceFormat.h"
#include "arch/arch.h"
#include "check.h"
#include "os/os.h"

#include <stdatomic.h>
#include <string.h>

// === sampled blocks ==================================================================================================

enum {
  GROUP_SIZE = 16, ///< places that a block may have: two cache lines of keys
  GROUP_BITS = 12,
  RESERVED = 1, ///< a place that is being filled
  MARK_LIMIT = 255,
  /// The value of a held mark without blocks, so that every free is checked. Adding a block makes it MARK_LIMIT.
  MARK_HELD = MARK_LIMIT - 1,
};
/// All groups together hold 65,536 blocks. With a sample every 512 KiB, a heap of 16 GiB uses half of that room.
struct group {
  _Atomic uintptr_t keys[GROUP_SIZE]; ///< 0: no block. A block has at most one place, and is marked
  struct lt_sampled_block blocks[GROUP_SIZE];
};

static _Atomic uint8_t alwaysMarked = 1;
LT_HOOK_DATA struct lt_sampled_marks lt_sampled_marks = {&alwaysMarked, 0};
static struct {
  _Atomic uint8_t *marks;
  struct group *groups;
} sampledBlocks;

bool lt_sampled_blocks_begin(void) {
  if (!sampledBlocks.groups) sampledBlocks.groups = lt_map_private(sizeof *sampledBlocks.groups << GROUP_BITS);
  if (!sampledBlocks.marks) sampledBlocks.marks = lt_map_private(LT_SAMPLED_MARK_COUNT);
  return sampledBlocks.groups && sampledBlocks.marks;
}

// --- marks -----------------------------------------------------------------------------------------------------------

static _Atomic uint8_t *mark_of(uintptr_t address) {
  LT_CHECK(sampledBlocks.marks != NULL);
  return &sampledBlocks.marks[address >> 4 & (LT_SAMPLED_MARK_COUNT - 1)];
}

void lt_sampled_marks_use(void) {
  LT_CHECK(sampledBlocks.marks != NULL);
  // Set the mask last, since other threads may be freeing: the old mask is valid for both tables.
  __atomic_store_n(&lt_sampled_marks.counts, sampledBlocks.marks, __ATOMIC_RELAXED);
  // Pairs with the acquire in lt_is_marked. Also comes after all marks that were added before.
  atomic_thread_fence(memory_order_seq_cst);
  __atomic_store_n(&lt_sampled_marks.mask, LT_SAMPLED_MARK_COUNT - 1, __ATOMIC_RELAXED);
}

void lt_sampled_marks_hold(void) {
  LT_CHECK(sampledBlocks.marks && lt_sampled_marks.counts != sampledBlocks.marks);
  memset((void *)sampledBlocks.marks, MARK_HELD, LT_SAMPLED_MARK_COUNT);
}

void lt_sampled_marks_release(void) {
  LT_CHECK(sampledBlocks.marks != NULL);
  // Clear the marks in place: a thread in the middle of a free has the address of a mark.
  for (uint32_t i = 0; i < LT_SAMPLED_MARK_COUNT; i++) {
    uint8_t held = MARK_HELD;
    atomic_compare_exchange_strong(&sampledBlocks.marks[i], &held, 0);
  }
}

void lt_sampled_marks_add(uintptr_t address) {
  if (!sampledBlocks.marks) return;
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
  return &sampledBlocks.groups[((address >> 4) * LT_HASH_MULTIPLIER) >> (64 - GROUP_BITS)];
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
  int place = sampledBlocks.groups ? place_of(group, address) : GROUP_SIZE;
  if (place == GROUP_SIZE) return false;
  *block = group->blocks[place];
  // If two threads free the block at the same time, which is an error of the program, count one free.
  uintptr_t key = key_of(address);
  // Pairs with the exchange in lt_sampled_blocks_add: the next block is written after this one was read.
  if (!atomic_compare_exchange_strong(&group->keys[place], &key, 0)) return false;
  remove_mark(address);
  return true;
}

bool lt_sampled_blocks_add(uintptr_t address, const struct lt_sampled_block *block) {
  struct group *group = group_of(address);
  LT_CHECK(sampledBlocks.groups && key_of(address) > RESERVED);
  LT_CHECK(place_of(group, address) == GROUP_SIZE);
  for (int place = 0; place < GROUP_SIZE; place++) {
    uintptr_t none = 0;
    if (atomic_load_explicit(&group->keys[place], memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&group->keys[place], &none, RESERVED))
      continue;
    group->blocks[place] = *block;
    lt_sampled_marks_add(address);
    // Release: pairs with the acquire in place_of, whose caller reads the block.
    atomic_store_explicit(&group->keys[place], key_of(address), memory_order_release);
    LT_CHECK(atomic_load(mark_of(address)) > 0);
    return true;
  }
  return false;
}

bool lt_sampled_blocks_find(uintptr_t address, struct lt_sampled_block *block) {
  if (!sampledBlocks.groups) return false;
  const struct group *group = group_of(address);
  int place = place_of(group, address);
  if (place == GROUP_SIZE) return false;
  *block = group->blocks[place];
  return true;
}

// === all blocks ======================================================================================================

enum {
  GRANULE_SHIFT = 3, ///< allocators align the smallest blocks to 8 bytes
  CELL_SHIFT = GRANULE_SHIFT + 6,
  /// A table takes 8 MiB, and has the cells for 256 MiB of addresses. Only its used pages are resident.
  TABLE_SHIFT = 28,
  TABLE_CELLS = 1 << (TABLE_SHIFT - CELL_SHIFT),
  TABLE_LIMIT = 1 << (LT_ADDRESS_BITS - TABLE_SHIFT),
  /// The minimum size of a large block. The cell after a large block's first cell is entirely inside the block, and
  /// holds the block's size. So the block's end need not be searched for.
  LARGE_SIZE = 3 << CELL_SHIFT,
};

/// A bit for each of 64 granules: in `starts` if a block begins there, in `ends` if a block ends there. A block of one
/// granule has the same bit in both.
struct cell {
  _Atomic uint64_t starts, ends; ///< each block has a bit in both, or a bit in `starts` and its size in the next cell
};

bool lt_keeps_blocks;
static struct {
  _Atomic(struct cell *) *tables; ///< a table is never freed
  _Atomic bool isIncomplete;
} liveSet;

bool lt_live_set_begin(void) {
  if (!liveSet.tables) liveSet.tables = lt_map_private(TABLE_LIMIT * sizeof *liveSet.tables);
  lt_keeps_blocks = liveSet.tables != NULL;
  return lt_keeps_blocks;
}

static struct cell *table_of(uint64_t address, bool isToBeMade) {
  LT_CHECK(liveSet.tables != NULL);
  if (address >> LT_ADDRESS_BITS) return NULL;
  _Atomic(struct cell *) *place = &liveSet.tables[address >> TABLE_SHIFT];
  // Acquire: pairs with the exchange below.
  struct cell *table = atomic_load_explicit(place, memory_order_acquire);
  if (table || !isToBeMade) return table;
  struct cell *made = lt_map_private(TABLE_CELLS * sizeof *made);
  if (!made) return NULL;
  if (atomic_compare_exchange_strong(place, &table, made)) return made;
  lt_unmap(made, TABLE_CELLS * sizeof *made);
  return table;
}

static struct cell *cell_of(uint64_t address, bool isToBeMade) {
  struct cell *table = table_of(address, isToBeMade);
  return table ? &table[address >> CELL_SHIFT & (TABLE_CELLS - 1)] : NULL;
}

static uint64_t bit_of(uint64_t address) { return 1ull << (address >> GRANULE_SHIFT & 63); }

/// The size of a large block, if `cell` is the one after the block's first cell; otherwise 0. In such a cell, `starts`
/// holds the size, and `ends` the complement of the size. The cell of other blocks never looks like this. The uppermost
/// bits of a size are 0, so several consecutive blocks would have to end in the cell without beginning there.
static uint64_t size_in(const struct cell *cell) {
  uint64_t size = atomic_load(&cell->starts);
  return size >= LARGE_SIZE && !(size >> LT_ADDRESS_BITS) && atomic_load(&cell->ends) == ~size ? size : 0;
}

static uint64_t last_byte(uint64_t address, uint64_t size) { return address + (size ? size - 1 : 0); }

/// Clears the bits of a cell from one address to another, inclusive. Such bits in the memory of a new block are left
/// from earlier blocks whose free was not seen.
static void clear(struct cell *cell, uint64_t from, uint64_t to) {
  LT_CHECK(from <= to && from >> CELL_SHIFT == to >> CELL_SHIFT);
  uint64_t bits = (bit_of(to) | (bit_of(to) - 1)) & ~(bit_of(from) - 1);
  if (LT_UNLIKELY(atomic_load_explicit(&cell->starts, memory_order_relaxed) & bits))
    atomic_fetch_and(&cell->starts, ~bits);
  if (LT_UNLIKELY(atomic_load_explicit(&cell->ends, memory_order_relaxed) & bits)) atomic_fetch_and(&cell->ends, ~bits);
}

void lt_live_set_add(uintptr_t address, uint64_t size) {
  bool isLarge = size >= LARGE_SIZE;
  struct cell *first = cell_of(address, true);
  struct cell *second = cell_of(isLarge ? address + (1 << CELL_SHIFT) : last_byte(address, size), true);
  if (!first || !second) {
    atomic_store(&liveSet.isIncomplete, true);
    return;
  }
  uint64_t endOfFirst = address | ((1 << CELL_SHIFT) - 1);
  if (isLarge) {
    clear(first, address, endOfFirst);
    atomic_store(&second->starts, size);
    atomic_store(&second->ends, ~size);
  } else {
    uint64_t last = last_byte(address, size);
    clear(first, address, last < endOfFirst ? last : endOfFirst);
    for (uint64_t at = endOfFirst + 1; at <= last; at += 1 << CELL_SHIFT) {
      struct cell *cell = cell_of(at, true);
      uint64_t end = at | ((1 << CELL_SHIFT) - 1);
      if (cell) clear(cell, at, last < end ? last : end);
    }
    atomic_fetch_or(&second->ends, bit_of(last_byte(address, size)));
  }
  // Set the beginning last: if a copy of the process has the bit, it has the rest. Release: pairs with the loads of
  // `starts` in lt_live_set_walk and lt_live_set_size.
  LT_CHECK(!isLarge || size >> LT_ADDRESS_BITS || size_in(second) == size);
  atomic_fetch_or(&first->starts, bit_of(address));
}

/// Returns the size of a block that begins at an address; 0 if it has no end.
static uint64_t size_at(uint64_t address) {
  struct cell *cell = cell_of(address, false), *next = cell_of(address + (1 << CELL_SHIFT), false);
  uint64_t bit = bit_of(address), ends = cell ? atomic_load(&cell->ends) & ~(bit - 1) : 0;
  if (ends) return (((uint64_t)__builtin_ctzll(ends) + 1) << GRANULE_SHIFT) - (address & ((1 << CELL_SHIFT) - 8));
  uint64_t large = next ? size_in(next) : 0;
  if (large) return large;
  uint64_t at = address >> CELL_SHIFT << CELL_SHIFT;
  for (int i = 1; i <= LARGE_SIZE >> CELL_SHIFT; i++) {
    cell = cell_of(at + ((uint64_t)i << CELL_SHIFT), false);
    ends = cell ? atomic_load(&cell->ends) : 0;
    if (ends)
      return at + ((uint64_t)i << CELL_SHIFT) + (((uint64_t)__builtin_ctzll(ends) + 1) << GRANULE_SHIFT) - address;
  }
  return 0;
}

uint64_t lt_live_set_size(uintptr_t address) {
  struct cell *first = cell_of(address, false);
  return first && atomic_load(&first->starts) & bit_of(address) ? size_at(address) : 0;
}

uint64_t lt_live_set_remove(uintptr_t address) {
  struct cell *first = cell_of(address, false);
  if (!first || !(atomic_load(&first->starts) & bit_of(address))) return 0;
  uint64_t size = size_at(address);
  // If two threads free the block at the same time, which is an error of the program, remove it once.
  if (!(atomic_fetch_and(&first->starts, ~bit_of(address)) & bit_of(address)) || !size) return 0;
  if (size >= LARGE_SIZE) {
    struct cell *second = cell_of(address + (1 << CELL_SHIFT), false);
    LT_CHECK(second != NULL);
    atomic_store(&second->starts, 0);
    atomic_store(&second->ends, 0);
  } else {
    LT_CHECK(cell_of(last_byte(address, size), false) != NULL);
    atomic_fetch_and(&cell_of(last_byte(address, size), false)->ends, ~bit_of(last_byte(address, size)));
  }
  return size;
}

bool lt_live_set_walk(void (*block)(void *context, uint64_t address, uint64_t size), void *context) {
  uint64_t behind = 0; // end of the last block; the bits of cells before it may be a large block's size
  for (uint64_t i = 0; i < TABLE_LIMIT; i++) {
    struct cell *table = atomic_load(&liveSet.tables[i]);
    for (uint64_t k = 0; table && k < TABLE_CELLS; k++) {
      uint64_t base = i << TABLE_SHIFT | k << CELL_SHIFT, starts = atomic_load(&table[k].starts);
      if (base + (1 << CELL_SHIFT) <= behind) continue;
      for (; starts; starts &= starts - 1) {
        uint64_t address = base + ((uint64_t)__builtin_ctzll(starts) << GRANULE_SHIFT);
        uint64_t size = address < behind ? 0 : size_at(address);
        if (!size) continue;
        block(context, address, size);
        behind = address + size;
      }
    }
  }
  return !atomic_load(&liveSet.isIncomplete);
}
