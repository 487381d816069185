// Notices that the trace has reached its limit, and has the recorder go over to samples then.

#ifndef LEAKTRACE_TRACE_LIMIT_H
#define LEAKTRACE_TRACE_LIMIT_H

#include "thread/thread_state.h"

/// Sets the function that goes over, which a hook calls: false if it is to be called again later.
void lt_trace_limit_observe(bool (*goOver)(struct lt_thread *thread));
/// Watches the trace that was opened. `bytes`: 0 for no limit.
void lt_trace_limit_begin(uint64_t bytes);
/// Looks at the trace's size, when a thread has sealed a chunk. A load where there is no limit.
void lt_trace_limit_look(void);
/// Goes over if it is time. By a hook, on the program's stack. A load if it is not.
void lt_trace_limit_heed(struct lt_thread *thread);

#endif
