// Makes a copy of the process at a moment in which no thread of it runs.
//
// A thread cannot stop its siblings, a tracer can. So a process is made for it that shares the memory, as LeakSanitizer
// does (compiler-rt, sanitizer_stoptheworld_linux_libcdep.cpp): it attaches to every thread, and forks the copy while
// they stand still. The copy is made a child of the host's, not of the tracer's, so that nobody adopts it when the
// tracer is gone. Neither has an exit signal: calls of wait do not see such children. The tracer shares this thread's
// thread-local memory: nothing here may use errno or other such memory, or call functions that do.

#include "image/thread_freeze.h"

#include "check.h"
#include "image/own_threads.h"
#include "image/timed_waits.h"
#include "os/apart_task.h"
#include "os/child_usage.h"
#include "os/number_text.h"
#include "os/thread_list.h"
#include "swift/own_memory.h"
#include "thread/own_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <interrupted_calls.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
  STACK_SIZE = 256 << 10,
  THREAD_NUMBER_LIMIT = 1 << 22,
  STOP_EVENT = 128,
  PASS_LIMIT = 1000,
  STANDSTILL_MILLISECONDS = 25, ///< from the first request to stop, until the copy is made without the late threads
  TRY_LIMIT = 4,                ///< for a copy with late threads. The last one waits for them:
  STOP_MILLISECONDS = 5000,     ///< limit for all threads to stop, on a machine with more to do
  BETWEEN_TRIES_NANOSECONDS = 20000000,
  INTERRUPT_MILLISECONDS = 2, ///< from a request to stop: by then a thread on another processor is interrupted
  // Late threads, which may stop after the copy:
  PATIENCE_MILLISECONDS = 200, ///< limit for threads that wait for a child in vfork
  LOCK_MILLISECONDS = 2000,    ///< limit for threads that wait for the disk, or for a lock of the kernel
  LATE_MILLISECONDS = 10000,   ///< limit for threads that wait for a processor
  BEGIN_MILLISECONDS = 30000,  ///< for the kernel to be asked for the copy: it is the last resort
  COPY_MILLISECONDS = 1000,    ///< for the kernel to make the copy, which takes 16 ms for a gibibyte
  COPY_MILLISECONDS_PER_GIBIBYTE = 250,
  RUNNING_FACTOR = 5, ///< while the threads run: one of them may have to get its turn
  LOOK_NANOSECONDS = 20000000,
};

enum { UNCLAIMED, CLAIMED_BY_COPY, GIVEN_UP };

/// The state of the late threads, in `lt_copy_claim.late`.
enum {
  LATE_AWAITED,
  LATE_NOTED,    ///< the copy may read the registers
  LATE_LOST,     ///< threads ran that the tracer does not know, or registers are missing: the image is not frozen
  LATE_GIVEN_UP, ///< the copy ends, and the tracer tries again
};

/// Marks a late thread that has ended, or that is a task of the recorder's. The copy removes it from its list.
enum { LEFT_OUT = 1u << 31 };

/// The state of the thread at the same index of `lt_freeze.threads`.
struct tracee {
  uint32_t thread;
  bool isStopped, isGone;
  bool isLate;     ///< it has not stopped before the copy
  bool isReleased; ///< the tracer has detached, or the late thread has ended
  int signal;      ///< that was about to be delivered when it stopped
  struct lt_timed_wait wait;
};

static uint8_t
    *stack; ///< two stacks: the lower for the thread that copies beside late threads, the upper for the tracer
static struct tracee *tracees;
static uint32_t *indexOf; ///< by thread number; 0: not seen. All are 0 between two snapshots
static bool isForbidden;
static bool isSimulated; ///< by Valgrind, which knows fork, vfork and threads, and ends the program at any other clone
static bool isBlocked;   ///< the kernel did not finish a copy of stopped threads
static bool mayNeedPermission; ///< the kernel lets only ancestors trace, unless told otherwise

