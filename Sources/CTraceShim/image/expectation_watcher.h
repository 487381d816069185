// The recorder's own thread, which notices that deadlines pass, in a process that does nothing itself.

#ifndef LEAKTRACE_EXPECTATION_WATCHER_H
#define LEAKTRACE_EXPECTATION_WATCHER_H

#include "image/expectations.h"
#include "thread/thread_state.h"

#include <stdbool.h>

/// `takesSnapshots`: whether there will be images. When the trace is open, and once only.
void lt_watcher_init(bool takesSnapshots);
/// Has the block watched, by the calling thread in a hook; the first time, starts the thread. Does nothing if no images
/// are taken.
void lt_watcher_expect(struct lt_thread *thread, const struct lt_expectation *expectation);
/// Ends the thread, and waits for that. It is not started again.
void lt_watcher_end(void);
/// Resets the watcher in a child made by fork, which has no such thread.
void lt_watcher_reset_after_fork(void);

#endif
