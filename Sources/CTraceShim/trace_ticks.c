// Durations in ticks of the trace's clock. Any thread, no lock: what is kept is a single word.

#include "trace_ticks.h"

#include "event_buffer.h"
#include "trace_file.h"

enum { SETTLED_NANOSECONDS = 1000000000 };

/// Ticks per second of the processor's counter once it was measured for long enough.
static _Atomic uint64_t settledRate;

static uint64_t rate(void) {
  if (lt_clock_kind != LT_CLOCK_TSC) return 1000000000;
  uint64_t known = atomic_load_explicit(&settledRate, memory_order_relaxed);
  if (LT_LIKELY(known)) return known;
  const struct lt_trace_header *header = lt_trace.header;
  uint64_t nanoseconds = lt_clock_nanoseconds(CLOCK_MONOTONIC), ticks = lt_now();
  if (!header || nanoseconds <= header->startMonotonic || ticks <= header->startTime) return 1000000000;
  nanoseconds -= header->startMonotonic;
  uint64_t measured = (uint64_t)((unsigned __int128)(ticks - header->startTime) * 1000000000 / nanoseconds);
  if (nanoseconds >= SETTLED_NANOSECONDS) atomic_store_explicit(&settledRate, measured, memory_order_relaxed);
  return measured ? measured : 1000000000;
}

static uint64_t scaled(uint64_t value, uint64_t by, uint64_t per) {
  unsigned __int128 result = (unsigned __int128)value * by / per;
  return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

uint64_t lt_ticks_in(uint64_t nanoseconds) { return nanoseconds == 0 ? 0 : scaled(nanoseconds, rate(), 1000000000); }
uint64_t lt_nanoseconds_in(uint64_t ticks) { return scaled(ticks, 1000000000, rate()); }