bool lt_freeze_init(void) {
  char scope = '0';
  int descriptor = lt_open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY, 0);
  if (descriptor >= 0) {
    lt_read(descriptor, &scope, 1);
    lt_close(descriptor);
  }
  mayNeedPermission = scope != '0';
  isSimulated = lt_is_simulated();
  return true;
}

void lt_freeze_forbid(void) { isForbidden = true; }

void lt_freeze_reset(void) {
  stack = NULL;
  tracees = NULL;
  indexOf = NULL;
}

// --- processes -------------------------------------------------------------------------------------------------------

/// The copy shares this process's table of descriptors until it gives its share up. A copied table would keep the
/// host's closed files open.
static long copy_process(unsigned long flags) {
  unsigned long sharing = isSimulated ? 0 : CLONE_FILES;
  return lt_syscall6(SYS_clone, (long)(flags | sharing | CLONE_UNTRACED), 0, 0, 0, 0, 0);
}

// --- the tracer ------------------------------------------------------------------------------------------------------

/// Returns the thread's state as the kernel writes it: R running, D in a wait that nothing interrupts, Z ended … 0 when
/// it is gone.
static char thread_state(pid_t process, uint32_t thread) {
  char text[256];
  long n = lt_read_thread_file(process, thread, "stat", text, sizeof text);
  // number (name) state: the name may hold anything, parentheses too.
  for (long i = n - 3; i >= 0; i--)
    if (text[i] == ')' && text[i + 1] == ' ') return text[i + 2];
  return 0;
}

/// Attaches to threads that were not seen yet. They run on. Returns their number, or −errno when attaching is refused.
static int attach_new(struct lt_freeze *f) {
  struct lt_thread_list list;
  LT_CHECK(f->threadCount > 0 && f->threadCount <= f->threadLimit);
  int error = lt_thread_list_open(&list, f->process), found = 0;
  if (error) return error;
  for (uint32_t thread; found >= 0 && (thread = lt_thread_list_next(&list)) != 0;) {
    if (thread >= THREAD_NUMBER_LIMIT || thread == f->threads[0].osThread || indexOf[thread]) continue;
    error = (int)lt_syscall6(SYS_ptrace, PTRACE_SEIZE, thread, 0, 0, 0, 0);
    if (error) {
      char state = error == -ESRCH ? 0 : thread_state(f->process, thread);
      if (state != 0 && state != 'Z' && state != 'X') found = error;
      continue;
    }
    if (f->threadCount == f->threadLimit) {
      found = -E2BIG;
      continue;
    }
    found++;
    indexOf[thread] = f->threadCount;
    tracees[f->threadCount] = (struct tracee){.thread = thread};
    lt_timed_wait_look(f->process, thread, &tracees[f->threadCount].wait);
    f->threads[f->threadCount++] = (struct lt_snapshot_thread){.osThread = thread};
  }
  lt_thread_list_close(&list);
  return found;
}

/// Asks the newest threads to stop.
static void interrupt_newest(struct lt_freeze *f, uint32_t count) {
  LT_CHECK(count < f->threadCount);
  for (uint32_t i = f->threadCount - count; i < f->threadCount; i++)
    lt_syscall6(SYS_ptrace, PTRACE_INTERRUPT, tracees[i].thread, 0, 0, 0, 0);
  f->awaitedCount += count;
}

/// Returns the thread's number if it has stopped or ended since the last report, and 0 if not. Returns −ECHILD if the
/// kernel has forgotten the thread.
static long take_report(uint32_t thread, int *status) {
  return lt_syscall6(SYS_wait4, thread, (long)status, __WALL | WNOHANG, 0, 0, 0);
}

/// Notes which threads have stopped or ended. Asks for each thread: the kernel finds a thread by its number, but goes
/// through all of them for a caller that waits for any (Linux 6.18, kernel/exit.c, do_wait_pid).
static void take_reports(struct lt_freeze *f) {
  int status;
  uint32_t limit = f->attachedCount ? f->attachedCount : f->threadCount;
  for (uint32_t i = 1; i < limit && f->awaitedCount > 0; i++) {
    struct tracee *t = &tracees[i];
    if (t->isStopped || t->isGone) continue;
    long reported = take_report(t->thread, &status);
    if (reported == 0) continue;
    f->awaitedCount--;
    t->isGone = reported < 0 || !WIFSTOPPED(status);
    t->isStopped = !t->isGone;
    if (t->isStopped) t->signal = status >> 16 == STOP_EVENT ? 0 : WSTOPSIG(status);
  }
}

