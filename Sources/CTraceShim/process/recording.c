// Begins a recording, describes the process in the trace, and notices when the trace reaches its limit.

#define _GNU_SOURCE
#include "process/recording.h"

#include "check.h"
#include "image/expectations.h"
#include "image/heap_snapshot.h"
#include "os/os.h"
#include "os/process_info.h"
#include "process/environment.h"
#include "profile/heap_profile.h"
#include "record/definitions.h"
#include "record/event_buffer.h"
#include "record/event_recorder.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "sampling/sampler.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

// === description =====================================================================================================

enum { WARNING_LIMIT = 4 };

static struct {
  _Atomic uint32_t isWritten;
  _Atomic uint32_t isOld; ///< the members below have changed since the description was written
  bool isForked, isJoined, hasOtherThreads, lacksThreads, hasSwiftHooks, isSwiftStatic;
  char warnings[WARNING_LIMIT][LT_WARNING_SIZE];
  int warningCount, writtenWarnings; ///< writtenWarnings ≤ warningCount ≤ WARNING_LIMIT
  char programName[256], programPath[PATH_MAX];
} process;

void lt_description_name_program(void) {
  long n = lt_readlink("/proc/self/exe", process.programPath, sizeof process.programPath - 1);
  process.programPath[n > 0 ? n : 0] = 0;
  const char *slash = strrchr(process.programPath, '/');
  strncpy(process.programName, slash ? slash + 1 : "program", sizeof process.programName - 1);
}

const char *lt_description_program_name(void) { return process.programName; }

// --- writing it ------------------------------------------------------------------------------------------------------

void lt_description_put_clock(struct lt_thread *t) {
  uint8_t payload[32], *p = payload;
  uint64_t now = lt_now();
  p = lt_put_varint(p, now);
  p = lt_put_varint(p, lt_clock_nanoseconds(CLOCK_MONOTONIC));
  p = lt_put_varint(p, lt_clock_nanoseconds(CLOCK_BOOTTIME));
  lt_define(t, LT_DEF_CLOCK, payload, (size_t)(p - payload));
}

/// Writes the description of the process, and the warnings that are not yet written. Called by one thread at a time.
static void describe(void *thread) {
  struct lt_thread *t = thread;
  LT_CHECK(t->number > 0);
  LT_CHECK(process.warningCount <= WARNING_LIMIT && process.writtenWarnings <= process.warningCount);
  uint8_t payload[4096], *p = payload;
  p = lt_put_string(p, payload + sizeof payload - 16, process.programPath);
  p = lt_put_varint(p, (process.hasSwiftHooks ? LT_PROCESS_SWIFT_HOOKS : 0u) |
                           (process.isSwiftStatic ? LT_PROCESS_SWIFT_STATIC : 0u) |
                           (process.isForked ? LT_PROCESS_FORKED : 0u) | (process.isJoined ? LT_PROCESS_ATTACHED : 0u) |
                           (process.lacksThreads ? LT_PROCESS_THREADS_MISSING : 0u));
  lt_define(t, LT_DEF_PROCESS, payload, (size_t)(p - payload));
  while (process.writtenWarnings < process.warningCount) {
    p = lt_put_string(payload, payload + sizeof payload, process.warnings[process.writtenWarnings++]);
    lt_define(t, LT_DEF_WARNING, payload, (size_t)(p - payload));
  }
}

void lt_description_begin(struct lt_thread *t) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&process.isWritten, &no, 1)) return;
  // Pairs with the fence in lt_description_has_changed: this thread describes the change, or that one sees isWritten.
  atomic_thread_fence(memory_order_seq_cst);
  process.writtenWarnings = 0;
  describe(t);
  lt_description_put_clock(t);
  lt_image_list_refresh(t);
}

void lt_description_renew(struct lt_thread *t) {
  uint32_t yes = 1;
  LT_CHECK(t == lt_tls.thread);
  if (atomic_load(&process.isWritten) && atomic_compare_exchange_strong(&process.isOld, &yes, 0))
    lt_on_own_stack(describe, t);
}

// --- news ------------------------------------------------------------------------------------------------------------

bool lt_description_add_swift(bool isPartly) {
  if (process.hasSwiftHooks && (process.isSwiftStatic || !isPartly)) return false;
  process.hasSwiftHooks = true;
  process.isSwiftStatic |= isPartly;
  return true;
}

bool lt_description_add_warning(const char text[LT_WARNING_SIZE]) {
  LT_CHECK(strnlen(text, LT_WARNING_SIZE) < LT_WARNING_SIZE);
  LT_CHECK(process.warningCount >= 0 && process.warningCount <= WARNING_LIMIT);
  for (int i = 0; i < process.warningCount; i++)
    if (strcmp(process.warnings[i], text) == 0) return false;
  if (process.warningCount < WARNING_LIMIT) memcpy(process.warnings[process.warningCount++], text, LT_WARNING_SIZE);
  return true;
}

