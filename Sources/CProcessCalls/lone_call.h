// Makes one thread of a process execute a system call, while all other threads run.

#ifndef LEAKTRACE_LONE_CALL_H
#define LEAKTRACE_LONE_CALL_H

#include "stopped_process.h"

/// Stops one thread after another, until one of them makes the call. Sleeping threads come first, since no other thread
/// waits for their work. A thread that does not stop in time is resumed as soon as it stops. The late threads of
/// `stopped` are resumed in the same way. Returns when the call has returned, or at the deadline. The result is 0,
/// LT_COPY_GONE if the process has ended, LT_COPY_NO_CALL or −errno.
int lt_call_by_one_thread(struct lt_stopped_process *stopped, struct lt_injected_call *call, uint64_t deadline);

#endif
