// The life of the traced process as the recorder sees it: its warnings, and the end of a recording.

#include "process/lifecycle.h"

#include "check.h"
#include "image/expectations.h"
#include "image/heap_snapshot.h"
#include "os/process_info.h"
#include "os/thread_barrier.h"
#include "process/environment.h"
#include "process/recording.h"
#include "process/thread_entry.h"
#include "profile/heap_profile.h"
#include "record/event_buffer.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"

#include <errno.h>

/// When a forked child executes another program, its trace is kept if it has at least this number of events.
enum { WORTH_KEEPING = 1000 };
/// The time to wait for a thread that has just seen that hooks are on. After this time, the thread is marked as inside
/// a hook, or has registered its state.
enum { WAY_IN_NANOSECONDS = 20000000 };
_Static_assert(WAY_IN_NANOSECONDS >= (int)LT_HELD_NANOSECONDS, "lt_thread_await_others relies on this sleep");

// --- news ------------------------------------------------------------------------------------------------------------

/// Writes the changed description if the calling thread records. Otherwise the next thread that calls lt_thread_prepare
/// writes it.
static void announce_changes(void) {
  struct lt_thread *t = lt_description_has_changed() ? lt_enter() : NULL;
  if (t) lt_leave();
}

void lt_process_warn(const char *text, const char *detail) {
  char whole[LT_WARNING_SIZE] = "";
  size_t length = 0;
  for (const char *part = text; part; part = part == text ? detail : NULL)
    for (const char *c = part; *c && length + 1 < sizeof whole; c++) whole[length++] = *c;
  LT_CHECK(length < sizeof whole);
  if (!lt_description_add_warning(whole)) return;
  lt_message(whole, NULL, 0);
  announce_changes();
}

void lt_process_introduce(void) {
  if (lt_enter()) lt_leave();
}

void lt_process_note_swift(bool isPartly) {
  if (lt_description_add_swift(isPartly)) announce_changes();
}

// --- ending ----------------------------------------------------------------------------------------------------------

static void prepare_to_seal(struct lt_thread *self) {
  LT_CHECK(!self || self == lt_tls.thread);
  lt_thread_reap();
  if (!self) return;
  lt_description_put_clock(self);
  lt_recording_keep_up(self);
}

/// Seals everything that all threads have recorded so far. The hooks of other threads may still run. If the trace ends
/// here, it lacks their later records.
static void seal_all(struct lt_thread *self) {
  prepare_to_seal(self);
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) lt_buffer_seal_payloads(t);
}

/// The end of a recording.
struct ending {
  struct lt_thread *self; ///< NULL if the calling thread's last record may be incomplete
  uint32_t reason;
};

static void end(void *ending) {
  const struct ending *e = ending;
  seal_all(e->self);
  lt_trace_close(e->reason, false);
}

/// If there is no memory for a stack, nothing is sealed, but the live file still has all records.
static void end_recording(struct ending ending) { lt_on_own_stack(end, &ending); }

/// The process that is ending, or has ended, its recording; 0 if there is none. The exchange elects one thread.
static _Atomic pid_t finishing;

void lt_process_finish(uint32_t reason) {
  if (!lt_recording_is_on()) return;
  pid_t no = 0;
  if (!atomic_compare_exchange_strong(&finishing, &no, lt_trace.process) && no == lt_trace.process) return;
  lt_due_profiles_finish();
  // A signal handler that ended the process may have interrupted a hook. The interrupted record is then incomplete, and
  // is left out.
  uint32_t depth = lt_tls.hookDepth;
  lt_tls.hookDepth = 1;
  struct lt_thread *self = lt_thread_self();
  if (!self && depth == 0) {
    // This thread has recorded nothing, and perhaps no thread has. Register it, so that the trace describes the process
    // in any case.
    self = lt_thread_prepare();
  }
  lt_hooks_set(LT_HOOKS_OFF);
  end_recording((struct ending){.self = depth == 0 ? self : NULL, .reason = reason});
  LT_CHECK(lt_tls.hookDepth == 1);
  lt_tls.hookDepth = depth;
}

bool lt_process_has_own_memory(void) { return lt_is_recording_process() || !lt_identity_shares_memory(); }

