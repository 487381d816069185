// The trace's clock, and durations in its ticks.

#ifndef LEAKTRACE_TRACE_CLOCK_H
#define LEAKTRACE_TRACE_CLOCK_H

#include "os/os.h"

extern uint8_t lt_clock_kind __attribute__((visibility("hidden"))); ///< LT_CLOCK_TSC or LT_CLOCK_MONOTONIC
/// Returns the time of the trace's clock.
static LT_ALWAYS_INLINE uint64_t lt_now(void) {
  return LT_LIKELY(lt_clock_kind == LT_CLOCK_TSC) ? lt_ticks_ordered() : lt_clock_nanoseconds(CLOCK_MONOTONIC);
}

/// Begins to measure the trace's clock against the kernel's. Must be called when the trace is open.
void lt_trace_clock_begin(void);
/// Returns the ticks in a number of nanoseconds. UINT64_MAX stays UINT64_MAX; a result that does not fit becomes
/// UINT64_MAX − 1. The result is exact to some thousandths after the first millisecond of the recording, and to
/// millionths after a second.
uint64_t lt_ticks_in(uint64_t nanoseconds);
/// Returns the nanoseconds in a number of ticks.
uint64_t lt_nanoseconds_in(uint64_t ticks);

#endif