/// A thread that calls exec takes the number of the first thread. Lets it go on when it stops.
static void release_other_program(const struct lt_freeze *f) {
  int status;
  uint32_t first = (uint32_t)f->process, known = first < THREAD_NUMBER_LIMIT ? indexOf[first] : 0;
  if (known && !tracees[known].isReleased) return;
  if (take_report(first, &status) > 0 && WIFSTOPPED(status)) lt_syscall6(SYS_ptrace, PTRACE_DETACH, first, 0, 0, 0, 0);
}

/// Tells whether a thread that nothing interrupts waits in vfork, or the like, until its child ends or becomes another
/// program.
static bool awaits_child(pid_t process, uint32_t thread) {
  char text[32];
  if (lt_read_thread_file(process, thread, "syscall", text, sizeof text) <= 0 || *text < '0' || *text > '9')
    return false;
  long call = 0;
  for (const char *c = text; *c >= '0' && *c <= '9'; c++) call = call * 10 + (*c - '0');
#ifdef SYS_vfork
  if (call == SYS_vfork) return true;
#endif
  return call == SYS_clone || call == SYS_clone3;
}

/// Tells whether threads that have not stopped are all in waits that nothing interrupts. Those stand still: they stop
/// before they are back in the program. A parent in vfork may wait for long; other waits end soon, and then the
/// thread's registers can be had.
static bool stand_still(const struct lt_freeze *f, uint64_t milliseconds) {
  for (uint32_t i = 1; i < f->threadCount; i++) {
    if (tracees[i].isStopped || tracees[i].isGone) continue;
    uint32_t thread = f->threads[i].osThread;
    char state = thread_state(f->process, thread);
    if (state == 0 || state == 'Z' || state == 'X') continue;
    if (state != 'D' || (milliseconds <= LOCK_MILLISECONDS && !awaits_child(f->process, thread))) return false;
  }
  return true;
}

/// Tells whether the thread slept in a system call when it was stopped. The kernel ends the call for the stop: with
/// EINTR, or with one of the numbers by which it restarts the call afterwards. A call that was about to return has its
/// result.
static bool is_interrupted_wait(const struct lt_stopped_thread *stopped) {
  if (stopped->call < 0) return false;
  switch (-stopped->result) {
    case EINTR:
    case LT_RESTART:
    case LT_RESTART_NO_INTERRUPT:
    case LT_RESTART_NO_HANDLER:
    case LT_RESTART_BLOCK: return true;
    default: return false;
  }
}

/// Has the kernel begin the wait anew, unless a handler of the host's runs first: then it returns EINTR, as it would
/// have.
static void repeat_wait(uint32_t thread, const struct lt_stopped_thread *stopped) {
  if (stopped->call < 0 || stopped->result != -EINTR || !lt_call_is_repeatable(stopped->call)) return;
  lt_stopped_thread_set_result((pid_t)thread, -LT_RESTART_NO_HANDLER);
}

static void read_registers(struct lt_snapshot_thread *thread, const struct tracee *tracee) {
  struct lt_stopped_thread stopped;
  if (!lt_stopped_thread_read((pid_t)thread->osThread, &stopped)) return;
  if (!tracee->signal) repeat_wait(thread->osThread, &stopped);
  thread->flags = LT_SNAPSHOT_THREAD_REGISTERS | (is_interrupted_wait(&stopped) ? LT_SNAPSHOT_THREAD_WAITING : 0);
  thread->stackPointer = lt_own_stack_left_at(stopped.stackPointer);
  thread->threadPointer = stopped.threadPointer;
  thread->instructionPointer = stopped.instructionPointer;
  // The recorder's own thread: what it looks at is in use by nobody.
  if (thread->osThread == (uint32_t)lt_own_threads_watcher() || lt_own_threads_serves(thread->osThread)) return;
  memcpy(thread->registers, stopped.registers, sizeof stopped.registers);
}

