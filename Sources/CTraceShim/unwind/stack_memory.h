// The memory around a thread's stack pointer that can be read. Asked before the unwinder reads anything that it is led
// to.

#ifndef LEAKTRACE_STACK_MEMORY_H
#define LEAKTRACE_STACK_MEMORY_H

#include "thread/thread_state.h"

LT_NOINLINE bool lt_stack_memory_extend(struct lt_thread *thread, uintptr_t address);
LT_NOINLINE void lt_stack_memory_enter(struct lt_thread *thread, uintptr_t address);

/// Tells whether the 16 bytes at the address can be read. Nothing to compute inside the known part of the thread's
/// stack.
static LT_ALWAYS_INLINE bool lt_stack_memory_has(struct lt_thread *t, uintptr_t address) {
  return LT_LIKELY(address >= t->mappedLow && address + 16 <= t->mappedHigh) || lt_stack_memory_extend(t, address);
}

/// To be called with the address of the innermost frame before a walk: the thread may be on another stack than last
/// time.
static LT_ALWAYS_INLINE void lt_stack_memory_begin(struct lt_thread *t, uintptr_t address) {
  if (LT_UNLIKELY(address - t->mappedLow >= t->mappedHigh - t->mappedLow)) lt_stack_memory_enter(t, address);
}

#endif
