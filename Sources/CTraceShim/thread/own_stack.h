// Stacks of the recorder's own, for work that takes more stack than a small coroutine or a signal stack may have left.
//
// While a thread is on one, signals wait, but those of faults: a handler would run on it, and one with a stack of its
// own might be put over the frames of another that the recorder was called from.

#ifndef LEAKTRACE_OWN_STACK_H
#define LEAKTRACE_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Most bytes of the host's stack that a call of a hook takes, besides those of the function the hook stands in front
/// of.
enum { LT_HOST_STACK_BUDGET = 1024 };
/// Bytes of a stack, with the page at its end that cannot be touched.
enum { LT_OWN_STACK_SIZE = 64 << 10 };

/// Calls the function on a stack of the recorder's own; at once if the calling thread is on one. False, and nothing was
/// called, if there is no memory for one.
bool lt_on_own_stack(void (*function)(void *), void *argument);
/// Returns the host's stack pointer of the thread that is on a stack of the recorder's at `stackPointer`; all registers
/// that calls preserve were saved above. Returns `stackPointer` itself if it is on none.
uintptr_t lt_own_stack_left_at(uintptr_t stackPointer);
/// Forgets which stacks other threads are on: in a child made by fork.
void lt_own_stack_reset_after_fork(void);

#endif