bool lt_description_has_changed(void) {
  // Comes after the change. Pairs with the fence in lt_description_begin.
  atomic_thread_fence(memory_order_seq_cst);
  if (!atomic_load(&process.isWritten)) return false;
  // Pairs with the exchange in lt_description_renew, which reads the change.
  atomic_store(&process.isOld, 1);
  lt_thread_send_to_prepare();
  return true;
}

void lt_description_join(void) {
  atomic_store(&process.isWritten, 0);
  atomic_store(&process.isOld, 0);
  process.isJoined = true;
  process.hasSwiftHooks = process.isSwiftStatic = false;
  process.warningCount = process.writtenWarnings = 0;
}

void lt_description_note_threads(bool hasOthers) { process.hasOtherThreads = hasOthers; }

void lt_description_reset_after_fork(void) {
  atomic_store(&process.isWritten, 0);
  process.isForked = true;
  process.lacksThreads |= process.hasOtherThreads;
}

bool lt_description_is_forked(void) { return process.isForked; }

// === limit ===========================================================================================================

/// States of the limit. One thread switches to sampling, once. The size is checked where chunks are sealed, on a stack
/// of the recorder's own. But the last image must be taken by a hook on the program's stack, so the switch happens
/// later.
enum { LIMIT_NONE = 0, LIMIT_AHEAD = 1, LIMIT_REACHED = 2, LIMIT_AT_WORK = 3 };

static struct {
  uint64_t bytes;
  _Atomic uint32_t state; ///< each exchange from one state to the next is made by one thread
  bool (*goOver)(struct lt_thread *);
} traceLimit;

void lt_trace_limit_observe(bool (*function)(struct lt_thread *)) { traceLimit.goOver = function; }

void lt_trace_limit_begin(uint64_t bytes) {
  traceLimit.bytes = bytes;
  LT_CHECK(!bytes || lt_trace_is_writable());
  atomic_store(&traceLimit.state, bytes && traceLimit.goOver ? LIMIT_AHEAD : LIMIT_NONE);
}

void lt_trace_limit_check(void) {
  uint32_t ahead = LIMIT_AHEAD;
  if (atomic_load_explicit(&traceLimit.state, memory_order_relaxed) != LIMIT_AHEAD || !lt_trace_is_writable() ||
      atomic_load((_Atomic uint64_t *)&lt_trace.status->dataEnd) < traceLimit.bytes ||
      !atomic_compare_exchange_strong(&traceLimit.state, &ahead, LIMIT_REACHED))
    return;
  lt_thread_send_to_prepare();
}

void lt_trace_limit_heed(struct lt_thread *t) {
  uint32_t reached = LIMIT_REACHED;
  // A child made by vfork shares this memory, and must not take an image of it.
  if (atomic_load_explicit(&traceLimit.state, memory_order_relaxed) != LIMIT_REACHED || !lt_is_recording_process() ||
      !atomic_compare_exchange_strong(&traceLimit.state, &reached, LIMIT_AT_WORK))
    return;
  LT_CHECK(traceLimit.goOver && t == lt_tls.thread && lt_tls.hookDepth == 1);
  atomic_store(&traceLimit.state, traceLimit.goOver(t) ? LIMIT_NONE : LIMIT_AHEAD);
}

// === beginning =======================================================================================================

static struct {
  struct lt_recording_observer observer;
  /// this is a followed child, and its trace begins with its first event. The exchange to 0 elects one thread
  _Atomic uint32_t isForkPending;
} recording;

void lt_recording_observe(struct lt_recording_observer made) { recording.observer = made; }

void lt_recording_set_stopped(void) {
  if (recording.observer.stopped) recording.observer.stopped();
}

bool lt_recording_is_on(void) { return lt_trace_is_writable() && lt_is_recording_process(); }

void lt_recording_keep_up(struct lt_thread *t) {
  LT_CHECK(t == lt_tls.thread && t->number > 0);
  lt_snapshot_collect();
  lt_image_list_refresh(t);
  lt_memory_sample(t);
  lt_trace_limit_check();
}

/// The sample period of the trace to open. If a process has switched to sampling, its children sample from their
/// beginning.
static uint64_t sample_period(void) { return atomic_load(&lt_is_sampling) ? lt_settings.laterSamplePeriod : 0; }

