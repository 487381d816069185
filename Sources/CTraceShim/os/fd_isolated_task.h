// Makes calls that need file descriptors where the host cannot close or reuse the descriptors.

#ifndef LEAKTRACE_FD_ISOLATED_TASK_H
#define LEAKTRACE_FD_ISOLATED_TASK_H

#include <stdbool.h>
#include <stdint.h>

/// Calls `function` in a task of this process that has its own descriptor table. That table begins with the three
/// standard descriptors, and ends with the task. Waits until the task has ended, with all signals blocked. Signals that
/// the function raises (SIGXFSZ, SIGPIPE) end with the task. The function may use 48 KiB of stack, no thread-local
/// memory, and no lock. Inside such a task, and in a copy of the process, calls the function directly. Returns false if
/// the kernel refuses the task; then the function was not called.
bool lt_call_isolated(void (*function)(void *argument), void *argument);
/// Works like lt_call_isolated. If the kernel refuses the task, calls the function with the host's descriptor table
/// instead. During that call, signals are blocked, and no signal that the function raises stays pending. Used for
/// messages, and for calls that the host's start needs. The kernel refuses a task to a thread whose children belong to
/// another PID namespace.
void lt_call_isolated_or_here(void (*function)(void *argument), void *argument);
/// Starts such a task, and returns while it runs. Returns false if another one started this way still runs, or if the
/// kernel refuses. The task shares the thread-local memory of the calling thread, which may end before the task does.
bool lt_call_isolated_async(void (*function)(void *argument), void *argument);
/// Waits until no task of lt_call_isolated_async runs.
void lt_isolated_task_await(void);
/// True if a stack pointer is on the stack of one of these tasks.
bool lt_isolated_task_has_stack(uintptr_t stackPointer);
/// Must be called in a copy of this process, where nothing else runs.
void lt_isolated_task_set_single(void);
/// Must be called in a child made by fork.
void lt_isolated_task_reset_after_fork(void);

#endif
