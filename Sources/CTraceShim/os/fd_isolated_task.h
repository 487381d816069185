// Calls that need descriptors, made where the host cannot take them.

#ifndef LEAKTRACE_FD_ISOLATED_TASK_H
#define LEAKTRACE_FD_ISOLATED_TASK_H

#include <stdbool.h>
#include <stdint.h>

/// Calls `function` in a task of this process with its own table of descriptors, which begins with the three standard
/// ones and ends with the task. Waits for the task's end, with all signals blocked; signals that its calls raise
/// (SIGXFSZ, SIGPIPE) end with it. The function may use 48 KiB of stack, no thread-local memory, and no lock. From
/// within such a task, and in a copy of the process, the function is simply called. False when the kernel refuses, and
/// nothing was called.
bool lt_call_apart(void (*function)(void *argument), void *argument);
/// Does the same. If the kernel refuses, calls the function in the host's table instead, with signals blocked, and
/// without leaving any pending. The kernel refuses a thread whose children belong to another PID namespace. For calls
/// that the host's start needs, and for messages.
void lt_call_apart_or_here(void (*function)(void *argument), void *argument);
/// Begins such a task, and returns while it runs. One at a time: false while another runs, and when the kernel refuses.
/// It shares the thread-local memory of the calling thread, which may end before the task does.
bool lt_call_apart_meanwhile(void (*function)(void *argument), void *argument);
/// Waits until no such task runs.
void lt_apart_await_other(void);
/// True if a stack pointer is on the stack of such a task.
bool lt_apart_has_stack(uintptr_t stackPointer);
/// Called in a copy of this process that runs nothing else.
void lt_apart_is_alone(void);
/// Called in a child made by fork.
void lt_apart_reset_after_fork(void);

#endif
