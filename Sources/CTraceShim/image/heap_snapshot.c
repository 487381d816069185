// Takes heap images: at a request of the program or a signal, at an interval, and for a requester outside.

#define _GNU_SOURCE
#include "image/heap_snapshot.h"

#include "CTraceFormat.h"
#include "arch/arch.h"
#include "check.h"
#include "elf/elf_image.h"
#include "image/snapshot_writer.h"
#include "image/thread_freeze.h"
#include "image/thread_stop.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/definitions.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "sampling/sampler.h"
#include "thread/thread_state.h"
#include "unwind/unwind_step.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

// === images ==========================================================================================================

// Decides when to take heap images of the running process, and on what thread. Calls nothing that allocates or locks.

enum {
  STACK_SIZE = 256 << 10,
  THREAD_LIMIT = 1 << 16,
  WAIT_SECONDS = 300, ///< the longest time that the process waits for an image to be written
};

/// The user of the state below: none, the thread that takes a snapshot, the copy that writes it, or the thread that
/// cleans up afterwards.
enum { OWNER_NONE = 0, OWNER_TAKING = 1, OWNER_WRITING = 2, OWNER_COLLECTING = 3 };

static struct {
  bool isOn;
  _Atomic uint32_t owner; ///< each change pairs with the next one: the owner sees all that earlier owners wrote
  _Atomic uint32_t lastNumber;
  _Atomic uint64_t lastBegan; ///< nanoseconds of CLOCK_MONOTONIC; 0 before the first snapshot
  _Atomic uint32_t exitState; ///< 0; 1 once the snapshot at the process's end was begun
  struct lt_snapshot_progress *progress;
  struct lt_snapshot_job job;
  struct lt_kept_images *kept;
  struct lt_freeze freeze;
  uint8_t *stack;
  _Atomic pid_t copy;     ///< the process that writes the image
  _Atomic bool isHeld;    ///< no image may be taken yet; a release pairs with the acquire in `take`
  bool isServed;          ///< the thread that takes the snapshot is the recorder's own
  uintptr_t exitFunction; ///< address of the C library's exit
} snapshots;

/// True if there is memory for an image.
LT_INVARIANT bool has_memory(void) { return snapshots.progress && snapshots.stack && snapshots.job.threads; }

void lt_snapshot_init(bool on, uint32_t keptImages) {
  snapshots.isOn = on;
  if (!on) return;
  // Look this up in the constructor, because later another thread may hold the loader's lock.
  if (!snapshots.exitFunction) snapshots.exitFunction = (uintptr_t)lt_next_symbol("exit");
  // An earlier recording of this process may have left this memory. Its counts of chunks must not continue.
  if (snapshots.progress) memset(snapshots.progress, 0, sizeof *snapshots.progress);
  else snapshots.progress = lt_map_shared(lt_page_size());
  if (!snapshots.stack) snapshots.stack = lt_map_private(STACK_SIZE);
  if (!snapshots.job.threads) snapshots.job.threads = lt_map_shared(THREAD_LIMIT * sizeof *snapshots.job.threads);
  if (!snapshots.progress || !snapshots.stack || !snapshots.job.threads || !lt_freeze_init()) snapshots.isOn = false;
  // The unused pages of this mapping take no memory.
  if (keptImages && !snapshots.kept) snapshots.kept = lt_map_shared(sizeof *snapshots.kept);
  snapshots.job.kept = keptImages ? snapshots.kept : NULL;
  if (!snapshots.job.kept) return;
  snapshots.job.kept->count = 0;
  snapshots.job.kept->firstOffset = 0;
  snapshots.job.kept->limit = keptImages;
}

void lt_snapshot_list_blocks(void) { snapshots.job.listsBlocks = true; }

void lt_snapshot_hold(bool isHeld) { atomic_store_explicit(&snapshots.isHeld, isHeld, memory_order_release); }

