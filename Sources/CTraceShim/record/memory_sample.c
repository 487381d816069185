#include "record/memory_sample.h"

#include "check.h"
#include "os/resident_size.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"

/// Samples of memory are taken as often as this at most, since a file has to be opened for each.
enum { SAMPLE_NANOSECONDS = 250000000 };

void lt_memory_sample(struct lt_thread *t) {
  static _Atomic uint64_t nextSample;
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), due = atomic_load(&nextSample);
  if (now < due || !atomic_compare_exchange_strong(&nextSample, &due, now + SAMPLE_NANOSECONDS)) return;
  uint8_t payload[64], *p = payload;
  uint64_t size = lt_resident_size();
  if (!size) return;
  p = lt_put_varint(p, lt_now());
  p = lt_put_varint(p, size);
  p = lt_put_varint(p, lt_recorder_bytes());
  p = lt_put_varint(p, lt_peak_resident_size());
  LT_CHECK(p <= payload + sizeof payload);
  lt_define(t, LT_DEF_MEMORY, payload, (size_t)(p - payload));
}
