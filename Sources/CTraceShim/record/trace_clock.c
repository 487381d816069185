// The trace's clock, and durations in its ticks. Any thread may use them without a lock.

#include "record/trace_clock.h"

#include "check.h"

#include <stdatomic.h>

LT_HOOK_DATA uint8_t lt_clock_kind = LT_CLOCK_TSC;

enum { SECOND = 1000000000, TRIES = 5 };

/// The readings of both clocks at one moment.
struct moment {
  uint64_t ticks, nanoseconds;
};

static struct {
  struct moment first;
  _Atomic uint64_t knownRate; ///< ticks per second of the processor's counter, by the latest measurement
  /// the time of the next measurement, in ticks. At each measurement, the recording is twice as old as at the previous
  /// one. The last measurement comes after a second
  _Atomic uint64_t nextMeasurement;
} calibration;

/// Reads both clocks several times. Returns the reading that took least time, because the thread may be interrupted
/// between the two clocks.
static struct moment read_clocks(void) {
  struct moment best = {0, 0};
  uint64_t bestWidth = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = lt_now(), nanoseconds = lt_clock_nanoseconds(CLOCK_MONOTONIC), width = lt_now() - before;
    if (width >= bestWidth) continue;
    bestWidth = width;
    best = (struct moment){before + width / 2, nanoseconds};
  }
  return best;
}

void lt_trace_clock_begin(void) {
  calibration.first = read_clocks();
  LT_CHECK(lt_clock_kind == LT_CLOCK_TSC || lt_clock_kind == LT_CLOCK_MONOTONIC);
  atomic_store(&calibration.knownRate, 0);
  atomic_store(&calibration.nextMeasurement, 0);
}

static LT_NOINLINE uint64_t measure(void) {
  struct moment now = read_clocks();
  if (now.nanoseconds <= calibration.first.nanoseconds || now.ticks <= calibration.first.ticks) return SECOND;
  uint64_t ticks = now.ticks - calibration.first.ticks, nanoseconds = now.nanoseconds - calibration.first.nanoseconds;
  uint64_t rate = (uint64_t)((unsigned __int128)ticks * SECOND / nanoseconds);
  atomic_store_explicit(&calibration.knownRate, rate, memory_order_relaxed);
  atomic_store_explicit(&calibration.nextMeasurement, nanoseconds >= SECOND ? UINT64_MAX : now.ticks + ticks,
                        memory_order_relaxed);
  return rate ? rate : SECOND;
}

static uint64_t rate(void) {
  if (lt_clock_kind != LT_CLOCK_TSC) return SECOND;
  uint64_t next = atomic_load_explicit(&calibration.nextMeasurement, memory_order_relaxed),
           known = atomic_load_explicit(&calibration.knownRate, memory_order_relaxed);
  return LT_LIKELY(known && (next == UINT64_MAX || lt_now() < next)) ? known : measure();
}

/// UINT64_MAX means forever in any unit. No other value gives UINT64_MAX.
static uint64_t scaled(uint64_t value, uint64_t by, uint64_t per) {
  LT_CHECK(by > 0 && per > 0);
  if (value == UINT64_MAX) return value;
  unsigned __int128 result = (unsigned __int128)value * by / per;
  return result >= UINT64_MAX ? UINT64_MAX - 1 : (uint64_t)result;
}

uint64_t lt_ticks_in(uint64_t nanoseconds) { return nanoseconds == 0 ? 0 : scaled(nanoseconds, rate(), SECOND); }
uint64_t lt_nanoseconds_in(uint64_t ticks) { return scaled(ticks, SECOND, rate()); }
