#include "image/due_images.h"

#include "CTraceFormat.h"
#include "arch/compiler.h"
#include "check.h"
#include "image/heap_snapshot.h"
#include "os/os.h"
#include "os/resident_size.h"

#include <stdatomic.h>

/// The interval between readings of the resident size. Memory that fills faster is noticed at the next reading.
#define LOOK_NANOSECONDS 5000000000ull
/// The interval between images of a process that stays large, so that comparing them shows which objects grow.
#define LARGE_NANOSECONDS 600000000000ull

static uint64_t interval, residentLimit;
static _Atomic uint64_t nextImage = UINT64_MAX, nextLook = UINT64_MAX, nextLarge;

void lt_due_images_begin(uint64_t every, uint64_t resident) {
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  interval = every;
  residentLimit = resident;
  atomic_store(&nextImage, every ? now + every : UINT64_MAX);
  atomic_store(&nextLook, resident ? now : UINT64_MAX);
  atomic_store(&nextLarge, 0);
}

/// True if a time was reached at least `patience` ago; then sets the next one. Only one of several threads gets true.
static bool is_over(_Atomic uint64_t *time, uint64_t now, uint64_t patience, uint64_t distance) {
  uint64_t due = atomic_load_explicit(time, memory_order_relaxed);
  LT_CHECK(distance > 0 || now < due);
  return LT_UNLIKELY(now >= due) && now - due >= patience && atomic_compare_exchange_strong(time, &due, now + distance);
}

void lt_due_images_take(uint64_t now, size_t size) {
  // The memory of a growing collection is large, so it meets more samples than all other blocks. The collection's field
  // is empty at that moment: image after image would show that it holds nothing.
  enum { LARGEST_CALM_SIZE = 2048 };
  bool isCalm = size <= LARGEST_CALM_SIZE;
  uint32_t reason = 0;
  if (is_over(&nextImage, now, isCalm ? 0 : interval / 2, interval)) reason = LT_SNAPSHOT_INTERVAL;
  else if (is_over(&nextLook, now, isCalm ? 0 : LOOK_NANOSECONDS, LOOK_NANOSECONDS) &&
           lt_resident_size() > residentLimit && is_over(&nextLarge, now, 0, LARGE_NANOSECONDS))
    reason = LT_SNAPSHOT_SIZE;
  if (reason) lt_snapshot_take(reason, NULL, NULL, LT_SNAPSHOT_RETURNS);
}
