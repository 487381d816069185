// Durations in ticks of the trace's clock.

#ifndef LEAKTRACE_TRACE_TICKS_H
#define LEAKTRACE_TRACE_TICKS_H

#include <stdint.h>

/// Ticks in so many nanoseconds; UINT64_MAX for more than fit. Measured against the kernel's clock since the recording began: exact to some millionths
/// after the first second.
uint64_t lt_ticks_in(uint64_t nanoseconds);
/// Nanoseconds in so many ticks.
uint64_t lt_nanoseconds_in(uint64_t ticks);

#endif
