// A thread that takes one image for a requester outside, who has the process make it: no call of the host's is
// interrupted.

#ifndef LEAKTRACE_SERVING_THREAD_H
#define LEAKTRACE_SERVING_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/// Says in the live file how such a thread is made. Nothing if there is no memory for one. Once for each trace.
void lt_serving_init(void);
/// Waits until no such thread runs.
void lt_serving_await_other(void);
/// Has no more such threads made, and waits for one that runs.
void lt_serving_end(void);

#endif