void lt_snapshot_forget(void) {
  snapshots.isOn = false;
  atomic_store(&snapshots.owner, OWNER_NONE);
  atomic_store(&snapshots.lastNumber, 0);
  atomic_store(&snapshots.lastBegan, 0);
  atomic_store(&snapshots.exitState, 0);
}

void lt_snapshot_reset_after_fork(void) {
  // Memory shared with the parent belongs to the parent. The other memory is mapped again for the child's own trace.
  snapshots.progress = NULL;
  snapshots.kept = NULL;
  snapshots.stack = NULL;
  snapshots.job.threads = NULL;
  lt_snapshot_forget();
  lt_freeze_reset();
  lt_child_usage_reset();
}

static bool is_possible(void) { return snapshots.isOn && lt_trace_is_writable() && lt_is_recording_process(); }

// --- after it --------------------------------------------------------------------------------------------------------

/// Reports why there is no image, to the requester and to readers of the trace.
static void report_failure(int error) {
  LT_CHECK(error > 0 && has_memory());
  lt_trace.live->snapshotError = error;
  lt_trace.live->snapshotNumber = snapshots.job.snapshot.number;
  atomic_store((_Atomic uint32_t *)&lt_trace.live->snapshotsAnswered, snapshots.job.asked);
  struct lt_snapshot_end end = {.number = snapshots.job.snapshot.number, .error = error};
  lt_snapshot_append_end(&end, snapshots.job.snapshot.time ? snapshots.job.snapshot.time : lt_now(),
                         snapshots.progress);
}

bool lt_snapshot_is_helper(pid_t child) {
  return child > 0 && (child == atomic_load(&snapshots.copy) || child == atomic_load(&snapshots.freeze.copy) ||
                       child == atomic_load(&snapshots.freeze.tracer));
}

/// Cleans up after the copy if the copy has finished or was killed. Returns true if so. Signals must be blocked.
/// Otherwise, a handler could call this function in the middle of the cleanup, and would wait for its own thread.
static bool collect_undisturbed(void) {
  uint32_t writing = OWNER_WRITING;
  LT_CHECK(has_memory());
  bool isDone = atomic_load(&snapshots.progress->state) == LT_SNAPSHOT_DONE;
  if (!atomic_compare_exchange_strong(&snapshots.owner, &writing, OWNER_COLLECTING)) return writing == OWNER_NONE;
  // A copy ends immediately after it has reported its work as done, so this wait is short.
  long result = lt_reap(atomic_load(&snapshots.copy), isDone ? 0 : WNOHANG);
  bool isGone = isDone || result != 0;
  if (isGone) {
    // The copy may have finished between the two checks.
    isDone = atomic_load(&snapshots.progress->state) == LT_SNAPSHOT_DONE;
    // A copy that has ended without a report was killed, for example by the kernel when memory was short.
    int error = isDone ? atomic_load(&snapshots.progress->error) : ECHILD;
    if (!isDone) report_failure(error);
    if (error) lt_message("a heap snapshot is missing from", lt_trace.file.path, error);
  }
  LT_CHECK(atomic_load(&snapshots.owner) == OWNER_COLLECTING);
  atomic_store(&snapshots.owner, isGone ? OWNER_NONE : OWNER_WRITING);
  return isGone;
}

static bool collect(void) {
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  bool result = collect_undisturbed();
  lt_restore_signals(before);
  return result;
}

void lt_snapshot_collect(void) {
  if (LT_LIKELY(atomic_load_explicit(&snapshots.owner, memory_order_relaxed) != OWNER_WRITING)) return;
  if (is_possible() && atomic_load(&snapshots.progress->state) == LT_SNAPSHOT_DONE) collect();
}

void lt_snapshot_finish(void) {
  if (!is_possible()) return;
  uint64_t deadline = lt_clock_nanoseconds(CLOCK_MONOTONIC) + WAIT_SECONDS * 1000000000ull;
  while (atomic_load(&snapshots.owner) != OWNER_NONE && lt_clock_nanoseconds(CLOCK_MONOTONIC) < deadline) {
    if (atomic_load(&snapshots.owner) == OWNER_WRITING && collect()) return;
    struct timespec limit = {.tv_nsec = 20000000};
    lt_syscall6(SYS_futex, (long)&snapshots.progress->state, FUTEX_WAIT, LT_SNAPSHOT_WRITING, (long)&limit, 0, 0);
  }
}

