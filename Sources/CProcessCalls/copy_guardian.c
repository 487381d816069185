// The guardian, a process that stops, copies and resumes the target. This code runs after a fork of a process with
// threads, so it uses no allocator.

#define _GNU_SOURCE
#include "copy_guardian.h"

#if LT_CAN_STOP_THREADS

#include "guardian.h"
#include "interrupted_calls.h"
#include "listed_threads.h"
#include "lone_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  // The longest time that the other threads stay stopped until the copying thread gets a processor. If it gets none,
  // all threads resume, and the copy is tried again.
  FIRST_ENTRY_MILLISECONDS = 25,
  LONGEST_ENTRY_MILLISECONDS = 100,
  MAX_TRIES = 100,     // these take several seconds at a load of 40. With dozens of busy processes, 20 tries were once
                       // too few
  MAX_LATE_COPIES = 3, // each of them keeps the other threads stopped for as long as a copy may take
  // The longest time that the other threads stay stopped while the kernel makes the copy. The kernel takes 16 ms for a
  // gibibyte, and longer if other processes use the processor.
  COPY_MILLISECONDS = 1000,
  COPY_MILLISECONDS_PER_GIBIBYTE = 250,
  CLOSE_MILLISECONDS = 5000, // for closing the copy's descriptors, which may wait for a slow file system
  // The longest wait for the copy's end, and then for a target thread to reap the copy. The second wait includes the
  // time until another tracer has released the target, or until a thread can make the call. The target runs during both
  // waits. At a load of 45, a copy takes seconds to end.
  END_MILLISECONDS = 60000,
  FORGET_MILLISECONDS = 60000,
  BETWEEN_TRIES_MILLISECONDS = 20,
  LATE_MILLISECONDS = 1,
  OTHER_PROGRAM_MILLISECONDS = 50, // the longest time that a tracee stays stopped after it executed another program
  LATE_PATIENCE_MILLISECONDS = 10000,
  CLOSE_RANGE_CALL = 436, // close_range(2), Linux 5.9
  UNSHARE_DESCRIPTORS = 2,
  PATH_SIZE = 64,
};

static uint64_t in_milliseconds(uint64_t milliseconds) { return lt_nanoseconds() + milliseconds * 1000000ull; }

static void answer(int result) { (void)!write(LT_GUARDIAN_ANSWER, &result, sizeof result); }

/// The copy's number here and in the target's PID namespace, where it may be different.
struct made_copy {
  pid_t process;
  int64_t numberInTarget;
};

/// Returns why there is no copy. The kernel refused the call, or interrupted it to deliver a signal first (−ECANCELED).
static int reason_of(struct lt_copy_exchange *exchange, int64_t result) {
  if (result == -EINTR || result == -LT_RESTART_NO_INTERRUPT) return -ECANCELED;
  exchange->reason = (int)-result;
  return LT_COPY_REFUSED;
}

/// Makes the kernel kill the copy first when memory is short. Until the copy ends, each page that the target writes is
/// duplicated. This may take more memory than the target's control group allows.
static void make_expendable(pid_t copy) {
  char path[PATH_SIZE];
  static const char mostExpendable[] = "1000";
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", copy);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, mostExpendable, sizeof mostExpendable - 1);
  close(file);
}

