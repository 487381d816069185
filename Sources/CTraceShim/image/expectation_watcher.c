// The recorder's own thread, which notices that deadlines pass.
//
// It is made by the kernel's call, unknown to the C library, with a stack and thread-local memory of the recorder's
// own: no heap image contains its memory. It blocks every signal, and calls only memory primitives of the C library. It
// sleeps while nothing is due.

#define _GNU_SOURCE
#include "image/expectation_watcher.h"

#include "check.h"
#include "image/heap_snapshot.h"
#include "image/own_threads.h"
#include "os/process_identity.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "sampling/sampling_state.h"
#include "thread/hook_switch.h"
#include "thread/own_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

enum {
  STACK_SIZE = 256 << 10,
  IMAGE_LIMIT = 8,
  IMAGE_INTERVAL_NANOSECONDS = 1000000000,
  SHORTEST_SLEEP_NANOSECONDS = 10000000, ///< between two passes over the table
  SECOND = 1000000000,
};

enum { WATCHER_NONE = 0, WATCHER_STARTING = 1, WATCHER_RUNS = 2, WATCHER_REFUSED = 3 };
static bool isOn;
static _Atomic uint32_t state;
static _Atomic uint32_t hasFailed; ///< images will be missing, and the trace has a warning
static _Atomic bool isEnding;
static _Atomic uint32_t wakes; ///< the word that the thread sleeps on

void lt_watcher_reset_after_fork(void) {
  isOn = false;
  atomic_store(&state, WATCHER_NONE);
  atomic_store(&hasFailed, 0);
  atomic_store(&isEnding, false);
  lt_own_threads_set_watcher(0);
}

static void wake(void) {
  atomic_fetch_add(&wakes, 1);
  lt_syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, 1);
}

void lt_watcher_end(void) {
  uint32_t known = atomic_exchange(&state, WATCHER_REFUSED);
  atomic_store(&isEnding, true);
  wake();
  while (known == WATCHER_RUNS && lt_thread_exists(lt_identity_claimant(), lt_own_threads_watcher()) &&
         lt_own_threads_watcher() != lt_thread_id()) {
    wake();
    lt_sleep(SHORTEST_SLEEP_NANOSECONDS / 10);
  }
}

// --- the thread ------------------------------------------------------------------------------------------------------

/// Sleeps for the given time, or until woken. UINT64_MAX: until woken.
static void sleep_nanoseconds(uint64_t nanoseconds, uint32_t seenWakes) {
  struct timespec limit = {.tv_sec = (time_t)(nanoseconds / SECOND), .tv_nsec = (long)(nanoseconds % SECOND)};
  lt_syscall6(SYS_futex, (long)&wakes, FUTEX_WAIT_PRIVATE, seenWakes, nanoseconds == UINT64_MAX ? 0 : (long)&limit, 0,
              0);
}

static void watch(void *unused) {
  (void)unused;
  lt_syscall(SYS_prctl, PR_SET_NAME, "leaktrace", 0);
  char label[LT_EXPECTATION_LABEL_SIZE];
  int images = 0;
  uint64_t lastImage = 0;
  for (;;) {
    uint32_t seenWakes = atomic_load(&wakes);
    while (atomic_load(&isEnding)) lt_syscall(SYS_exit, 0, 0, 0);
    uint64_t deadline = lt_expectations_next_deadline(), now = lt_now();
    if (deadline > now) {
      sleep_nanoseconds(deadline == UINT64_MAX ? UINT64_MAX : lt_nanoseconds_in(deadline - now) + 1, seenWakes);
      continue;
    }
    uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    uint64_t sinceImage = begin - lastImage;
    LT_CHECK(images <= IMAGE_LIMIT);
    // While nothing is recorded, frees are not seen: a watched block may have been freed. Its watch ends without an
    // image.
    bool mayTakeImage =
        images < IMAGE_LIMIT && atomic_load(lt_pause_switch) == LT_SWITCH_RECORD && !lt_snapshot_is_ending();
    bool isTooSoon = mayTakeImage && images > 0 && sinceImage < IMAGE_INTERVAL_NANOSECONDS;
    lt_expectations_take_due(now,
                             !mayTakeImage ? LT_IMAGE_IMPOSSIBLE
                             : isTooSoon   ? LT_IMAGE_LATER
                                           : LT_IMAGE_POSSIBLE,
                             label);
    if (label[0] && lt_snapshot_take(LT_SNAPSHOT_EXPECTATION, label, NULL, LT_SNAPSHOT_FOLLOWS) > 0) {
      images++;
      lastImage = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    }
    // A pass over a full table takes a while: limit it to a tenth of a processor.
    uint64_t pause = 10 * (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin);
    if (isTooSoon && pause < IMAGE_INTERVAL_NANOSECONDS - sinceImage) pause = IMAGE_INTERVAL_NANOSECONDS - sinceImage;
    if (label[0] || pause < SHORTEST_SLEEP_NANOSECONDS) pause = SHORTEST_SLEEP_NANOSECONDS;
    lt_sleep(pause);
  }
}

// --- starting it -----------------------------------------------------------------------------------------------------

static bool start(void) {
  uint8_t *stack = lt_map_private(STACK_SIZE);
  uintptr_t threadPointer = lt_make_thread_local();
  if (!stack || !threadPointer) return false;
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  long made = lt_clone_call(LT_CLONE_THREAD, stack + STACK_SIZE, watch, NULL, NULL, threadPointer);
  lt_restore_signals(before);
  if (made > 0) lt_own_threads_set_watcher((pid_t)made);
  return made > 0;
}

/// Starts the thread unless it runs. False if it cannot be started.
static bool start_once(void) {
  uint32_t known = atomic_load_explicit(&state, memory_order_acquire);
  LT_CHECK(known <= WATCHER_REFUSED);
  if (LT_UNLIKELY(known == WATCHER_NONE) && atomic_compare_exchange_strong(&state, &known, WATCHER_STARTING)) {
    known = start() ? WATCHER_RUNS : WATCHER_REFUSED;
    atomic_store(&state, known);
  }
  return known != WATCHER_REFUSED;
}

// --- expectations ----------------------------------------------------------------------------------------------------

/// Writes a warning to the trace, once, that images will be missing.
static void tell(struct lt_thread *t, const char *text) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&hasFailed, &no, 1)) return;
  uint8_t payload[256], *p = lt_put_string(payload, payload + sizeof payload, text);
  lt_define(t, LT_DEF_WARNING, payload, (size_t)(p - payload));
}

void lt_watcher_init(bool takesSnapshots) { isOn = takesSnapshots; }

void lt_watcher_expect(struct lt_thread *t, const struct lt_expectation *e) {
  // While sampling, most frees are not seen.
  if (!isOn || atomic_load(&lt_is_sampling)) return;
  if (!lt_expectations_have_memory() || !start_once()) {
    tell(t, "heap images at the time of broken expectations are missing: the recorder could not start the thread that "
            "takes them");
    return;
  }
  bool isFirst;
  LT_CHECK(t->number > 0 && e->number > 0);
  if (!lt_expectations_add(e, &isFirst)) {
    lt_trace_add_drop(LT_DROP_EXPECTATION_UNWATCHED);
    tell(t, "too many objects were expected to go at one time to watch them all: heap images of that time may be "
            "missing");
    return;
  }
  if (isFirst) wake();
}
