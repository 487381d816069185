// Finds the functions that hooks interpose, and records calls as samples.

#define _GNU_SOURCE
#include "hooks/hook.h"

#include "arch/arch.h"
#include "check.h"
#include "elf/elf_image.h"
#include "image/block_list.h"
#include "image/expectations.h"
#include "image/heap_snapshot.h"
#include "os/os.h"
#include "process/environment.h"
#include "process/recording.h"
#include "process/thread_entry.h"
#include "profile/heap_profile.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "sampling/live_blocks.h"
#include "sampling/sampler.h"

#include <errno.h>

// === next functions ==================================================================================================

// The functions that the hooks interpose.

LT_HOOK_DATA struct lt_next_functions lt_next;

void lt_next_functions_find(struct lt_next_functions *found) {
#define FIND(result, name, parameters) *(void **)&found->name = lt_next_symbol(#name);
  LT_HOOKED_MALLOC_FAMILY(FIND)
#undef FIND
}

// === Swift objects ===================================================================================================

LT_HOOK_DATA uint8_t lt_arc_mode;

// === samples =========================================================================================================

// Samples calls of the allocator. Sampling writes no events and needs no thread. Periodic work runs at sampling checks.

enum {
  /// Bytes that a thread allocates before it checks again whether hooks are on.
  LOOK_AGAIN = 1 << 30,
};
/// The interval between records of totals: 1,440 records a day, of some 50 bytes each.
#define TOTALS_NANOSECONDS 60000000000ull
/// The minimum interval between readings of the kernel's clock. Each reading takes a system call. Threads that allocate
/// gigabytes a second make tens of thousands of sampling checks a second.
#define CLOCK_NANOSECONDS 1000000ull

uint64_t lt_sample_period;

static struct {
  uint64_t seed;
  // Counters and times. They need no order: an exchange elects the thread that does the work.
  _Atomic uint64_t threadCount, fullTables;
  _Atomic uint64_t firstLeft;                ///< number of the next allocations that are all sampled
  _Atomic uint64_t nextTotals;               ///< CLOCK_MONOTONIC
  _Atomic uint64_t lastClock, clockDistance; ///< in the trace's ticks
} sampling;

// --- periodic work ---------------------------------------------------------------------------------------------------

static void put_totals(struct lt_thread *t) {
  struct lt_sample_totals totals = lt_sample_totals();
  const uint64_t values[] = {
      lt_now(),          totals.allocatedObjects, totals.allocatedBytes, totals.freedObjects,
      totals.freedBytes, totals.samples,          totals.unknownStacks,  atomic_load(&sampling.fullTables)};
  uint8_t payload[sizeof values / sizeof *values * 10], *p = payload;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) p = lt_put_varint(p, values[i]);
  lt_define(t, LT_DEF_SAMPLE_TOTALS, payload, (size_t)(p - payload));
}

/// Does the periodic work: due images and profiles, totals, and the work that goes with sealing a chunk. A thread
/// without a state writes totals only if they are one interval overdue. So few threads get a state. `size`: bytes of
/// the current allocation.
static void keep_up(size_t size) {
  LT_CHECK(lt_tls.hookDepth == 1);
  // If the counter has restarted on another machine, the difference is large, and the work is done.
  uint64_t ticks = lt_now(), since = ticks - atomic_load_explicit(&sampling.lastClock, memory_order_relaxed);
  if (since < atomic_load_explicit(&sampling.clockDistance, memory_order_relaxed)) return;
  atomic_store_explicit(&sampling.lastClock, ticks, memory_order_relaxed);
  atomic_store_explicit(&sampling.clockDistance, lt_ticks_in(CLOCK_NANOSECONDS), memory_order_relaxed);
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), due = atomic_load(&sampling.nextTotals);
  lt_due_images_take(now, size);
  lt_due_profiles_take(now);
  lt_snapshot_collect();
  bool isFirst = lt_thread_count() == 0;
  if (!isFirst && now < (lt_tls.thread ? due : due + TOTALS_NANOSECONDS)) return;
  if (!atomic_compare_exchange_strong(&sampling.nextTotals, &due, now + TOTALS_NANOSECONDS)) return;
  struct lt_thread *t = lt_tls.thread && atomic_load(&lt_tls.thread->isReady) ? lt_tls.thread : lt_thread_prepare();
  if (!t) return;
  lt_recording_keep_up(t);
  put_totals(t);
}

// --- samples ---------------------------------------------------------------------------------------------------------

