// Stacks of the recorder's own, for work that takes more stack than a small coroutine or a signal stack may have left.
//
// While a thread is on one, all signals except faults are blocked. A handler would run on the recorder's stack. A
// handler with a stack of its own might overwrite the frames of another handler that had called the recorder.

#ifndef LEAKTRACE_OWN_STACK_H
#define LEAKTRACE_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most bytes of the host's stack that a hook call takes, in addition to those of the hooked function.
enum { LT_HOST_STACK_BUDGET = 1024 };
/// Bytes of a stack, with the page at its end that cannot be touched.
enum { LT_OWN_STACK_SIZE = 64 << 10 };

/// Calls the function on a stack of the recorder's; directly if the calling thread is already on one. If there is no
/// memory for a stack, nothing is called, and the result is false.
bool lt_on_own_stack(void (*function)(void *), void *argument);
/// Returns the host's stack pointer of the thread that is on a stack of the recorder's at `stackPointer`. All registers
/// that calls preserve were saved above it. Returns `stackPointer` itself if it is on none of these stacks.
uintptr_t lt_own_stack_left_at(uintptr_t stackPointer);
/// Forgets which stacks other threads are on: in a child made by fork.
void lt_own_stack_reset_after_fork(void);

#endif