/// Makes the copy, which is stopped from the start. The kernel kills the copy when this process ends. The copy shares
/// the target's descriptors, so it does not keep a connection open that the target closes. Returns −ECANCELED if the
/// copying thread did not reach the call in time. Returns −ETIME if the kernel took so long that the other threads were
/// resumed before the copy was made.
static int make_copy(struct lt_copy_exchange *exchange, struct made_copy *copy, uint64_t entryMilliseconds) {
  // If the tracer does not catch the copy, the copy continues in the code of `_exit`, which ends it. On x86-64, that
  // code calls exit_group, whose number it keeps in the register of the third argument.
  struct lt_injected_call call = {.instruction = exchange->exitCall,
                                  .number = SYS_clone,
                                  .arguments = {CLONE_FILES, 0, SYS_exit_group},
                                  .followsChild = true,
                                  .allowFiltered = exchange->options.allowFiltered};
  struct lt_stopped_process *stopped = &exchange->stopped;
  size_t caller = 0;
  int result = lt_begin_call_in_process(stopped, &call, &caller, in_milliseconds(entryMilliseconds));
  if (call.progress == LT_CALL_NOT_BEGUN) return result == -EACCES ? LT_COPY_FILTERED : result;
  uint64_t patience = COPY_MILLISECONDS + (lt_resident_bytes(stopped->process) >> 30) * COPY_MILLISECONDS_PER_GIBIBYTE;
  // In a single-threaded process, no other thread has to wait.
  if (stopped->count == 1) patience = END_MILLISECONDS;
  pid_t thread = stopped->threads[caller].thread;
  if (result == 0) result = lt_thread_await_call(thread, &call, in_milliseconds(patience));
  exchange->copyNanoseconds = call.nanoseconds;
  // The copy exists, or was refused. The thread that made it still has to return to its own work.
  lt_release_others(stopped, caller);
  int ended = lt_thread_end_call(thread, &call);
  if (call.child == 0 && ended != 0) return ended;
  if (call.child == 0) return call.result < 0 ? reason_of(exchange, call.result) : LT_COPY_NO_CALL;
  copy->process = exchange->copy = call.child;
  make_expendable(call.child);
  // Another thread may have ended the caller just now, by exec or exit.
  copy->numberInTarget = ended == 0 ? call.result : lt_number_in_parent(stopped->process, call.child);
  bool isBorn = lt_thread_await_stop(call.child, in_milliseconds(END_MILLISECONDS)) == 0;
  if (isBorn) ptrace(PTRACE_SETOPTIONS, call.child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  // If the copy took too long, the other threads ran during the copy, so it does not show a single moment.
  if (result != 0) return result;
  return isBorn ? ended : LT_COPY_NO_CALL;
}

/// Makes the copy stop sharing the target's descriptors, and close its own copies of them.
static void close_descriptors(const struct lt_copy_exchange *exchange, pid_t copy) {
  struct lt_copied_thread note = {0};
  if (lt_thread_note(copy, &note) != 0) return;
  struct lt_injected_call call = {.instruction = exchange->exitCall,
                                  .number = CLOSE_RANGE_CALL,
                                  .arguments = {0, ~0u, UNSHARE_DESCRIPTORS},
                                  .endsWithTracer = true,
                                  .allowFiltered = exchange->options.allowFiltered};
  // If libc's instruction is unknown, use the instruction that made the copy. The copy is stopped right after it.
  if (call.instruction == 0) call.instruction = note.programCounter - LT_CALL_SIZE;
  // An error here does no harm: a copy whose descriptors are still open can be read and ended, too.
  if (lt_thread_begin_call(copy, &call, UINT64_MAX) != 0) return;
  if (lt_thread_await_call(copy, &call, in_milliseconds(CLOSE_MILLISECONDS)) == 0) lt_thread_end_call(copy, &call);
}

static void wait_moment(void) {
  struct timespec moment = {.tv_nsec = BETWEEN_TRIES_MILLISECONDS * 1000000};
  nanosleep(&moment, NULL);
}

/// Makes a target thread reap the exited copy.
static int have_forgotten(struct lt_copy_exchange *exchange, const struct made_copy *copy) {
  // For wait4, 0 and negative numbers mean other children.
  if (copy->numberInTarget <= 0) return LT_COPY_NO_CALL;
  uint64_t deadline = in_milliseconds(FORGET_MILLISECONDS);
  for (;;) {
    struct lt_injected_call call = {.instruction = exchange->exitCall,
                                    .number = SYS_wait4,
                                    .arguments = {(uint64_t)copy->numberInTarget, 0, __WALL | WNOHANG},
                                    .allowFiltered = exchange->options.allowFiltered};
    int result = lt_call_by_one_thread(&exchange->stopped, &call, deadline);
    // If the target has exited, the copy has another parent, which reaps it.
    if (result == LT_COPY_GONE) return 0;
    if (result == 0 && (call.result == copy->numberInTarget || call.result == -ECHILD)) return 0;
    if (lt_nanoseconds() >= deadline) return LT_COPY_NO_CALL;
    wait_moment();
  }
}

static int end_copy(struct lt_copy_exchange *exchange, const struct made_copy *copy) {
  if (copy->process == 0) return 0;
  kill(copy->process, SIGKILL);
  lt_thread_await_end(copy->process, in_milliseconds(END_MILLISECONDS));
  return have_forgotten(exchange, copy);
}

/// Waits until the parent uses or closes the control, or ends. Meanwhile resumes the threads that stop late. Also
/// resumes the process if a thread executes another program, because that thread then has another number.
static void await_parent(struct lt_copy_exchange *exchange, bool holds) {
  for (;;) {
    size_t late = holds ? 0 : lt_release_late_threads(&exchange->stopped);
    struct pollfd ends[] = {{.fd = LT_GUARDIAN_CONTROL, .events = POLLIN},
                            {.fd = LT_GUARDIAN_PARENT, .events = POLLIN}};
    int pause = holds ? -1 : late > 0 ? LATE_MILLISECONDS : OTHER_PROGRAM_MILLISECONDS;
    if (poll(ends, sizeof ends / sizeof *ends, pause) > 0) return;
    lt_threads_take_reports();
  }
}

/// Waits between two tries, until the late threads have stopped. A thread can be asked to stop only once. Returns false
/// if they do not stop, or if the parent has ended.
static bool await_next_try(struct lt_stopped_process *stopped) {
  uint64_t deadline = in_milliseconds(LATE_PATIENCE_MILLISECONDS);
  do {
    struct pollfd parent = {.fd = LT_GUARDIAN_PARENT, .events = POLLIN};
    if (poll(&parent, 1, BETWEEN_TRIES_MILLISECONDS) > 0 || lt_nanoseconds() >= deadline) return false;
  } while (lt_release_late_threads(stopped) > 0);
  return true;
}

/// Stops the target, tries to copy it, and resumes it.
static int try_copy(struct lt_copy_exchange *exchange, struct made_copy *copy, uint64_t entryMilliseconds) {
  struct lt_stopped_process *stopped = &exchange->stopped;
  int result = lt_stop_process(stopped, exchange->options.stopMilliseconds);
  if (result != 0) return result;
  result = make_copy(exchange, copy, entryMilliseconds);
  lt_release_process(stopped);
  uint64_t pause = stopped->end - stopped->begin;
  if (pause > exchange->longestPause) exchange->longestPause = pause;
  return result;
}

/// Returns the obstacle that made a try fail, if the next try may succeed; otherwise LT_OBSTACLE_NONE.
static enum lt_copy_obstacle obstacle_of(int result, const struct lt_stopped_process *stopped) {
  switch (result) {
    // When a thread executes another program, the other threads end.
    case -ESRCH:
    case LT_COPY_GONE: return LT_OBSTACLE_OTHER_PROGRAM;
    case -ECANCELED: return LT_OBSTACLE_PROCESSOR;
    case -ETIME: return LT_OBSTACLE_KERNEL;
    case LT_COPY_NO_CALL: return lt_has_met_thread(stopped) ? LT_OBSTACLE_PLACE : LT_OBSTACLE_STOP;
    default: return LT_OBSTACLE_NONE;
  }
}

/// Tries to copy the target. Ends when there is a copy or a lasting obstacle, or after too many tries.
static int stop_and_copy(struct lt_copy_exchange *exchange, struct made_copy *copy) {
  struct lt_stopped_process *stopped = &exchange->stopped;
  uint64_t patience = FIRST_ENTRY_MILLISECONDS;
  unsigned lateCopies = 0;
  for (unsigned tries = 0;; tries++) {
    int result = try_copy(exchange, copy, patience);
    enum lt_copy_obstacle obstacle = obstacle_of(result, stopped);
    if (obstacle == LT_OBSTACLE_NONE) return result;
    if (obstacle == LT_OBSTACLE_OTHER_PROGRAM && kill(stopped->process, 0) != 0) return LT_COPY_GONE;
    exchange->reason = obstacle;
    lateCopies += obstacle == LT_OBSTACLE_KERNEL;
    if (end_copy(exchange, copy) != 0) return LT_COPY_NO_CALL;
    *copy = (struct made_copy){0};
    exchange->copy = 0;
    if (tries == MAX_TRIES || lateCopies == MAX_LATE_COPIES || !await_next_try(stopped)) return LT_COPY_NO_CALL;
    patience = 2 * patience < LONGEST_ENTRY_MILLISECONDS ? 2 * patience : LONGEST_ENTRY_MILLISECONDS;
  }
}

void lt_guard_copy(void *shared) {
  struct lt_copy_exchange *exchange = shared;
  struct made_copy copy = {0};
  if (exchange->options.mode == LT_COPY_MODE_HOLD) {
    int result = lt_stop_process(&exchange->stopped, exchange->options.stopMilliseconds);
    if (result == 0) lt_await_late_threads(&exchange->stopped);
    answer(result);
    if (result != 0) _exit(0);
    await_parent(exchange, true);
    lt_release_process(&exchange->stopped);
    answer(0);
    _exit(0);
  }
  int result = stop_and_copy(exchange, &copy);
  if (result == 0) {
    close_descriptors(exchange, copy.process);
    lt_await_late_threads(&exchange->stopped);
    answer(0);
    await_parent(exchange, false);
  }
  int ended = end_copy(exchange, &copy);
  answer(result != 0 ? result : ended);
  _exit(0);
}

#endif