// --- taking it -------------------------------------------------------------------------------------------------------

static void write_in_copy(void *unused) {
  (void)unused;
  LT_CHECK(snapshots.freeze.threadCount > (uint32_t)snapshots.isServed && snapshots.freeze.threadCount <= THREAD_LIMIT);
  // This changes only the copy. The process's own list stays unchanged for the next image.
  snapshots.job.threads += snapshots.isServed;
  snapshots.job.threadCount = snapshots.freeze.threadCount - snapshots.isServed;
  snapshots.job.snapshot.flags = LT_SNAPSHOT_REFERENCE_TAGS | LT_SNAPSHOT_CASE_BYTES | LT_SNAPSHOT_VALUE_CASE_BYTES |
                                 (LT_ELF_MACHINE == LT_MACHINE_ARM64 ? LT_SNAPSHOT_ARM64 : 0);
  if (snapshots.freeze.isFrozen) snapshots.job.snapshot.flags |= LT_SNAPSHOT_FROZEN;
  if (atomic_load(&lt_is_sampling)) snapshots.job.snapshot.flags |= LT_SNAPSHOT_LISTED;
  lt_snapshot_write(&snapshots.job, snapshots.progress);
}

static void note_time(void *unused) {
  (void)unused;
  snapshots.job.snapshot.time = lt_now();
  snapshots.job.snapshot.monotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC);
}

/// Takes the snapshot, without waiting for its image. Runs on a separate stack, since the host's stack may be nearly
/// full, or small.
static void begin(void *unused) {
  (void)unused;
  LT_CHECK(atomic_load(&snapshots.owner) == OWNER_TAKING && has_memory());
  snapshots.job.process = lt_trace.process;
  snapshots.job.recorderBytes = lt_recorder_bytes();
  snapshots.job.peakResident = lt_peak_resident_size();
  snapshots.job.asked = atomic_load((_Atomic uint32_t *)&lt_trace.live->snapshotsAsked);
  snapshots.job.snapshot.staticTLSSize = lt_static_tls_size();
  snapshots.freeze.process = lt_trace.process;
  snapshots.freeze.threads = snapshots.job.threads;
  snapshots.freeze.threadLimit = THREAD_LIMIT;
  snapshots.freeze.copied = write_in_copy;
  snapshots.freeze.stopped = note_time;
  snapshots.freeze.pauseNanoseconds = &snapshots.progress->pauseNanoseconds;
  snapshots.freeze.claim = &snapshots.progress->claim;
  atomic_store(&snapshots.progress->pauseNanoseconds, LT_SNAPSHOT_PAUSE_UNKNOWN);
  atomic_store(&snapshots.progress->error, 0);
  atomic_store(&snapshots.progress->state, LT_SNAPSHOT_WRITING);
  lt_trace_begin_copy();
  lt_freeze_and_copy(&snapshots.freeze);
  lt_trace_end_copy();
}

/// Returns the frame of the function that the host called. The frame pointer links the frames of this library. Words in
/// the frames below the returned one are not references of the host.
static LT_ALWAYS_INLINE const uintptr_t *outermost_own_frame(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  for (int i = 0; i < 32; i++) {
    uintptr_t caller = frame[1];
    if (!lt_is_own_address(caller)) break;
    const uintptr_t *next = (const uintptr_t *)frame[0];
    if (next <= frame) break;
    frame = next;
  }
  return frame;
}

/// True for code of the C library, the loader and this library. At a thread's end, frames of the C library and the
/// loader lie between the host's frames and this library's. They hold no references.
static bool is_passed(uintptr_t address) {
  return lt_image_list_has_both(address, (uintptr_t)getauxval) || lt_image_list_has_both(address, getauxval(AT_BASE)) ||
         lt_is_own_address(address);
}

