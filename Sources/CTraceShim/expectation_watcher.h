// The recorder's own thread, which notices that deadlines pass, in a process that does nothing itself.

#ifndef LEAKTRACE_EXPECTATION_WATCHER_H
#define LEAKTRACE_EXPECTATION_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

/// Starts the thread unless it runs. By any thread, in a hook. False when it cannot be had.
bool lt_watcher_start(void);
/// A deadline is due before those that were known.
void lt_watcher_wake(void);
/// Ends the thread, and waits for that. It is not started again.
void lt_watcher_end(void);
/// The kernel's number of the thread, 0 while there is none.
pid_t lt_watcher_thread(void);
/// In a child made by fork, which has no such thread.
void lt_watcher_reset_after_fork(void);

#endif
