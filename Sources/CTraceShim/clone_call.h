// Tasks of the recorder's own, made without the C library.

#ifndef LEAKTRACE_CLONE_CALL_H
#define LEAKTRACE_CLONE_CALL_H

#include <linux/sched.h>
#include <stdint.h>

/// Flags of clone(2) that make a thread of the process.
enum { LT_CLONE_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS };

/// Starts a task that calls `run` on the stack that ends at `top`, and ends when that returns. Its number, or −errno.
///
/// `flags`, `childThread` and `threadPointer` are those of clone(2). Without CLONE_SETTLS the calling thread's thread-local memory is the task's: nothing it calls may use any.
long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread, uintptr_t threadPointer);

/// How a tracer starts such a task in place of this process.
struct lt_clone_registers {
  uintptr_t call;  ///< of the instruction
  uintptr_t stack; ///< the stack's pointer
};

/// Writes to the stack what the task begins with.
void lt_clone_prepare(struct lt_clone_registers *registers, void *top, void (*run)(void *), void *argument);

/// Thread-local memory in which this library's variables are zero, and what compilers look for in the control block. The thread pointer, or 0.
uintptr_t lt_make_thread_local(void);

#endif
