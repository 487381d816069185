// Makes a copy of the process at a moment when none of its threads runs.
//
// A thread cannot stop the other threads of its process, but a tracer can. So the recorder makes a tracer, a process
// that shares the memory, as LeakSanitizer does (compiler-rt, sanitizer_stoptheworld_linux_libcdep.cpp). The tracer
// uses thread_stop to stop every thread, forks the copy, and uses thread_stop to resume the threads. The copy is a
// child of the host, not of the tracer. So the copy keeps its parent when the tracer ends. Neither the tracer nor the
// copy has an exit signal, so calls of wait do not see them. The tracer shares the thread-local memory of the thread
// that made it. So nothing here may use errno or other thread-local memory, or call functions that do.

#include "image/thread_freeze.h"

#include "check.h"
#include "image/thread_stop.h"
#include "os/fd_isolated_task.h"
#include "os/process_info.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
  STACK_SIZE = 256 << 10,
  TRY_LIMIT = 4, ///< tries to make a copy with late threads. The last try waits for these threads
  BETWEEN_TRIES_NANOSECONDS = 20000000,
  BEGIN_MILLISECONDS = 30000, ///< the longest wait until the kernel is asked for the copy, as a last resort
  COPY_MILLISECONDS = 1000,   ///< the longest time for the kernel to make the copy, which takes 16 ms for a gibibyte
  COPY_MILLISECONDS_PER_GIBIBYTE = 250,
  RUNNING_FACTOR = 5, ///< allows more time while the threads run, since the tracer may have to wait for a processor
  LOOK_NANOSECONDS = 20000000,
};

enum { UNCLAIMED, CLAIMED_BY_COPY, GIVEN_UP };

static struct {
  uint8_t *stack; ///< two stacks: the lower one for the thread that copies while there are late threads, the upper one
                  ///< for the tracer
  bool isForbidden;
  bool isSimulated; ///< Valgrind runs the program. It knows fork, vfork and threads, and ends the program at any other
                    ///< clone
  bool isBlocked;   ///< the kernel did not finish a copy of stopped threads
  bool mayNeedPermission; ///< the kernel lets only a thread's ancestors trace it, unless the thread allows another
                          ///< tracer
} freezing;

bool lt_freeze_init(void) {
  char scope = '0';
  int descriptor = lt_open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY, 0);
  if (descriptor >= 0) {
    lt_read(descriptor, &scope, 1);
    lt_close(descriptor);
  }
  freezing.mayNeedPermission = scope != '0';
  freezing.isSimulated = lt_is_simulated();
  return true;
}

void lt_freeze_forbid(void) { freezing.isForbidden = true; }

void lt_freeze_reset(void) {
  freezing.stack = NULL;
  lt_thread_stop_reset();
}

// --- processes -------------------------------------------------------------------------------------------------------

/// Makes a copy of this process. The copy shares this process's descriptor table until it leaves that table. A copied
/// table would keep the host's closed files open.
static long copy_process(unsigned long flags) {
  unsigned long sharing = freezing.isSimulated ? 0 : CLONE_FILES;
  return lt_syscall6(SYS_clone, (long)(flags | sharing | CLONE_UNTRACED), 0, 0, 0, 0, 0);
}

/// Publishes the state of the late threads to the copy. Only the first answer counts.
static void answer_copy(struct lt_freeze *f, uint32_t late) {
  uint32_t awaited = LT_LATE_AWAITED;
  if (atomic_compare_exchange_strong(&f->claim->late, &awaited, late))
    lt_syscall(SYS_futex, &f->claim->late, FUTEX_WAKE, 1);
}

/// Waits in the copy until the registers of the late threads are available. Returns false if the copy was given up.
static bool await_late(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  while (atomic_load(&f->claim->late) == LT_LATE_AWAITED && lt_milliseconds_since(begin) < 2 * LT_LATE_MILLISECONDS) {
    struct timespec limit = {.tv_nsec = LOOK_NANOSECONDS};
    lt_syscall6(SYS_futex, (long)&f->claim->late, FUTEX_WAIT, LT_LATE_AWAITED, (long)&limit, 0, 0);
  }
  uint32_t kept = 1;
  uint32_t late = atomic_load(&f->claim->late);
  f->isFrozen = late == LT_LATE_NOTED;
  for (uint32_t i = 1; i < f->threadCount && f->isFrozen; i++)
    if (!(f->threads[i].flags & LT_THREAD_LEFT_OUT)) f->threads[kept++] = f->threads[i];
  f->threadCount = kept;
  return late != LT_LATE_GIVEN_UP;
}

