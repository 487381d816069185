// Makes a copy of the process while none of its threads runs.

#ifndef LEAKTRACE_THREAD_FREEZE_H
#define LEAKTRACE_THREAD_FREEZE_H

#include "image/thread_stop.h"

/// Stops the other threads, makes the copy, and resumes the threads. If the threads cannot be stopped, makes the copy
/// while they run. Does the same if the kernel does not finish the first copy in time. For example, a stopped thread
/// may first have to read the event of a userfaultfd. If the kernel does not finish the second copy either, `copy` is
/// −ETIMEDOUT. The copy is a child of this process. Calls of wait do not see it unless they ask for clones (`__WCLONE`,
/// `__WALL`). Must be called with all signals blocked.
void lt_freeze_and_copy(struct lt_freeze *freeze);
/// True if children of this thread belong to another PID namespace. The recorder then makes no copy, because a copy
/// could become the first process of that namespace. When the first process ends, the kernel ends all other processes
/// of the namespace. The end of the first process waits until the parents of the others have reaped them (Linux,
/// kernel/pid_namespace.c, zap_pid_ns_processes). The program may itself wait for that end. The link in /proc exists
/// once the namespace has a first process (pid_namespaces(7)).
bool lt_children_in_other_pid_ns(void);
/// Prepares freezes. Called once. Returns false if there is no memory.
bool lt_freeze_init(void);
/// Makes later freezes stop no threads. Called if a filter of system calls would kill the process for an attempt to
/// stop them.
void lt_freeze_forbid(void);
/// Resets the state in a child made by fork. The state is a copy of the parent's, perhaps from the middle of a freeze.
void lt_freeze_reset(void);

#endif