void lt_process_stop(const char *why) {
  if (!lt_identity_shares_memory()) {
    // This is a followed child whose trace has not begun.
    lt_recording_forgo();
    return;
  }
  lt_process_warn(why, NULL);
  lt_due_profiles_end();
  lt_snapshot_end();
  lt_recording_set_stopped();
  lt_serving_end();
  lt_watcher_end();
  lt_environment_stop_following();
  if (lt_trace_is_writable()) lt_trace.status->stopErrno = EPERM;
  lt_process_finish(LT_CLOSE_STOPPED);
  // Other threads may be about to leave a hook, or may have seen just before that hooks are on.
  if (lt_thread_count() > 1) lt_sleep(WAY_IN_NANOSECONDS);
  lt_thread_await_others();
}

/// Waits for threads that are about to enter a hook, then for those inside one.
static bool await_hooks(void) {
  lt_sleep(WAY_IN_NANOSECONDS);
  return lt_thread_await_others();
}

bool lt_process_detach(void) {
  if (!lt_recording_is_on() || lt_tls.hookDepth) return false;
  pid_t no = 0;
  if (!atomic_compare_exchange_strong(&finishing, &no, lt_trace.process)) return false;
  lt_snapshot_end();
  lt_serving_end();
  lt_watcher_end();
  // The description and a clock are written by a thread that records.
  struct lt_thread *self = lt_enter();
  lt_hooks_set(LT_HOOKS_OFF);
  await_hooks();
  end_recording((struct ending){.self = self, .reason = LT_CLOSE_DETACHED});
  if (self) lt_leave();
  lt_recording_set_stopped();
  return true;
}

bool lt_process_forget_recording(void) {
  // If a recording stopped by itself, as on a full disk, hooks are still on.
  lt_hooks_set(LT_HOOKS_OFF);
  if ((lt_trace.live || lt_thread_first()) && !await_hooks()) return false;
  LT_CHECK(lt_tls.hookDepth == 0);
  lt_thread_forget_all();
  lt_recording_forget();
  atomic_store(&finishing, 0);
  return true;
}

/// Appends the unsealed records of the other threads, which end at a successful exec.
static void copy_others(struct lt_thread *self, struct lt_exec_copies *copies) {
  size_t limit = 1; // for the closing record
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) limit += LT_BUFFER_COPIES;
  *copies = (struct lt_exec_copies){.offsets = lt_map_private(limit * sizeof *copies->offsets), .limit = limit};
  if (!copies->offsets) return;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) {
    if (t == self || copies->limit - copies->count <= LT_BUFFER_COPIES) continue;
    copies->count += lt_buffer_copy_payloads(t, copies->offsets + copies->count);
  }
}

/// The end of a recording whose program is about to be replaced.
struct replacement {
  struct lt_thread *self;
  struct lt_exec_copies *copies;
};

static void end_replaced(void *replacement) {
  const struct replacement *r = replacement;
  prepare_to_seal(r->self);
  lt_buffer_seal_payloads(r->self);
  lt_buffer_begin(r->self);
  copy_others(r->self, r->copies);
  uint64_t closing = lt_trace_close(LT_CLOSE_EXEC, true);
  if (closing && r->copies->offsets) r->copies->offsets[r->copies->count++] = closing;
}

void lt_process_after_failed_exec(const struct lt_exec_copies *copies) {
  if (!copies->offsets) return;
  lt_trace_void_chunks(copies->offsets, copies->count);
  lt_unmap(copies->offsets, copies->limit * sizeof *copies->offsets);
}

void lt_process_before_exec(bool isLast, struct lt_exec_copies *copies) {
  *copies = (struct lt_exec_copies){0};
  if (!lt_recording_is_on() || lt_tls.hookDepth) return;
  struct lt_thread *t = lt_enter();
  if (!t) return;
  LT_CHECK(t == lt_tls.thread && lt_tls.hookDepth == 1);
  if (lt_description_is_forked() && lt_trace.status->eventCount == 0 && t->eventCount < WORTH_KEEPING &&
      lt_thread_count() == 1) {
    // This child was made only to run another program.
    lt_hooks_set(LT_HOOKS_OFF);
    lt_trace_discard();
  } else {
    struct replacement replacement = {t, copies};
    // If there is no memory for a stack, the live file stays, and still has all records.
    if (lt_on_own_stack(end_replaced, &replacement) && isLast) lt_trace_leave_behind();
  }
  lt_leave();
}

void lt_process_count_untraced_child(void) {
  if (!lt_settings.followsChildren) atomic_fetch_add(&lt_trace.untracedChildren, 1);
}
