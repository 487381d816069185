// Makes one thread of a process execute a system call, while all other threads run. Uses no allocator.

#define _GNU_SOURCE
#include "lone_call.h"

#if LT_CAN_STOP_THREADS

#include "interrupted_calls.h"
#include "listed_threads.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

enum {
  MILLISECOND = 1000000,
  TURN_MILLISECONDS = 1000, // the longest wait for a thread's stop, before the next thread is asked
  STEP_MILLISECONDS = 20,
  MAX_LATE = 32,
};

/// How much a stop disturbs a thread, in rising order. A wait that continues with its remaining time is disturbed
/// least. An unfit thread cannot be stopped.
enum rank { WAITS_FOR_REST, SLEEPS, IS_STOPPED, RUNS, RANKS, UNFIT };

/// Threads that were asked to stop, and have not stopped yet.
struct late_threads {
  pid_t threads[MAX_LATE];
  size_t count;
};

static enum rank rank_of(pid_t process, pid_t thread) {
  switch (lt_thread_state_letter(process, thread, NULL)) {
    case 'S': {
      long call = lt_thread_sleeping_call(thread);
      return call >= 0 && !lt_call_has(call, LT_WHOLE_TIME) ? WAITS_FOR_REST : SLEEPS;
    }
    case 'T': return IS_STOPPED;
    case 'R': return RUNS;
    default: return UNFIT;
  }
}

static void release_late(struct late_threads *late, struct lt_stopped_process *stopped) {
  lt_release_late_threads(stopped);
  for (size_t i = 0; i < late->count;) {
    int result = lt_thread_await_stop(late->threads[i], 0);
    if (result == 0) lt_thread_release(late->threads[i]);
    if (result != -ETIME) late->threads[i] = late->threads[--late->count];
    else i++;
  }
}

/// Waits until a thread stops. During the wait, resumes late threads that have stopped. Returns 0, −ETIME if the thread
/// has not stopped at the deadline, or −ESRCH if it has ended.
static int await_turn(pid_t thread, struct late_threads *late, struct lt_stopped_process *stopped, uint64_t deadline) {
  for (;;) {
    uint64_t step = lt_nanoseconds() + STEP_MILLISECONDS * MILLISECOND;
    int result = lt_thread_await_stop(thread, step < deadline ? step : deadline);
    if (result != -ETIME || lt_nanoseconds() >= deadline) return result;
    release_late(late, stopped);
  }
}

/// Makes a stopped thread execute the call. Returns false if the thread cannot do that.
static bool call_on(pid_t thread, const struct lt_injected_call *model, struct lt_injected_call *call, int *result) {
  struct lt_copied_thread note = {.thread = thread, .state = LT_THREAD_COMPUTING};
  if (lt_thread_note(thread, &note) != 0 || !lt_thread_can_call(thread, &note)) return false;
  *call = *model;
  *result = call->instruction ? lt_thread_call(thread, call) : -EFAULT;
  if (*result == -EFAULT && note.state == LT_THREAD_IN_CALL) {
    // The instruction's address may be wrong, because the process has executed another program since it was found. Use
    // the instruction of the thread's own call.
    call->instruction = note.callInstruction;
    *result = lt_thread_call(thread, call);
  }
  return call->progress != LT_CALL_NOT_BEGUN;
}

int lt_call_by_one_thread(struct lt_stopped_process *stopped, struct lt_injected_call *call, uint64_t deadline) {
  static struct lt_listed_threads list;
  struct late_threads late = {.count = 0};
  const struct lt_injected_call model = *call;
  int result = lt_listed_threads_open(&list, stopped->process);
  if (result != 0) return result;
  result = LT_COPY_GONE;
  bool isMade = false;
  for (enum rank rank = 0; rank < RANKS && !isMade && late.count < MAX_LATE; rank++) {
    lt_listed_threads_rewind(&list);
    for (pid_t thread; !isMade && late.count < MAX_LATE && (thread = lt_listed_threads_next(&list)) > 0;) {
      enum rank its = rank_of(stopped->process, thread);
      if (its != UNFIT && result == LT_COPY_GONE) result = LT_COPY_NO_CALL;
      if (its != rank || lt_nanoseconds() >= deadline || lt_thread_seize(thread) != 0) continue;
      uint64_t turn = lt_nanoseconds() + TURN_MILLISECONDS * MILLISECOND;
      int waited = await_turn(thread, &late, stopped, turn < deadline ? turn : deadline);
      if (waited == -ETIME) late.threads[late.count++] = thread;
      if (waited != 0) continue;
      isMade = call_on(thread, &model, call, &result);
      lt_thread_release(thread);
    }
  }
  lt_listed_threads_close(&list);
  // Resume the late threads before returning, because a thread that is still traced cannot be asked to stop again.
  while (late.count > 0 && lt_nanoseconds() < deadline) {
    struct timespec moment = {.tv_nsec = STEP_MILLISECONDS * MILLISECOND};
    nanosleep(&moment, NULL);
    release_late(&late, stopped);
  }
  return result;
}

#endif