static uint64_t milliseconds_since(uint64_t begin) { return (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin) / 1000000; }

static void sleep_between_looks(unsigned round) { lt_sleep(round < 8 ? 20000 : 500000); }

/// Tells whether the threads that have stopped have waited long enough for the others.
static bool is_standstill_over(const struct lt_freeze *f, uint64_t asked) {
  uint64_t milliseconds = milliseconds_since(f->stopBegin);
  if (milliseconds_since(asked) < INTERRUPT_MILLISECONDS) return false;
  if (!f->isLastTry) return milliseconds >= STANDSTILL_MILLISECONDS;
  return milliseconds > STOP_MILLISECONDS || (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds));
}

/// Stops all threads except the one that waits for the tracer. False if the kernel refuses.
///
/// A late thread needs no wait: it stops before it runs another instruction of its program (Linux, kernel/signal.c,
/// get_signal). The last try waits for late threads.
static bool stop_all(struct lt_freeze *f) {
  for (int pass = 0; pass < PASS_LIMIT; pass++) {
    int found = attach_new(f);
    if (found < 0) return false;
    // Threads that stand still make no new ones.
    if (found == 0) return true;
    if (pass == 0) f->stopBegin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    interrupt_newest(f, (uint32_t)found);
    uint64_t asked = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    for (unsigned round = 0;; round++) {
      take_reports(f);
      if (f->awaitedCount == 0) break;
      if (is_standstill_over(f, asked)) break;
      sleep_between_looks(round);
    }
  }
  return true;
}

/// Moves threads that have ended meanwhile behind the others, and so the recorder's tasks apart, which have nothing of
/// the host's.
static void leave_out_passing(struct lt_freeze *f) {
  f->attachedCount = f->threadCount;
  LT_CHECK(f->threadCount > 0 && f->threadCount <= f->threadLimit);
  for (uint32_t i = f->threadCount; i-- > 1;) {
    if (!tracees[i].isGone && !lt_apart_has_stack(f->threads[i].stackPointer)) continue;
    uint32_t last = --f->threadCount;
    LT_CHECK(i <= last && last > 0);
    struct lt_snapshot_thread thread = f->threads[i];
    struct tracee tracee = tracees[i];
    f->threads[i] = f->threads[last];
    tracees[i] = tracees[last];
    f->threads[last] = thread;
    tracees[last] = tracee;
    indexOf[tracees[i].thread] = i;
    indexOf[tracees[last].thread] = last;
  }
}

/// Detaches from a stopped thread. Its wait gets the remaining time, unless a handler runs first.
static void let_go(const struct lt_freeze *f, uint32_t i) {
  uint32_t thread = tracees[i].thread;
  LT_CHECK(tracees[i].isStopped && !tracees[i].isReleased);
  tracees[i].isReleased = true;
  if (!tracees[i].signal && f->threads[i].flags & LT_SNAPSHOT_THREAD_WAITING)
    lt_timed_wait_shorten(f->process, thread, &tracees[i].wait);
  lt_syscall6(SYS_ptrace, PTRACE_DETACH, thread, 0, tracees[i].signal, 0, 0);
}

static void let_stopped_go(const struct lt_freeze *f, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (tracees[i].isStopped && !tracees[i].isGone) let_go(f, i);
}

/// Reads the registers of the threads that have stopped.
static void read_stopped(struct lt_freeze *f) {
  for (uint32_t i = 1; i < f->threadCount; i++)
    if (tracees[i].isStopped && !tracees[i].isGone) read_registers(&f->threads[i], &tracees[i]);
}

// --- late threads ----------------------------------------------------------------------------------------------------