static struct lt_sample_weight weight_of(const struct lt_sampled_block *sample) {
  LT_CHECK(sample->site < LT_SAMPLED_SITE_LIMIT && lt_sample_period > 0);
  return sample->isCertain ? lt_certain_weight(sample->size) : lt_sample_weight(sample->size, lt_sample_period);
}

static void take(void *block, uint64_t size, bool isCertain, struct lt_hook_frame frame) {
  struct lt_sampled_block sample = {
      .size = size, .time = lt_now(), .site = lt_sampled_stack_site(frame), .isCertain = isCertain};
  LT_CHECK(block && sample.site < LT_SAMPLED_SITE_LIMIT && lt_tls.hookDepth == 1);
  struct lt_sampled_block before;
  // If an earlier block at this address is still in the table, its free was not seen. Count that free now.
  if (lt_is_marked(block) && lt_sampled_blocks_remove((uintptr_t)block, &before))
    lt_sampled_site_freed(before.site, weight_of(&before));
  if (!lt_sampled_blocks_add((uintptr_t)block, &sample)) {
    // Count neither the allocation of the block nor its free. So the estimate of live memory stays right.
    atomic_fetch_add(&sampling.fullTables, 1);
    return;
  }
  lt_sampled_site_allocated(sample.site, weight_of(&sample));
}

/// Bytes until the thread's next sampling check.
static uint64_t *until_sample(void) { return lt_keeps_blocks ? &lt_tls.untilKeptSample : &lt_tls.untilSample; }

/// True if the allocation is one of the first, which are all sampled. So the trace has the stacks of all blocks of a
/// small program. It also has the stacks of the blocks that a server keeps from its start.
static bool is_one_of_first(void) {
  uint64_t left = atomic_load_explicit(&sampling.firstLeft, memory_order_relaxed);
  // Stacks of a deep recursion at the start must not use up the room for all later stacks.
  if (left && !lt_sampled_sites_have_spare_room()) atomic_store(&sampling.firstLeft, left = 0);
  while (left && !atomic_compare_exchange_weak(&sampling.firstLeft, &left, left - 1)) {}
  return left;
}

/// True if the allocation is sampled. Sets `isCertain` if it is sampled as one of the first.
static bool is_sampled(uint64_t size, bool *isCertain) {
  struct lt_tls *tls = &lt_tls;
  uint64_t *until = until_sample();
  *isCertain = false;
  LT_CHECK(lt_sample_period > 0);
  if (!tls->sampleRandom) {
    if (is_one_of_first()) {
      *until = 0; // every allocation is checked
      return *isCertain = true;
    }
    // This is the thread's first allocation that is not certain to be sampled, or the first after a pause. Each thread
    // gets its own seed; the sequences practically never overlap.
    uint64_t start = sampling.seed + (atomic_fetch_add(&sampling.threadCount, 1) + 1) * 0xD1342543DE82EF95ull;
    tls->sampleRandom = (start ^ start >> 32) * 0xAEF17502108EF2D9ull | 1;
    *until = lt_sample_distance(&tls->sampleRandom, lt_sampling_check_period(lt_sample_period));
  }
  LT_CHECK(tls->sampleRandom && *until > 0);
  return lt_sample_meets(&tls->sampleRandom, until, size, lt_sample_period);
}

/// True if samples are taken in this process now. If not, sets when the thread checks again.
static bool is_on(void) {
  // Sequentially consistent: comes after lt_set_inside, and pairs with the store in lt_hooks_set.
  bool isOn = atomic_load(&lt_hook_mode) != LT_HOOKS_OFF && lt_process_is_ours() && lt_trace_is_writable();
  if (isOn && LT_UNLIKELY(lt_pause_state() == LT_SWITCH_SNAPSHOT)) lt_snapshot_at_switch();
  isOn = isOn && lt_pause_state() == LT_SWITCH_RECORD;
  if (!isOn) {
    *until_sample() =
        atomic_load_explicit(&lt_hook_mode, memory_order_relaxed) == LT_HOOKS_OFF ? LOOK_AGAIN : lt_sample_period;
    lt_tls.sampleRandom = 0; // draw a new distance to the next sample
  }
  return isOn;
}

