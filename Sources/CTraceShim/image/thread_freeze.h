// Makes a copy of the process at a moment in which no thread of it runs.

#ifndef LEAKTRACE_THREAD_FREEZE_H
#define LEAKTRACE_THREAD_FREEZE_H

#include "image/freeze_state.h"

/// Stops the other threads, makes the copy, lets the threads go on. If stopping them is refused, the copy is made while
/// they run. The same applies if the kernel does not finish the copy in time: a stopped thread may have to read the
/// event of a userfaultfd first. `copy` is −ETIMEDOUT if the kernel does not finish the second copy either. The copy is
/// a child of this process that calls of wait do not see unless they ask for clones (`__WCLONE`,
/// `__WALL`). Call it with all signals blocked.
void lt_freeze_and_copy(struct lt_freeze *freeze);
/// Tells whether children of this thread belong to another PID namespace. The first of them is that namespace's first
/// process, with which all others end; and that one's end waits until the parent of every other has taken note of its
/// end (Linux, kernel/pid_namespace.c, zap_pid_ns_processes), which the program may itself wait for. The link is there
/// once the namespace has a first process (pid_namespaces(7)).
bool lt_is_namespace_of_children_another(void);
/// Prepares; once. False without memory.
bool lt_freeze_init(void);
/// Stops no other threads from now on: trying to would end a process, with a dump.
void lt_freeze_forbid(void);
/// Resets the state in a child made by fork: the memory is the parent's copy, perhaps from the middle of its freezing.
void lt_freeze_reset(void);

#endif