/// Tells whether a late thread has created a thread that the tracer does not know. It was in that call when it was
/// asked to stop, and the new thread runs.
static bool has_made_thread(uint32_t thread) {
  struct lt_stopped_thread stopped;
  uint64_t flags;
  if (!lt_stopped_thread_read((pid_t)thread, &stopped) || stopped.result <= 0) return false;
  if (stopped.call != SYS_clone && stopped.call != SYS_clone3) return false;
  if (!lt_stopped_thread_argument((pid_t)thread, 0, &flags)) return false;
  // The first field of struct clone_args has the flags.
  if (stopped.call == SYS_clone3 && !lt_read_bytes(&lt_own_memory, flags, &flags, sizeof flags)) return false;
  return flags & CLONE_THREAD && (stopped.result >= THREAD_NUMBER_LIMIT || !indexOf[stopped.result]);
}

/// Notes the late threads that have stopped or ended, and lets them go. False if one has created an unknown thread.
static bool note_stopped_late(struct lt_freeze *f) {
  bool isComplete = true;
  for (uint32_t i = 1; i < f->attachedCount; i++) {
    struct tracee *t = &tracees[i];
    if (!t->isLate || t->isReleased || (!t->isStopped && !t->isGone)) continue;
    if (t->isGone) {
      t->isReleased = true;
      f->threads[i].flags |= LEFT_OUT;
      continue;
    }
    if (has_made_thread(t->thread)) isComplete = false;
    read_registers(&f->threads[i], t);
    if (lt_apart_has_stack(f->threads[i].stackPointer)) f->threads[i].flags |= LEFT_OUT;
    let_go(f, i);
  }
  return isComplete;
}

/// Waits for the late threads, and lets them go. Returns the new `lt_copy_claim.late`.
static uint32_t note_late(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  bool isComplete = true;
  for (unsigned round = 0;; round++) {
    uint32_t before = f->awaitedCount;
    take_reports(f);
    release_other_program(f);
    if ((round == 0 || f->awaitedCount < before) && !note_stopped_late(f)) isComplete = false;
    if (f->awaitedCount == 0) break;
    uint64_t milliseconds = milliseconds_since(begin);
    if (milliseconds > LATE_MILLISECONDS || lt_parent_process_id() != f->process) return LATE_LOST;
    if (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds)) break;
    sleep_between_looks(round);
  }
  if (isComplete) return LATE_NOTED;
  return f->isLastTry ? LATE_LOST : LATE_GIVEN_UP;
}

/// Tells the copy about the late threads. The first answer counts.
static void answer_copy(struct lt_freeze *f, uint32_t late) {
  uint32_t awaited = LATE_AWAITED;
  if (atomic_compare_exchange_strong(&f->claim->late, &awaited, late))
    lt_syscall(SYS_futex, &f->claim->late, FUTEX_WAKE, 1);
}

/// In the copy: waits until the registers of the late threads are there. False if the copy was given up.
static bool await_late(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  while (atomic_load(&f->claim->late) == LATE_AWAITED && milliseconds_since(begin) < 2 * LATE_MILLISECONDS) {
    struct timespec limit = {.tv_nsec = LOOK_NANOSECONDS};
    lt_syscall6(SYS_futex, (long)&f->claim->late, FUTEX_WAIT, LATE_AWAITED, (long)&limit, 0, 0);
  }
  uint32_t kept = 1;
  uint32_t late = atomic_load(&f->claim->late);
  f->isFrozen = late == LATE_NOTED;
  for (uint32_t i = 1; i < f->threadCount && f->isFrozen; i++)
    if (!(f->threads[i].flags & LEFT_OUT)) f->threads[kept++] = f->threads[i];
  f->threadCount = kept;
  return late != LATE_GIVEN_UP;
}

// --- the copy --------------------------------------------------------------------------------------------------------