/// Fills in the calling thread's registers. They are from the host's call of this library, or from the point where a
/// signal interrupted the thread. Memory below the stack pointer is not in use, except for the part that the ABI lets
/// an interrupted function use. `isInHook` is true in a hook that is about to release something.
static LT_ALWAYS_INLINE void describe_self(struct lt_snapshot_thread *self, uint32_t reason,
                                           const ucontext_t *interrupted, bool isInHook) {
  *self = (struct lt_snapshot_thread){.osThread = (uint32_t)lt_thread_id(),
                                      .flags = LT_SNAPSHOT_THREAD_SELF | LT_SNAPSHOT_THREAD_REGISTERS,
                                      .threadPointer = lt_thread_pointer()};
  if (interrupted) {
    lt_describe_interrupted(self, interrupted);
    return;
  }
  const uintptr_t *frame = outermost_own_frame();
  if (isInHook) {
    // The last reference to the released object may be the hook's argument. So the hook's frames count as part of the
    // host's stack.
    lt_describe_here(self);
    self->instructionPointer = frame[1];
    return;
  }
  struct lt_registers registers;
  struct lt_thread *t = lt_thread_self();
  // Handlers and destructors may run inside exit. Skip them, and describe the frame that returned from main or called
  // exit.
  enum { EXIT_SIZE = 96 };
  if (t && ((reason == LT_SNAPSHOT_EXIT && snapshots.exitFunction &&
             lt_unwind_from_call(t, snapshots.exitFunction, EXIT_SIZE, is_passed, &registers)) ||
            lt_unwind_out_of(t, frame, is_passed, &registers))) {
    lt_describe_frame(self, &registers);
    return;
  }
  // The frame's function pushed the registers that calls preserve right below the two words of its frame. It pushed at
  // least those that have changed since.
  self->stackPointer = (uint64_t)(frame - LT_SAVED_REGISTERS);
  self->instructionPointer = frame[1];
}

/// Acquires the snapshot state, and waits for an earlier snapshot if `wait` allows. A thread that holds the state never
/// waits for another thread.
static bool take_over(enum lt_snapshot_wait wait) {
  uint64_t deadline = lt_clock_nanoseconds(CLOCK_MONOTONIC) + WAIT_SECONDS * 1000000000ull;
  for (;;) {
    uint32_t none = OWNER_NONE;
    if (atomic_compare_exchange_strong(&snapshots.owner, &none, OWNER_TAKING)) return true;
    if (none == OWNER_WRITING && collect()) continue;
    if (wait == LT_SNAPSHOT_RETURNS || lt_clock_nanoseconds(CLOCK_MONOTONIC) > deadline) return false;
    struct timespec limit = {.tv_nsec = 10000000};
    lt_syscall6(SYS_futex, (long)&snapshots.progress->state, FUTEX_WAIT, LT_SNAPSHOT_WRITING, (long)&limit, 0, 0);
  }
}

/// True if no request in the live file still waits for an image. An image that began after a request has answered the
/// request. The counts may wrap around.
static bool is_every_request_answered(void) {
  uint32_t answered = atomic_load((_Atomic uint32_t *)&lt_trace.live->snapshotsAnswered);
  return (int32_t)(answered - atomic_load((_Atomic uint32_t *)&lt_trace.live->snapshotsAsked)) >= 0;
}

