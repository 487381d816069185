// The process that stops, copies and lets go. Runs after a fork of a process with threads: takes no memory from an
// allocator.

#define _GNU_SOURCE
#include "copy_guardian.h"

#if LT_CAN_STOP_THREADS

#include "guardian.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  COPY_MILLISECONDS = 5000,    // the copy's birth and end
  FORGET_MILLISECONDS = 10000, // until another tracer has let the target go, or a thread has come to a call
  FORGET_STOP_MILLISECONDS = 100,
  BETWEEN_TRIES_MILLISECONDS = 20,
  LATE_MILLISECONDS = 1,
  CLOSE_RANGE_CALL = 436, // close_range(2), Linux 5.9
  UNSHARE_DESCRIPTORS = 2,
};

static uint64_t in_milliseconds(uint64_t milliseconds) { return lt_nanoseconds() + milliseconds * 1000000ull; }

static void answer(int result) { (void)!write(LT_GUARDIAN_ANSWER, &result, sizeof result); }

/// The copy as its target knows it: a process in a namespace has another number there.
struct made_copy {
  pid_t process;
  int64_t numberInTarget;
};

static int kernel_reason(struct lt_copy_exchange *exchange, int64_t result) {
  exchange->reason = (int)-result;
  return LT_COPY_REFUSED;
}

/// Makes the copy. It is born stopped, is ended by the kernel with this process, and shares the target's descriptors:
/// a connection that the target closes is closed.
static int make_copy(struct lt_copy_exchange *exchange, struct made_copy *copy) {
  // Had the tracer no time to take hold of the copy, it would go on with a call of exit_group, whose number the code
  // of `_exit` has in rdx.
  struct lt_injected_call call = {.instruction = exchange->exitCall,
                                  .number = SYS_clone,
                                  .arguments = {CLONE_FILES, 0, SYS_exit_group, 0},
                                  .followsChild = true,
                                  .suspendsFilter = exchange->suspendsFilter};
  int result = lt_call_in_process(&exchange->stopped, &call);
  if (call.child > 0) {
    copy->process = call.child;
    copy->numberInTarget = call.result;
    int born = lt_thread_await_stop(call.child, in_milliseconds(COPY_MILLISECONDS));
    if (born == 0) ptrace(PTRACE_SETOPTIONS, call.child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    exchange->copyNanoseconds = call.nanoseconds;
    exchange->copy = call.child;
    return result != 0 ? result : born == 0 ? 0 : LT_COPY_NO_CALL;
  }
  if (result == -EACCES) return LT_COPY_FILTERED;
  if (result != 0) return result;
  return call.result < 0 ? kernel_reason(exchange, call.result) : LT_COPY_NO_CALL;
}

/// The copy gives back its share of the descriptors.
static void close_descriptors(const struct lt_copy_exchange *exchange, pid_t copy) {
  struct lt_copied_thread note = {0};
  if (lt_thread_note(copy, &note) != 0) return;
  struct lt_injected_call call = {.instruction = exchange->exitCall,
                                  .number = CLOSE_RANGE_CALL,
                                  .arguments = {0, ~0u, UNSHARE_DESCRIPTORS, 0},
                                  .endsWithTracer = true,
                                  .suspendsFilter = exchange->suspendsFilter};
  // Without libc's instruction the copy stands behind the one that made it.
  if (call.instruction == 0) call.instruction = note.programCounter - 2;
  lt_thread_call(copy, &call);
}

static void wait_moment(void) {
  struct timespec moment = {.tv_nsec = BETWEEN_TRIES_MILLISECONDS * 1000000};
  nanosleep(&moment, NULL);
}

/// Has the target wait for the copy, which has ended, as nothing else in it does.
static int have_forgotten(struct lt_copy_exchange *exchange, const struct made_copy *copy) {
  uint64_t deadline = in_milliseconds(FORGET_MILLISECONDS);
  for (;;) {
    int result = lt_stop_process(&exchange->stopped, FORGET_STOP_MILLISECONDS);
    // One that has ended has left the copy to its parent, which forgets it.
    if (result == LT_COPY_GONE) return 0;
    if (result == 0) {
      struct lt_injected_call call = {.instruction = exchange->exitCall,
                                      .number = SYS_wait4,
                                      .arguments = {(uint64_t)copy->numberInTarget, 0, __WALL | WNOHANG, 0},
                                      .suspendsFilter = exchange->suspendsFilter};
      result = lt_call_in_process(&exchange->stopped, &call);
      lt_release_process(&exchange->stopped);
      while (lt_release_late_threads(&exchange->stopped) > 0 && lt_nanoseconds() < deadline) wait_moment();
      if (result == 0 && (call.result == copy->numberInTarget || call.result == -ECHILD)) return 0;
    }
    if (lt_nanoseconds() >= deadline) return LT_COPY_NO_CALL;
    wait_moment();
  }
}

static int end_copy(struct lt_copy_exchange *exchange, const struct made_copy *copy) {
  if (copy->process == 0) return 0;
  kill(copy->process, SIGKILL);
  lt_thread_await_end(copy->process, in_milliseconds(COPY_MILLISECONDS));
  return have_forgotten(exchange, copy);
}

/// Until the parent closes the control or ends. Threads that stop only now are let go.
static void await_parent(struct lt_copy_exchange *exchange, bool holds) {
  for (;;) {
    size_t late = holds ? 0 : lt_release_late_threads(&exchange->stopped);
    struct pollfd ends[] = {{.fd = LT_GUARDIAN_CONTROL, .events = POLLIN},
                            {.fd = LT_GUARDIAN_PARENT, .events = POLLIN}};
    if (poll(ends, sizeof ends / sizeof *ends, late > 0 ? LATE_MILLISECONDS : -1) > 0) return;
  }
}

void lt_guard_copy(void *shared) {
  struct lt_copy_exchange *exchange = shared;
  uint32_t milliseconds = exchange->options.stopMilliseconds;
  int result = lt_stop_process(&exchange->stopped, milliseconds);
  struct made_copy copy = {0};
  if (result != 0) {
    answer(result);
    _exit(0);
  }
  if (exchange->options.mode == LT_COPY_MODE_HOLD) {
    answer(0);
    await_parent(exchange, true);
    lt_release_process(&exchange->stopped);
    answer(0);
    _exit(0);
  }
  result = make_copy(exchange, &copy);
  lt_release_process(&exchange->stopped);
  if (result == 0) {
    close_descriptors(exchange, copy.process);
    answer(0);
    await_parent(exchange, false);
  }
  int ended = end_copy(exchange, &copy);
  answer(result != 0 ? result : ended);
  _exit(0);
}

#endif
