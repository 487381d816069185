// Stops the threads of a process for a moment, by ptrace, and lets them go again.
//
// All of it runs in the tracer, which shares a thread's thread-local memory: nothing here may use errno or other such
// memory, or call functions that do.

#include "image/thread_stop.h"

#include "check.h"
#include "image/own_threads.h"
#include "image/timed_waits.h"
#include "os/apart_task.h"
#include "os/number_text.h"
#include "os/thread_list.h"
#include "swift/own_memory.h"
#include "thread/own_stack.h"

#include <errno.h>
#include <interrupted_calls.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
  THREAD_NUMBER_LIMIT = 1 << 22,
  STOP_EVENT = 128,
  PASS_LIMIT = 1000,
  STANDSTILL_MILLISECONDS = 25, ///< from the first request to stop, until the copy is made without the late threads
  STOP_MILLISECONDS = 5000,     ///< as much in the last try, on a machine with more to do
  INTERRUPT_MILLISECONDS = 2,   ///< from a request to stop: by then a thread on another processor is interrupted
  // Late threads, which may stop after the copy:
  PATIENCE_MILLISECONDS = 200, ///< limit for threads that wait for a child in vfork
  LOCK_MILLISECONDS = 2000,    ///< limit for threads that wait for the disk, or for a lock of the kernel
};

/// The state of the thread at the same index of `lt_freeze.threads`.
struct tracee {
  uint32_t thread;
  bool isStopped, isGone;
  bool isLate;     ///< it has not stopped before the copy
  bool isReleased; ///< the tracer has detached, or the late thread has ended
  int signal;      ///< that was about to be delivered when it stopped
  struct lt_timed_wait wait;
};

static struct tracee *tracees;
static uint32_t *indexOf; ///< by thread number; 0: not seen. All are 0 between two snapshots

bool lt_thread_stop_reserve(const struct lt_freeze *f) {
  if (!tracees) tracees = lt_map_private(f->threadLimit * sizeof *tracees);
  if (!indexOf) indexOf = lt_map_private(THREAD_NUMBER_LIMIT * sizeof *indexOf);
  return tracees && indexOf;
}

void lt_thread_stop_reset(void) {
  tracees = NULL;
  indexOf = NULL;
}

/// Until the threads are sorted, all that are attached are listed.
static uint32_t attached_count(const struct lt_freeze *f) {
  return f->attachedCount ? f->attachedCount : f->threadCount;
}

void lt_thread_stop_forget(const struct lt_freeze *f) {
  LT_CHECK(attached_count(f) <= f->threadLimit && f->threadCount <= attached_count(f));
  for (uint32_t i = 1; i < attached_count(f); i++) indexOf[tracees[i].thread] = 0;
}

// --- stopping ------------------------------------------------------------------------------------------------------

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
  for (uint32_t i = 1; i < attached_count(f) && f->awaitedCount > 0; i++) {
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

/// Tells whether threads that have not stopped are all in waits that nothing interrupts. Those run no code: they stop
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
/// EINTR, or with a number that has it restart the call afterwards. A call that was about to return has its
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

/// Has the kernel begin the wait again, unless a handler of the host's runs first: then it returns EINTR, as it would
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
  // The recorder's own thread: no code of the host's uses its objects.
  if (thread->osThread == (uint32_t)lt_own_threads_watcher() || lt_own_threads_serves(thread->osThread)) return;
  memcpy(thread->registers, stopped.registers, sizeof stopped.registers);
}

uint64_t lt_milliseconds_since(uint64_t begin) { return (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin) / 1000000; }

static void sleep_between_looks(unsigned round) { lt_sleep(round < 8 ? 20000 : 500000); }

/// Tells whether the threads that have stopped have waited long enough for the others.
static bool is_standstill_over(const struct lt_freeze *f, uint64_t asked) {
  uint64_t milliseconds = lt_milliseconds_since(f->stopBegin);
  if (lt_milliseconds_since(asked) < INTERRUPT_MILLISECONDS) return false;
  if (!f->isLastTry) return milliseconds >= STANDSTILL_MILLISECONDS;
  return milliseconds > STOP_MILLISECONDS || (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds));
}

// A late thread needs no wait: it stops before it runs another instruction of its program (Linux, kernel/signal.c,
// get_signal). The last try waits for late threads.
bool lt_thread_stop_all(struct lt_freeze *f) {
  for (int pass = 0; pass < PASS_LIMIT; pass++) {
    int found = attach_new(f);
    if (found < 0) return false;
    // Stopped threads make no new ones.
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

void lt_thread_stop_sort(struct lt_freeze *f) {
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
  for (uint32_t i = 1; i < f->threadCount; i++) tracees[i].isLate = !tracees[i].isStopped;
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

void lt_thread_stop_let_go(const struct lt_freeze *f) {
  for (uint32_t i = 1; i < attached_count(f); i++)
    if (tracees[i].isStopped && !tracees[i].isGone) let_go(f, i);
}

void lt_thread_stop_read(struct lt_freeze *f) {
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
      f->threads[i].flags |= LT_THREAD_LEFT_OUT;
      continue;
    }
    if (has_made_thread(t->thread)) isComplete = false;
    read_registers(&f->threads[i], t);
    if (lt_apart_has_stack(f->threads[i].stackPointer)) f->threads[i].flags |= LT_THREAD_LEFT_OUT;
    let_go(f, i);
  }
  return isComplete;
}

uint32_t lt_thread_stop_note_late(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  bool isComplete = true;
  for (unsigned round = 0;; round++) {
    uint32_t before = f->awaitedCount;
    take_reports(f);
    release_other_program(f);
    if ((round == 0 || f->awaitedCount < before) && !note_stopped_late(f)) isComplete = false;
    if (f->awaitedCount == 0) break;
    uint64_t milliseconds = lt_milliseconds_since(begin);
    if (milliseconds > LT_LATE_MILLISECONDS || lt_parent_process_id() != f->process) return LT_LATE_LOST;
    if (milliseconds > PATIENCE_MILLISECONDS && stand_still(f, milliseconds)) break;
    sleep_between_looks(round);
  }
  if (isComplete) return LT_LATE_NOTED;
  return f->isLastTry ? LT_LATE_LOST : LT_LATE_GIVEN_UP;
}
