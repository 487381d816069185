// Finds the memory around a thread's stack pointer that can be read.
//
// The loader and the thread library know where stacks are, but asking them allocates, and coroutines and signal stacks
// are unknown to them. So a contiguous range is grown page by page, as walks reach it, with a system call a page; once
// known it is only compared with.

#include "unwind/stack_memory.h"

#include "check.h"

enum { PAGE = 4096, FAR = 1 << 20 };

static bool is_readable_alone(uintptr_t address) { return lt_is_readable(address) && lt_is_readable(address + 8); }

/// True if the known memory is whole pages, or none.
LT_INVARIANT bool is_known_valid(const struct lt_thread *t) {
  return t->mappedLow <= t->mappedHigh && t->mappedLow % PAGE == 0 && t->mappedHigh % PAGE == 0;
}

LT_NOINLINE bool lt_stack_memory_extend(struct lt_thread *t, uintptr_t address) {
  LT_CHECK(is_known_valid(t));
  uintptr_t first = address & ~(uintptr_t)(PAGE - 1), last = (address + 15) & ~(uintptr_t)(PAGE - 1);
  if (first < t->mappedLow && t->mappedLow - first > FAR) return is_readable_alone(address);
  while (first < t->mappedLow) {
    if (!lt_is_readable(t->mappedLow - PAGE)) return false;
    t->mappedLow -= PAGE;
  }
  if (last >= t->mappedHigh && last - t->mappedHigh > FAR) return is_readable_alone(address);
  while (last >= t->mappedHigh) {
    if (!lt_is_readable(t->mappedHigh)) return false;
    t->mappedHigh += PAGE;
  }
  LT_CHECK(is_known_valid(t) && address >= t->mappedLow && address + 16 <= t->mappedHigh);
  return true;
}

LT_NOINLINE void lt_stack_memory_enter(struct lt_thread *t, uintptr_t address) {
  uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
  LT_CHECK(is_known_valid(t));
  // The known stack, grown: connected memory below it. Otherwise a different stack, and nothing of the last one counts.
  if (t->mappedHigh && page < t->mappedLow && t->mappedLow - page <= FAR && lt_stack_memory_extend(t, page)) return;
  t->mappedLow = page;
  t->mappedHigh = page + PAGE;
  t->depth = 0;
  LT_CHECK(is_known_valid(t) && address - t->mappedLow < t->mappedHigh - t->mappedLow);
}