static bool open_trace(void) {
  if (!lt_identity_claim()) return false;
  if (lt_settings.outputError) {
    lt_message("not tracing: no path for the trace, neither as it was given nor from the working directory", NULL,
               -lt_settings.outputError);
    return false;
  }
  struct lt_trace_options options = {.pattern = lt_settings.output,
                                     .session = lt_settings.session,
                                     .arcMode = lt_settings.arcMode,
                                     .depthLimit = lt_settings.depthLimit,
                                     .samplePeriod = sample_period(),
                                     .takesImagesBack = lt_settings.takesSnapshots && lt_settings.keptImages};
  uint64_t limit = options.samplePeriod ? 0 : lt_settings.traceLimit;
  if (options.samplePeriod) {
    options.flags |= LT_OPTION_LIGHT;
    options.firstSamples = lt_settings.firstSamples;
  }
  LT_CHECK(!options.samplePeriod || !limit);
  if (limit) {
    options.flags |= LT_OPTION_LIMITED;
    options.samplePeriod = lt_settings.laterSamplePeriod;
  }
  if (lt_settings.followsChildren) options.flags |= LT_OPTION_FOLLOW_CHILDREN;
  if (lt_settings.startsPaused) options.flags |= LT_OPTION_START_PAUSED;
  if (lt_settings.verifiesStacks) options.flags |= LT_OPTION_VERIFY_STACKS;
  if (!lt_trace_open(&options, lt_description_program_name())) return false;
  lt_buffer_on_seal(lt_recording_keep_up);
  lt_snapshot_init(lt_settings.takesSnapshots, lt_settings.keptImages);
  lt_due_images_begin(lt_settings.imageInterval, lt_settings.imageSize);
  lt_due_profiles_begin(lt_settings.profileInterval, lt_settings.laterSamplePeriod);
  lt_trace_limit_begin(limit);
  lt_trace_clock_begin();
  lt_watcher_init(lt_settings.takesSnapshots);
  if (lt_settings.takesSnapshots) {
    if (recording.observer.takesSnapshots) recording.observer.takesSnapshots();
    lt_serving_init();
  }
  return true;
}

static void open_trace_of_child(void *isOpen) { *(bool *)isOpen = open_trace(); }

bool lt_recording_begin(void) {
  LT_CHECK(atomic_load(&lt_hook_mode) == LT_HOOKS_OFF);
  lt_description_name_program();
  return lt_stack_capture_init(lt_settings.depthLimit, lt_settings.verifiesStacks) && open_trace();
}

void lt_recording_forgo(void) {
  lt_hooks_set(LT_HOOKS_OFF);
  atomic_store(&recording.isForkPending, 0);
}

void lt_recording_forget(void) {
  LT_CHECK(!lt_thread_first());
  LT_CHECK(atomic_load(&lt_hook_mode) == LT_HOOKS_OFF);
  lt_snapshot_forget();
  lt_expectations_reset_after_fork();
  lt_watcher_reset_after_fork();
  lt_trace_forget();
  lt_pause_notes_reset_after_fork();
  lt_type_table_reset();
  lt_image_list_reset();
  lt_stack_capture_invalidate();
}

// --- fork ------------------------------------------------------------------------------------------------------------

void lt_process_after_fork(void) {
  lt_hooks_set(LT_HOOKS_OFF);
  lt_environment_block_reset_after_fork();
  lt_snapshot_reset_after_fork();
  lt_expectations_reset_after_fork();
  lt_watcher_reset_after_fork();
  lt_trace_reset_after_fork();
  lt_own_stack_reset_after_fork();
  lt_sampled_stacks_reset_after_fork();
  lt_due_profiles_reset_after_fork();
  lt_thread_reset_after_fork();
  LT_CHECK(!lt_thread_first() && !lt_tls.thread && lt_tls.hookDepth == 0);
  lt_pause_notes_reset_after_fork();
  if (!lt_settings.followsChildren) return;
  lt_type_table_reset();
  lt_image_list_reset();
  lt_stack_capture_invalidate();
  lt_description_reset_after_fork();
  if (recording.observer.forked) recording.observer.forked();
  // The child inherits the parent's sampled blocks and their stacks, but counts from 0.
  lt_sampled_sites_reset();
  atomic_store(&recording.isForkPending, 1);
  lt_hooks_set(LT_HOOKS_ON);
}

bool lt_process_is_ours(void) {
  if (LT_UNLIKELY(atomic_load(&recording.isForkPending))) {
    uint32_t yes = 1;
    if (!atomic_compare_exchange_strong(&recording.isForkPending, &yes, 0)) return false;
    bool isOpen = false;
    lt_on_own_stack(open_trace_of_child, &isOpen);
    if (!isOpen) {
      lt_hooks_set(LT_HOOKS_OFF);
      return false;
    }
    return true;
  }
  if (LT_LIKELY(lt_is_recording_process())) return true;
  // A child made by vfork shares the memory of the traced process. It must not write to that process's trace, or change
  // the recorder's state.
  if (lt_identity_shares_memory()) return false;
  // This is a child whose fork bypassed the C library.
  uint32_t depth = lt_tls.hookDepth;
  LT_CHECK(depth <= 1);
  lt_process_after_fork();
  lt_tls.hookDepth = depth;
  return lt_settings.followsChildren && lt_process_is_ours();
}