/// Takes a snapshot. `isCounted` is true if the requester has counted the request in the live file; a signal may come
/// from another sender.
static int take(uint32_t reason, const char *label, const ucontext_t *interrupted, enum lt_snapshot_wait wait,
                bool isInHook, bool isCounted) {
  if (!is_possible()) return -ENODEV;
  // The request stays unanswered, and its sender repeats it.
  if (atomic_load_explicit(&snapshots.isHeld, memory_order_acquire)) return -EAGAIN;
  uint64_t start = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  // No signal may interrupt until the threads resume. A handler that called this function would find the state held by
  // its own thread.
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  int result = -EBUSY;
  if (!take_over(wait)) {
    // Another image is being written.
  } else if (isCounted && is_every_request_answered()) {
    atomic_store(&snapshots.owner, OWNER_NONE);
  } else {
    // From now on, events need exact times. Readers then know which events came before the image.
    LT_CHECK(atomic_load(&snapshots.owner) == OWNER_TAKING && has_memory());
    lt_exact_time_require();
    snapshots.job.startNanoseconds = start;
    snapshots.job.snapshot =
        (struct lt_snapshot){.number = atomic_fetch_add(&snapshots.lastNumber, 1) + 1, .reason = reason};
    size_t length = label ? strnlen(label, sizeof snapshots.job.label - 1) : 0;
    memcpy(snapshots.job.label, label ? label : "", length);
    snapshots.job.label[length] = 0;
    LT_CHECK(snapshots.job.snapshot.number > 0 && length < sizeof snapshots.job.label);
    describe_self(&snapshots.job.threads[0], reason, interrupted, isInHook);
    snapshots.isServed = lt_own_threads_serves(snapshots.job.threads[0].osThread);
    lt_call_on_stack(begin, NULL, snapshots.stack + STACK_SIZE);
    bool isBegun = snapshots.freeze.copy > 0;
    LT_CHECK(snapshots.freeze.copy != 0 && snapshots.freeze.threadCount > 0);
    result = isBegun ? (int)snapshots.job.snapshot.number : snapshots.freeze.copy;
    if (isBegun) atomic_store(&snapshots.lastBegan, start);
    if (!isBegun) report_failure(-snapshots.freeze.copy);
    atomic_store(&snapshots.copy, snapshots.freeze.copy);
    LT_CHECK(atomic_load(&snapshots.owner) == OWNER_TAKING);
    atomic_store(&snapshots.owner, isBegun ? OWNER_WRITING : OWNER_NONE);
    if (snapshots.freeze.copy == -ENOTSUP)
      lt_message("no heap snapshot was taken: the process that writes it would be in the PID namespace of the "
                 "program's children",
                 NULL, 0);
    else if (snapshots.freeze.copy == -ETIMEDOUT)
      lt_message("no heap snapshot was taken: the kernel did not finish the copy of the process in time. A userfaultfd "
                 "with unread events prevents it",
                 NULL, 0);
    else if (!isBegun)
      lt_message("no heap snapshot was taken: cannot make a copy of the process", NULL, -snapshots.freeze.copy);
  }
  lt_restore_signals(before);
  if (wait == LT_SNAPSHOT_WAITS && result > 0) lt_snapshot_finish();
  return result;
}

int lt_snapshot_take(uint32_t reason, const char *label, const ucontext_t *interrupted, enum lt_snapshot_wait wait) {
  return take(reason, label, interrupted, wait, false, false);
}

static void take_last(uint32_t reason, const ucontext_t *interrupted) {
  uint32_t no = 0;
  if (!is_possible()) return;
  if (atomic_compare_exchange_strong(&snapshots.exitState, &no, 1))
    lt_snapshot_take(reason, NULL, interrupted, LT_SNAPSHOT_WAITS);
  else lt_snapshot_finish();
}

void lt_snapshot_end(void) {
  lt_snapshot_finish();
  snapshots.isOn = false;
}

bool lt_snapshot_is_recent(void) {
  enum { RECENT_NANOSECONDS = 1000000000 };
  uint64_t last = atomic_load(&snapshots.lastBegan);
  return last && lt_clock_nanoseconds(CLOCK_MONOTONIC) - last < RECENT_NANOSECONDS;
}
bool lt_snapshot_is_ending(void) { return atomic_load(&snapshots.exitState) != 0; }
void lt_snapshot_at_exit(void) { take_last(LT_SNAPSHOT_EXIT, NULL); }
void lt_snapshot_at_signal(const ucontext_t *interrupted) { take_last(LT_SNAPSHOT_SIGNAL, interrupted); }