/// Makes the copy. The copy ends at once if its process has given it up.
static void copy(struct lt_freeze *f, unsigned long flags) {
  atomic_store(&f->copyBegin, lt_clock_nanoseconds(CLOCK_MONOTONIC));
  pid_t made = (pid_t)copy_process(flags);
  if (made != 0) {
    f->copy = made;
    // The threads get as much time to continue.
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

/// Gives up a copy that has not begun its work. False if it has.
static bool give_up(struct lt_freeze *f) {
  uint32_t unclaimed = UNCLAIMED;
  return atomic_compare_exchange_strong(&f->claim->state, &unclaimed, GIVEN_UP);
}

static void copy_for_tracer(void *freeze) { copy(freeze, CLONE_PARENT); }

/// Makes the copy in a thread of the tracer's. A late thread may hold the lock of the memory that the kernel needs for
/// the copy. False if that takes too long: the copy is given up, and the tracer can let the threads go.
static bool copy_beside_late(struct lt_freeze *f) {
  enum { FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED };
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  atomic_store(&f->copierRuns, 1);
  if (lt_clone_call(FLAGS | CLONE_CHILD_CLEARTID, stack + STACK_SIZE, copy_for_tracer, f, &f->copierRuns, 0) < 0) {
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

/// Waits for the thread whose copy was given up. The others run, so the kernel can finish it. Ends the tracer if the
/// kernel does not: then no other try succeeds.
static void end_copier(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  for (uint32_t runs; (runs = atomic_load(&f->copierRuns)) != 0;) {
    if (milliseconds_since(begin) > COPY_MILLISECONDS) lt_syscall(SYS_exit_group, 0, 0, 0);
    struct timespec limit = {.tv_nsec = LOOK_NANOSECONDS};
    lt_syscall6(SYS_futex, (long)&f->copierRuns, FUTEX_WAIT, runs, (long)&limit, 0, 0);
  }
}

/// Stops the threads if `stopsThreads` is set, makes the copy, and lets the threads continue. Then notes late threads.
static void trace(void *freeze) {
  struct lt_freeze *f = freeze;
  // The copy inherits this empty table. Closing a file may block on its server, so it happens before threads stop.
  lt_leave_descriptors();
  // Attaching may have to be allowed first.
  while (!atomic_load(&f->isAllowed)) {
    struct timespec limit = {.tv_nsec = 50000000};
    lt_syscall6(SYS_futex, (long)&f->isAllowed, FUTEX_WAIT, 0, (long)&limit, 0, 0);
    if (lt_parent_process_id() != f->process) return;
  }
  if (f->stopsThreads) lt_timed_waits_prepare(f->process);
  f->stopBegin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  // The kernel lets attached threads go when this process ends.
  bool isStopped = !f->stopsThreads || stop_all(f);
  if (lt_parent_process_id() != f->process) return;
  read_stopped(f);
  if (!isStopped) {
    let_stopped_go(f, f->threadCount);
    return;
  }
  if (f->stopsThreads) leave_out_passing(f);
  LT_CHECK(f->threadCount > 0 && f->threadCount <= f->threadLimit);
  for (uint32_t i = 1; i < f->threadCount; i++) tracees[i].isLate = !tracees[i].isStopped;
  f->stopped(f->argument);
  f->isFrozen = f->stopsThreads || f->isAlone;
  bool isMade = true, hasLate = f->awaitedCount > 0;
  if (hasLate) isMade = copy_beside_late(f);
  else copy(f, CLONE_PARENT);
  let_stopped_go(f, f->attachedCount);
  uint64_t pause = lt_clock_nanoseconds(CLOCK_MONOTONIC) - f->stopBegin;
  if (pause > f->longestPause) f->longestPause = pause;
  // The copy waits for its answer, and a later one may have a longer pause.
  if (!hasLate) atomic_store(f->pauseNanoseconds, f->isFrozen ? f->longestPause : 0);
  atomic_store(&f->isDone, 1);
  if (!hasLate) return;
  uint32_t late = note_late(f);
  if (!isMade) end_copier(f);
  f->isGivenUp = !isMade || late == LATE_GIVEN_UP;
  if (!f->isGivenUp) atomic_store(f->pauseNanoseconds, f->longestPause);
  answer_copy(f, late);
}

// --- the thread that waits for it ------------------------------------------------------------------------------------

bool lt_is_namespace_of_children_another(void) {
  char own[64], childrens[64];
  long length = lt_syscall(SYS_readlink, "/proc/thread-self/ns/pid", own, sizeof own);
  if (length <= 0) return false; // no /proc, and so no image
  return lt_syscall(SYS_readlink, "/proc/thread-self/ns/pid_for_children", childrens, sizeof childrens) != length ||
         memcmp(own, childrens, (size_t)length) != 0;
}

static bool has_stack(void) {
  if (!stack) stack = lt_map_private(2 * STACK_SIZE);
  return stack;
}

/// The memory for stopping threads.
static bool has_memory(const struct lt_freeze *f) {
  if (!tracees) tracees = lt_map_private(f->threadLimit * sizeof *tracees);
  if (!indexOf) indexOf = lt_map_private(THREAD_NUMBER_LIMIT * sizeof *indexOf);
  return tracees && indexOf;
}

/// Returns the nanoseconds that the kernel may take for a copy.
static uint64_t copy_patience(bool stopsThreads) {
  uint64_t milliseconds = COPY_MILLISECONDS + (lt_peak_resident_size() >> 30) * COPY_MILLISECONDS_PER_GIBIBYTE;
  return milliseconds * (stopsThreads ? 1 : RUNNING_FACTOR) * 1000000;
}

/// Waits for the tracer's end. Kills the tracer if the kernel takes too long: the copy may wait for a stopped thread.
/// The threads continue then. After the copy, the tracer has time for the late threads.
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

/// Has a process apart make the copy. −ETIMEDOUT if the kernel does not finish it, −EAGAIN if threads could not be
/// stopped, −EBUSY if late threads were in its way, and −errno if there can be no such process.
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
  atomic_store(&f->claim->late, LATE_AWAITED);
  atomic_store(&f->copyBegin, 0);
  atomic_store(&f->isAllowed, 0);
  atomic_store(&f->isDone, 0);
  atomic_store(&f->tracerRuns, 1);
  long tracer = lt_clone_call(CLONE_VM | CLONE_FILES | CLONE_UNTRACED | CLONE_CHILD_CLEARTID, stack + 2 * STACK_SIZE,
                              trace, f, &f->tracerRuns, 0);
  if (tracer < 0) return (pid_t)tracer;
  atomic_store(&f->tracer, (pid_t)tracer);
  bool needsPermission = stopsThreads && mayNeedPermission;
  if (needsPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, tracer, 0, 0, 0, 0);
  atomic_store(&f->isAllowed, 1);
  lt_syscall(SYS_futex, &f->isAllowed, FUTEX_WAKE, 1);
  await_tracer(f, (pid_t)tracer);
  if (needsPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0, 0);
  uint32_t attached = f->attachedCount ? f->attachedCount : f->threadCount;
  LT_CHECK(attached <= f->threadLimit && f->threadCount <= attached);
  for (uint32_t i = 1; i < attached; i++) indexOf[tracees[i].thread] = 0;
  answer_copy(f, LATE_LOST);
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

/// Has the threads stopped for the copy, again and again while late threads are in its way.
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
  if (lt_is_namespace_of_children_another()) {
    f->stopped(f->argument);
    f->copy = -ENOTSUP;
    return;
  }
  f->longestPause = 0;
  f->isAlone = !lt_own_threads_has_others();
  bool hasTracer = !isSimulated && !isForbidden && has_stack(), isLate = false;
  if (hasTracer && !f->isAlone && !isBlocked && has_memory(f)) {
    pid_t made = copy_beside_threads(f);
    if (made > 0) return;
    isLate = made == -ETIMEDOUT && f->awaitedCount == 0;
  }
  if (hasTracer) {
    // The only thread of a program waits here, so nothing changes.
    uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    pid_t made = copy_by_tracer(f, false);
    // On a busy machine this copy is slow, too. Otherwise a stopped thread was in the way, and will be next time.
    bool isFast = lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin < COPY_MILLISECONDS * 1000000ull / 2;
    if (isLate && made > 0 && isFast) isBlocked = true;
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