// --- the copy --------------------------------------------------------------------------------------------------------

/// Makes the copy. If the process has given up the copy, the copy ends immediately.
static void copy(struct lt_freeze *f, unsigned long flags) {
  atomic_store(&f->copyBegin, lt_clock_nanoseconds(CLOCK_MONOTONIC));
  pid_t made = (pid_t)copy_process(flags);
  if (made != 0) {
    f->copy = made;
    // Restart the time limit: the threads now get as much time to continue as the kernel had for the copy.
    atomic_store(&f->copyBegin, lt_clock_nanoseconds(CLOCK_MONOTONIC));
    return;
  }
  uint32_t unclaimed = UNCLAIMED;
  atomic_store(&f->claim->copy, lt_process_id());
  if (atomic_compare_exchange_strong(&f->claim->state, &unclaimed, CLAIMED_BY_COPY) &&
      (f->awaitedCount == 0 || await_late(f)))
    f->copied(f->argument);
  for (;;) lt_syscall(SYS_exit_group, 0, 0, 0);
}

/// Gives up a copy that has not begun its work. Returns false if the copy has begun.
static bool give_up(struct lt_freeze *f) {
  uint32_t unclaimed = UNCLAIMED;
  return atomic_compare_exchange_strong(&f->claim->state, &unclaimed, GIVEN_UP);
}

static void copy_for_tracer(void *freeze) { copy(freeze, CLONE_PARENT); }

/// Makes the copy in a thread of the tracer. A late thread may hold the lock of the memory, which the kernel needs for
/// the copy. If the copy takes too long, gives it up and returns false, so that the tracer can resume the threads.
static bool copy_beside_late(struct lt_freeze *f) {
  enum { FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED };
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  atomic_store(&f->copierRuns, 1);
  if (lt_clone_call(FLAGS | CLONE_CHILD_CLEARTID, freezing.stack + STACK_SIZE, copy_for_tracer, f, &f->copierRuns, 0) <
      0) {
    copy(f, CLONE_PARENT);
    return true;
  }
  for (uint32_t runs; (runs = atomic_load(&f->copierRuns)) != 0 && atomic_load(&f->copy) <= 0;) {
    if (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin > f->lateCopyPatience) return !give_up(f);
    struct timespec limit = {.tv_nsec = 1000000};
    lt_syscall6(SYS_futex, (long)&f->copierRuns, FUTEX_WAIT, runs, (long)&limit, 0, 0);
  }
  return true;
}

/// Waits for the thread whose copy was given up. The other threads run again, so the kernel can finish the copy. If the
/// kernel does not, ends the tracer, because further tries would fail too.
static void end_copier(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  for (uint32_t runs; (runs = atomic_load(&f->copierRuns)) != 0;) {
    if (lt_milliseconds_since(begin) > COPY_MILLISECONDS) lt_syscall(SYS_exit_group, 0, 0, 0);
    struct timespec limit = {.tv_nsec = LOOK_NANOSECONDS};
    lt_syscall6(SYS_futex, (long)&f->copierRuns, FUTEX_WAIT, runs, (long)&limit, 0, 0);
  }
}

