// Calls that need descriptors, made where the host cannot take them.

#ifndef LEAKTRACE_APART_TASK_H
#define LEAKTRACE_APART_TASK_H

#include <stdbool.h>
#include <stdint.h>

/// Calls `function` in a task of this process whose table of descriptors is its own: it begins with the three standard
/// ones, and ends with the task. Waits for its end, with all signals blocked; signals that its calls raise (SIGXFSZ,
/// SIGPIPE) end with it. The function may use 48 KiB of stack, no thread-local memory, and no lock. From within such a
/// task, and in a copy of the process, it is just called. False when the kernel refuses, and nothing was called.
bool lt_call_apart(void (*function)(void *argument), void *argument);
/// Does the same; if the kernel refuses, as it does to a thread whose children belong to another PID namespace, calls
/// the function in the host's table, with signals blocked and without leaving any behind. For calls that the host's
/// start needs, and for messages.
void lt_call_apart_or_here(void (*function)(void *argument), void *argument);
/// Begins such a task, and returns while it runs. One at a time: false while another runs, and when the kernel refuses.
/// Its thread-local memory is that of the calling thread, which may have ended meanwhile.
bool lt_call_apart_meanwhile(void (*function)(void *argument), void *argument);
/// Waits until no such task runs.
void lt_apart_await_other(void);
/// Tells whether a stack pointer is that of such a task.
bool lt_apart_has_stack(uintptr_t stackPointer);
/// Called in a copy of this process, in which nothing else runs.
void lt_apart_is_alone(void);
/// In a child made by fork.
void lt_apart_reset_after_fork(void);

#endif
