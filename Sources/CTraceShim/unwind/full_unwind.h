// Whole stacks by the full unwind tables, with every register: slow, for frames that the short rules cannot express,
// and to check those rules.

#ifndef LEAKTRACE_FULL_UNWIND_H
#define LEAKTRACE_FULL_UNWIND_H

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/unwind_table.h"

struct lt_full_stack {
  uint64_t *keys;           ///< innermost first; the caller's memory
  uint32_t count, capacity; ///< `count` is at most `capacity`
  bool isIncomplete;        ///< ends at a frame without usable unwind information
  bool isTruncated;         ///< ends at the capacity
};

/// Unwinds the stack from the caller of the hook with the frame address `hookFrame`. `keys` are frame keys, and include
/// async callers.
void lt_full_unwind(struct lt_thread *thread, const uintptr_t *hookFrame, struct lt_full_stack *stack);

/// Finds the registers of the innermost frame that is not `isPassed`, beginning with the caller of the hook that has
/// `hookFrame`: the values when that frame resumes. False if the stack cannot be unwound that far.
bool lt_unwind_out_of(struct lt_thread *t, const uintptr_t *hookFrame, bool (*isPassed)(uintptr_t),
                      struct lt_registers *result);

/// The same, beginning with the innermost call made by `function`, which has `size` bytes. That call is found by its
/// return address, since not all frames inside it can be unwound. Registers that calls preserve are unknown then, and
/// 0.
bool lt_unwind_from_call(struct lt_thread *t, uintptr_t function, size_t size, bool (*isPassed)(uintptr_t),
                         struct lt_registers *result);

#endif