/// Stops the threads if `stopsThreads` is set, makes the copy, and resumes the threads. Then waits for late threads and
/// reads their registers.
static void trace(void *freeze) {
  struct lt_freeze *f = freeze;
  // The copy inherits this empty table. Closing a file may block on its server, so the table is left before threads
  // stop.
  lt_leave_descriptors();
  // The traced process may first have to allow this process to attach.
  while (!atomic_load(&f->isAllowed)) {
    struct timespec limit = {.tv_nsec = 50000000};
    lt_syscall6(SYS_futex, (long)&f->isAllowed, FUTEX_WAIT, 0, (long)&limit, 0, 0);
    if (lt_parent_process_id() != f->process) return;
  }
  if (f->stopsThreads) lt_timed_waits_prepare(f->process);
  f->stopBegin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  // If this process ends, the kernel resumes the attached threads.
  bool isStopped = !f->stopsThreads || lt_thread_stop_all(f);
  if (lt_parent_process_id() != f->process) return;
  lt_thread_stop_read(f);
  if (!isStopped) {
    lt_thread_stop_resume(f);
    return;
  }
  if (f->stopsThreads) lt_thread_stop_sort(f);
  f->stopped(f->argument);
  f->isFrozen = f->stopsThreads || f->isAlone;
  bool isMade = true, hasLate = f->awaitedCount > 0;
  if (hasLate) isMade = copy_beside_late(f);
  else copy(f, CLONE_PARENT);
  lt_thread_stop_resume(f);
  uint64_t pause = lt_clock_nanoseconds(CLOCK_MONOTONIC) - f->stopBegin;
  if (pause > f->longestPause) f->longestPause = pause;
  // With late threads, the copy waits for its answer, and a later try may have a longer pause. So the pause is stored
  // below.
  if (!hasLate) atomic_store(f->pauseNanoseconds, f->isFrozen ? f->longestPause : 0);
  atomic_store(&f->isDone, 1);
  if (!hasLate) return;
  uint32_t late = lt_thread_stop_note_late(f);
  if (!isMade) end_copier(f);
  f->isGivenUp = !isMade || late == LT_LATE_GIVEN_UP;
  if (!f->isGivenUp) atomic_store(f->pauseNanoseconds, f->longestPause);
  answer_copy(f, late);
}

// --- the thread that waits for it ------------------------------------------------------------------------------------

bool lt_children_in_other_pid_ns(void) {
  char own[64], childrens[64];
  long length = lt_readlink("/proc/thread-self/ns/pid", own, sizeof own);
  if (length <= 0) return false; // there is no /proc, so no image can be taken
  return lt_readlink("/proc/thread-self/ns/pid_for_children", childrens, sizeof childrens) != length ||
         memcmp(own, childrens, (size_t)length) != 0;
}

static bool has_stack(void) {
  if (!freezing.stack) freezing.stack = lt_map_private(2 * STACK_SIZE);
  return freezing.stack;
}

/// Returns the nanoseconds that the kernel may take to make a copy.
static uint64_t copy_patience(bool stopsThreads) {
  uint64_t milliseconds = COPY_MILLISECONDS + (lt_peak_resident_size() >> 30) * COPY_MILLISECONDS_PER_GIBIBYTE;
  return milliseconds * (stopsThreads ? 1 : RUNNING_FACTOR) * 1000000;
}

/// Waits for the tracer's end. If the kernel takes too long for the copy, kills the tracer. The copy may be waiting for
/// a stopped thread, and the end of the tracer lets the threads continue. After the copy was made, the tracer gets time
/// for the late threads.
static void await_tracer(struct lt_freeze *f, pid_t tracer) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC), patience = copy_patience(f->stopsThreads);
  for (uint32_t runs; (runs = atomic_load(&f->tracerRuns)) != 0;) {
    struct timespec limit = {.tv_nsec = LOOK_NANOSECONDS};
    lt_syscall6(SYS_futex, (long)&f->tracerRuns, FUTEX_WAIT, runs, (long)&limit, 0, 0);
    uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), copyBegin = atomic_load(&f->copyBegin);
    bool isCopying = copyBegin && !atomic_load(&f->isDone);
    bool isLate = isCopying ? now - copyBegin > patience : now - begin > BEGIN_MILLISECONDS * 1000000ull;
    if (isLate) lt_syscall(SYS_tgkill, tracer, tracer, SIGKILL);
  }
  while (lt_reap(tracer, 0) == -EINTR) {}
}