static uint32_t requested_reason(void) {
  uint32_t reason = lt_trace.live ? atomic_load((_Atomic uint32_t *)&lt_trace.live->snapshotReason) : 0;
  return reason == LT_SNAPSHOT_ROUND ? LT_SNAPSHOT_ROUND : LT_SNAPSHOT_REQUEST;
}

void lt_snapshot_answer(const ucontext_t *interrupted) {
  int result = take(requested_reason(), NULL, interrupted, LT_SNAPSHOT_RETURNS, false, !interrupted);
  if (result != -ENODEV || !lt_trace.live) return;
  // Recording has stopped.
  lt_trace.live->snapshotError = ENODEV;
  atomic_store((_Atomic uint32_t *)&lt_trace.live->snapshotsAnswered, lt_trace.live->snapshotsAsked);
}

void lt_snapshot_at_switch(void) {
  uint32_t asked = LT_SWITCH_SNAPSHOT;
  // Pairs with the requester's exchange of the switch, which comes after its store of the reason.
  _Atomic uint32_t *word = atomic_load_explicit(&lt_pause_switch, memory_order_relaxed);
  if (!atomic_compare_exchange_strong(word, &asked, LT_SWITCH_RECORD)) return;
  take(requested_reason(), NULL, NULL, LT_SNAPSHOT_RETURNS, true, true);
}

int lt_snapshot_at_limit(void) { return take(LT_SNAPSHOT_LIMIT, NULL, NULL, LT_SNAPSHOT_RETURNS, true, false); }

// === due images ======================================================================================================

/// The interval between readings of the resident size. If memory grows faster, the recorder notices it at the next
/// reading.
#define LOOK_NANOSECONDS 5000000000ull
/// The interval between images of a process that stays large. A comparison of these images shows which objects grow.
#define LARGE_NANOSECONDS 600000000000ull

static struct {
  uint64_t interval, residentLimit;
  _Atomic uint64_t nextImage, nextLook, nextLarge; ///< an exchange elects the thread that takes the image
} dueImages = {.nextImage = UINT64_MAX, .nextLook = UINT64_MAX};

void lt_due_images_begin(uint64_t every, uint64_t resident) {
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  dueImages.interval = every;
  dueImages.residentLimit = resident;
  atomic_store(&dueImages.nextImage, every ? now + every : UINT64_MAX);
  atomic_store(&dueImages.nextLook, resident ? now : UINT64_MAX);
  atomic_store(&dueImages.nextLarge, 0);
}

/// True if `*time` was reached at least `patience` ago. Then sets `*time` to the next time. If several threads call
/// this, only one gets true.
static bool is_over(_Atomic uint64_t *time, uint64_t now, uint64_t patience, uint64_t distance) {
  uint64_t due = atomic_load_explicit(time, memory_order_relaxed);
  LT_CHECK(distance > 0 || now < due);
  return LT_UNLIKELY(now >= due) && now - due >= patience && atomic_compare_exchange_strong(time, &due, now + distance);
}

void lt_due_images_take(uint64_t now, size_t size) {
  // The memory of a growing collection is large, so it is sampled more often than all other blocks. At that moment the
  // collection's field does not yet refer to the new memory. Each image taken then would show an empty collection.
  enum { LARGEST_CALM_SIZE = 2048 };
  bool isCalm = size <= LARGEST_CALM_SIZE;
  uint32_t reason = 0;
  if (is_over(&dueImages.nextImage, now, isCalm ? 0 : dueImages.interval / 2, dueImages.interval))
    reason = LT_SNAPSHOT_INTERVAL;
  else if (is_over(&dueImages.nextLook, now, isCalm ? 0 : LOOK_NANOSECONDS, LOOK_NANOSECONDS) &&
           lt_resident_size() > dueImages.residentLimit && is_over(&dueImages.nextLarge, now, 0, LARGE_NANOSECONDS))
    reason = LT_SNAPSHOT_SIZE;
  if (reason) lt_snapshot_take(reason, NULL, NULL, LT_SNAPSHOT_RETURNS);
}

