// Durations in ticks of the trace's clock.

#ifndef LEAKTRACE_TRACE_TICKS_H
#define LEAKTRACE_TRACE_TICKS_H

#include <stdint.h>

/// Begins to measure the trace's clock against the kernel's. When the trace is open.
void lt_trace_ticks_init(void);
/// Ticks in so many nanoseconds; UINT64_MAX for more than fit. Exact to some thousandths from the first millisecond of the recording on, and
/// to millionths after a second.
uint64_t lt_ticks_in(uint64_t nanoseconds);
/// Nanoseconds in so many ticks.
uint64_t lt_nanoseconds_in(uint64_t ticks);

#endif