/// Makes the copy with a tracer. Returns the copy's ID, or −errno if no tracer can be made. −ETIMEDOUT: the kernel does
/// not finish the copy. −EAGAIN: threads could not be stopped. −EBUSY: the copy failed because of late threads.
static pid_t copy_by_tracer(struct lt_freeze *f, bool stopsThreads) {
  f->threadCount = 1;
  f->attachedCount = 0;
  f->awaitedCount = 0;
  f->isFrozen = false;
  f->isGivenUp = false;
  f->lateCopyPatience = copy_patience(true) / (f->isLastTry ? 2 : 10);
  f->stopsThreads = stopsThreads;
  f->copy = -EAGAIN;
  atomic_store(&f->claim->state, UNCLAIMED);
  atomic_store(&f->claim->copy, 0);
  atomic_store(&f->claim->late, LT_LATE_AWAITED);
  atomic_store(&f->copyBegin, 0);
  atomic_store(&f->isAllowed, 0);
  atomic_store(&f->isDone, 0);
  atomic_store(&f->tracerRuns, 1);
  long tracer = lt_clone_call(CLONE_VM | CLONE_FILES | CLONE_UNTRACED | CLONE_CHILD_CLEARTID,
                              freezing.stack + 2 * STACK_SIZE, trace, f, &f->tracerRuns, 0);
  if (tracer < 0) return (pid_t)tracer;
  atomic_store(&f->tracer, (pid_t)tracer);
  bool needsPermission = stopsThreads && freezing.mayNeedPermission;
  if (needsPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, tracer, 0, 0, 0, 0);
  atomic_store(&f->isAllowed, 1);
  lt_syscall(SYS_futex, &f->isAllowed, FUTEX_WAKE, 1);
  await_tracer(f, (pid_t)tracer);
  if (needsPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0, 0);
  lt_thread_stop_forget(f);
  answer_copy(f, LT_LATE_LOST);
  if (f->isGivenUp) {
    int status;
    while (f->copy > 0 && lt_syscall6(SYS_wait4, f->copy, (long)&status, __WALL, 0, 0, 0) == -EINTR) {}
    return -EBUSY;
  }
  if (atomic_load(&f->isDone)) return f->copy;
  if (!atomic_load(&f->copyBegin)) return -EAGAIN;
  if (give_up(f)) return -ETIMEDOUT;
  return f->copy = atomic_load(&f->claim->copy);
}

/// Stops the threads and makes the copy. Tries again while late threads make the copy fail.
static pid_t copy_beside_threads(struct lt_freeze *f) {
  pid_t made = -EBUSY;
  for (unsigned tries = 1; tries <= TRY_LIMIT && made == -EBUSY; tries++) {
    if (tries > 1) lt_sleep(BETWEEN_TRIES_NANOSECONDS);
    f->isLastTry = tries == TRY_LIMIT;
    made = copy_by_tracer(f, true);
  }
  return made;
}

void lt_freeze_and_copy(struct lt_freeze *f) {
  LT_CHECK(f->threadLimit > 0 && f->copied && f->stopped && f->pauseNanoseconds && f->claim);
  LT_CHECK(f->threads[0].osThread == (uint32_t)lt_thread_id());
  f->threadCount = 1;
  f->attachedCount = 0;
  f->isFrozen = false;
  if (lt_children_in_other_pid_ns()) {
    f->stopped(f->argument);
    f->copy = -ENOTSUP;
    return;
  }
  f->longestPause = 0;
  f->isAlone = !lt_own_threads_has_others();
  bool hasTracer = !freezing.isSimulated && !freezing.isForbidden && has_stack(), isLate = false;
  if (hasTracer && !f->isAlone && !freezing.isBlocked && lt_thread_stop_reserve(f)) {
    pid_t made = copy_beside_threads(f);
    if (made > 0) return;
    isLate = made == -ETIMEDOUT && f->awaitedCount == 0;
  }
  if (hasTracer) {
    // If the program has one thread, that thread waits here, so the memory does not change during the copy.
    uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    pid_t made = copy_by_tracer(f, false);
    // If this copy is slow too, the machine is busy. Otherwise a stopped thread blocked the copy, and will block the
    // next one.
    bool isFast = lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin < COPY_MILLISECONDS * 1000000ull / 2;
    if (isLate && made > 0 && isFast) freezing.isBlocked = true;
    if (made > 0 || made == -ETIMEDOUT) {
      f->copy = made;
      return;
    }
  }
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  f->threadCount = 1;
  f->awaitedCount = 0;
  f->isFrozen = f->isAlone;
  f->stopped(f->argument);
  atomic_store(&f->claim->state, UNCLAIMED);
  copy(f, 0);
  atomic_store(f->pauseNanoseconds, f->isAlone ? lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin : 0);
}