// === requested images ================================================================================================

// A thread of the process that takes one image for a requester outside. The requester makes the process start this
// thread, so that none of the host's system calls is interrupted.
//
// A process whose threads all wait calls no hook, and a signal would end system calls such as sleep and poll. So the
// requester stops one of the threads as a debugger does. The requester makes that thread call clone as the live file
// describes, and then lets it resume its wait. The requester claims the stack with a word in the live file. From then
// until the end of the new thread, the kernel keeps the new thread's ID in that word.

enum {
  MILLISECOND = 1000000,
  SERVING_STACK_SIZE = 64 << 10,
  PATIENCE_MILLISECONDS = 3000, ///< the longest wait until the requester detaches from the thread that it stopped
  END_MILLISECONDS = 1000,      ///< the longest wait for the serving thread's end when the recorder ends
  IMAGE_MILLISECONDS = 10000,   ///< the longest time for the serving thread to take its image and to end
};

static void serve(void *unused) {
  (void)unused;
  lt_block_signals(LT_ALL_SIGNALS);
  lt_syscall(SYS_prctl, PR_SET_NAME, "leaktrace", 0);
  memset(&lt_tls, 0, sizeof lt_tls);
  struct lt_live_header *live = lt_trace.live;
  LT_CHECK(live && !lt_tls.thread);
  // A thread that the requester still traces could not be stopped for the image.
  for (int waited = 0; !atomic_load((_Atomic uint32_t *)&live->servingMayBegin); waited++) {
    if (waited == PATIENCE_MILLISECONDS) return;
    lt_sleep(MILLISECOND);
  }
  lt_snapshot_answer(NULL);
}

void lt_serving_init(void) {
  // Only one serving thread uses the stack and the thread-local memory at a time.
  static uint8_t *stack;
  static uintptr_t threadPointer;
  if (!stack) stack = lt_map_private(SERVING_STACK_SIZE);
  if (stack && !threadPointer) threadPointer = lt_make_thread_local();
  if (!threadPointer) return;
  struct lt_clone_registers registers;
  lt_clone_prepare(&registers, stack + SERVING_STACK_SIZE, serve, NULL);
  LT_CHECK(registers.stack >= (uintptr_t)stack && registers.stack < (uintptr_t)stack + SERVING_STACK_SIZE);
  LT_CHECK(lt_trace.live != NULL);
  struct lt_live_header *live = lt_trace.live;
  live->servingFlags = LT_CLONE_THREAD | CLONE_UNTRACED | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  live->servingStack = registers.stack;
  live->servingThreadPointer = threadPointer;
  live->servingWord = (uintptr_t)&live->servingThread;
  atomic_store((_Atomic uint64_t *)&live->servingCall, registers.call);
}

void lt_serving_await_other(void) {
  // A child that was forked with the bare system call does not have the live file's pages.
  if (!lt_trace_is_writable() || !lt_is_recording_process()) return;
  const struct lt_live_header *live = lt_trace.live;
  for (int waited = 0; waited < IMAGE_MILLISECONDS &&
                       lt_own_threads_serves(atomic_load((const _Atomic uint32_t *)&live->servingThread)) &&
                       !lt_own_threads_serves((uint32_t)lt_thread_id());
       waited++)
    lt_sleep(MILLISECOND);
}

void lt_serving_end(void) {
  struct lt_live_header *live = lt_trace.live;
  if (!live) return;
  atomic_store((_Atomic uint64_t *)&live->servingCall, 0);
  for (int waited = 0;
       waited < END_MILLISECONDS && lt_own_threads_serves(atomic_load((_Atomic uint32_t *)&live->servingThread)) &&
       !lt_own_threads_serves((uint32_t)lt_thread_id());
       waited++)
    lt_sleep(MILLISECOND);
}
