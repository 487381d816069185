// Notices that the trace has reached its limit, and makes the recorder switch to sampling then.

#ifndef LEAKTRACE_TRACE_LIMIT_H
#define LEAKTRACE_TRACE_LIMIT_H

#include "thread/thread_state.h"

/// Sets the function that switches to sampling, which a hook calls. It returns false if it must be called again later.
void lt_trace_limit_observe(bool (*goOver)(struct lt_thread *thread));
/// Watches the trace that was opened. `bytes`: 0 for no limit.
void lt_trace_limit_begin(uint64_t bytes);
/// Checks the trace's size, when a thread has sealed a chunk. Costs a load where there is no limit.
void lt_trace_limit_look(void);
/// Switches to sampling if it is time. Called by a hook, on the program's stack. Costs a load if it is not time.
void lt_trace_limit_heed(struct lt_thread *thread);

#endif
