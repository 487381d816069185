// The life of the traced process as the recorder sees it: load, fork, exec, exit.

#ifndef LEAKTRACE_PROCESS_STATE_H
#define LEAKTRACE_PROCESS_STATE_H

#include "thread_state.h"

/// The one constructor: has the process recorded, if nothing stands against it.
void lt_process_load(int argumentCount, char **arguments, char **environment) __attribute__((visibility("hidden")));
/// Whether this process is the one whose trace is open. In a child made by a fork that nobody announced it turns tracing off, or begins
/// the child's own trace.
bool lt_process_is_ours(void);
/// Called by each thread when it has registered; the first writes what describes the process.
void lt_process_first_event(struct lt_thread *thread);
/// Writes what describes the process once more if that has changed.
void lt_process_describe_again(struct lt_thread *thread);
/// From now on, Swift objects are seen. `isPartly`: nothing of the runtime that is interposed by name.
void lt_process_has_swift(bool isPartly);
/// Tells whoever started the recording, and the trace, what is not seen. `detail` is put behind the text, if it is not NULL. One text is told once.
void lt_process_warn(const char *text, const char *detail);

/// Before this process replaces its program: closes the trace as far as can be told, so that it can go on if that fails.
void lt_process_before_exec(void);
/// Whether what this process changes in memory changes its own: not in a child of vfork.
bool lt_process_has_own_memory(void);
/// Ends the recording while the process goes on, and says why: from here on the recorder makes no system call of its own, and has no thread.
void lt_process_stop(const char *why);
/// Closes the trace for good. Safe to call twice, and in any process.
void lt_process_finish(uint32_t reason);
/// Child side of fork.
void lt_process_after_fork(void);
/// Counts a child that is not traced.
void lt_process_count_untraced_child(void);

#endif
