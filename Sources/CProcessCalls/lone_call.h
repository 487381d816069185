// Has one thread of a process make a call, while all others run.

#ifndef LEAKTRACE_LONE_CALL_H
#define LEAKTRACE_LONE_CALL_H

#include "stopped_process.h"

/// Stops one thread after another until one makes the call: those that sleep first, since nobody waits for what they
/// do. A thread that gets no turn to stop is let go as soon as it does; so are those that are late in `stopped`.
/// Returns by the deadline, or when the call has returned. 0, LT_COPY_GONE if the process has ended, LT_COPY_NO_CALL,
/// −errno.
int lt_call_by_one_thread(struct lt_stopped_process *stopped, struct lt_injected_call *call, uint64_t deadline);

#endif