LT_NOINLINE void lt_light_allocated(void *block, size_t size, struct lt_hook_frame frame) {
  if (lt_keeps_blocks) {
    lt_live_set_add((uintptr_t)block, size);
    if (lt_subtract(&lt_tls.untilKeptSample, size)) return;
    lt_tls.untilKeptSample += size;
  }
  if (lt_tls.hookDepth) return; // in a signal handler that interrupted the recorder: skip this check
  LT_CHECK(lt_sample_period > 0);
  lt_set_inside();
  if (is_on()) {
    bool isCertain;
    if (is_sampled(size, &isCertain)) take(block, size, isCertain, frame);
    keep_up(size);
    LT_CHECK(lt_tls.hookDepth == 1);
  }
  __atomic_store_n(&lt_tls.hookDepth, 0, __ATOMIC_RELEASE); // as in lt_leave
}

LT_NOINLINE void lt_light_freed(void *block) {
  if (lt_keeps_blocks) lt_live_set_remove((uintptr_t)block);
  struct lt_sampled_block sample;
  if (lt_sampled_blocks_remove((uintptr_t)block, &sample)) lt_sampled_site_freed(sample.site, weight_of(&sample));
  lt_expectations_freed(block);
}

LT_NOINLINE void lt_light_restored(void *block, const struct lt_sampled_block *sample) {
  LT_CHECK(sample->site < LT_SAMPLED_SITE_LIMIT);
  if (lt_sampled_blocks_add((uintptr_t)block, sample)) lt_sampled_site_undo_free(sample->site, weight_of(sample));
}

// --- beginning -------------------------------------------------------------------------------------------------------

static void begin_samples(void) {
  lt_arc_mode = LT_ARC_OFF;
  // From here on hooks write no events. Every free is still checked until the marks are released. The release keeps the
  // marks that were added before.
  lt_sample_period = lt_settings.laterSamplePeriod;
  LT_CHECK(lt_sample_period > 0 && lt_sample_period <= LT_SAMPLE_PERIOD_LIMIT);
  lt_sampled_marks_release();
}

static void put_limit(struct lt_thread *t) {
  uint8_t payload[30], *p = lt_put_varint(payload, lt_now());
  p = lt_put_varint(lt_put_varint(p, lt_settings.traceLimit), lt_settings.laterSamplePeriod);
  lt_define(t, LT_DEF_LIMIT, payload, (size_t)(p - payload));
}

/// Switches to sampling. A thread that is recording an event may still write it. That event's time is after the
/// limit's, so readers skip it.
static bool go_over(struct lt_thread *t) {
  LT_CHECK(!lt_sample_period && t == lt_tls.thread);
  // First take the last image with events. If another image is being taken, try again later. A process that takes no
  // images switches without one.
  if (lt_snapshot_at_limit() == -EBUSY) return false;
  put_limit(t);
  atomic_store(&lt_is_sampling, true);
  begin_samples();
  lt_expectations_forget_all();
  lt_message("note: a trace has reached its limit, and has samples and heap images from then on:", lt_trace.file.path,
             0);
  return true;
}

void lt_light_after_fork(void) {
  if (atomic_load(&lt_is_sampling) && !lt_sample_period) begin_samples();
}

bool lt_light_begin(void) {
  lt_sample_period = lt_settings.samplePeriod;
  atomic_store(&sampling.firstLeft, lt_sample_period ? lt_settings.firstSamples : 0);
  atomic_store(&lt_is_sampling, lt_sample_period != 0);
  lt_trace_limit_observe(go_over);
  if (!lt_sample_period && !lt_settings.traceLimit) return true;
  sampling.seed = lt_random();
  if (!lt_sampled_sites_begin() || !lt_sampled_blocks_begin()) return false;
  if (!lt_sample_period) lt_sampled_marks_hold();
  return true;
}

void lt_light_open(void) {
  if ((!lt_sample_period && !lt_settings.traceLimit) || atomic_load(&lt_hook_mode) == LT_HOOKS_OFF) return;
  // Write the trace's description and its loaded images before the first sample.
  struct lt_thread *t = lt_sample_period ? lt_enter() : NULL;
  if (t) lt_leave();
  if (lt_sample_period && lt_settings.takesSnapshots && !lt_block_list_may_read_metadata() && lt_live_set_begin()) {
    lt_sampled_marks_hold();
    lt_tls.untilSample = 0; // from now on, check every allocation: the loader's allocations may have set a distance
  }
  // Make hooks check the frees of blocks in the bootstrap arena: the next allocator must not free them.
  for (uintptr_t at = (uintptr_t)lt_bootstrap_arena; at < lt_bootstrap_used_end(); at += 16) lt_sampled_marks_add(at);
  lt_sampled_marks_use();
}
