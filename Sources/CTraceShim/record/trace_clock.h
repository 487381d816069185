// The trace's clock, and durations in its ticks.

#ifndef LEAKTRACE_TRACE_CLOCK_H
#define LEAKTRACE_TRACE_CLOCK_H

#include "os/os.h"

extern uint8_t lt_clock_kind __attribute__((visibility("hidden"))); ///< LT_CLOCK_
/// The trace's clock now.
static LT_ALWAYS_INLINE uint64_t lt_now(void) {
  return LT_LIKELY(lt_clock_kind == LT_CLOCK_TSC) ? lt_ticks_ordered() : lt_clock_nanoseconds(CLOCK_MONOTONIC);
}

/// Begins to measure the trace's clock against the kernel's. When the trace is open.
void lt_trace_clock_begin(void);
/// Ticks in so many nanoseconds; UINT64_MAX for more than fit. Exact to some thousandths from the first millisecond of
/// the recording on, and to millionths after a second.
uint64_t lt_ticks_in(uint64_t nanoseconds);
/// Nanoseconds in so many ticks.
uint64_t lt_nanoseconds_in(uint64_t ticks);

#endif
