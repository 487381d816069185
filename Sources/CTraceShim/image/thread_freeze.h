// Makes a copy of the process while no thread of it runs.

#ifndef LEAKTRACE_THREAD_FREEZE_H
#define LEAKTRACE_THREAD_FREEZE_H

#include "image/thread_stop.h"

/// Stops the other threads, makes the copy, and resumes the threads. If stopping them is refused, the copy is made
/// while they run. The same applies if the kernel does not finish the copy in time: a stopped thread may have to read
/// the event of a userfaultfd first. `copy` is −ETIMEDOUT if the kernel does not finish the second copy either. The
/// copy is a child of this process that calls of wait do not see unless they ask for clones (`__WCLONE`, `__WALL`).
/// Call it with all signals blocked.
void lt_freeze_and_copy(struct lt_freeze *freeze);
/// True if children of this thread belong to another PID namespace. The first of them becomes that namespace's first
/// process, and all others end with it. Its own end waits until the others' parents have reaped them (Linux,
/// kernel/pid_namespace.c, zap_pid_ns_processes), and the program may itself wait for that end. The link exists once
/// the namespace has a first process (pid_namespaces(7)).
bool lt_is_namespace_of_children_another(void);
/// Prepares. Called once. False without memory.
bool lt_freeze_init(void);
/// From now on, stops no other threads: trying to would end a process, with a core dump.
void lt_freeze_forbid(void);
/// Resets the state in a child made by fork: its memory is a copy of the parent's, perhaps from the middle of a freeze.
void lt_freeze_reset(void);

#endif
