// Tasks of the recorder's own, made without the C library.

#ifndef LEAKTRACE_CLONE_CALL_H
#define LEAKTRACE_CLONE_CALL_H

#include <stdint.h>

/// Starts a task that calls `run` on the stack that ends at `top`, and ends when that returns. Its number, or −errno.
///
/// `flags`, `childThread` and `threadPointer` are those of clone(2). Without CLONE_SETTLS the calling thread's thread-local memory is the task's: nothing it calls may use any.
long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread, uintptr_t threadPointer);

#endif
