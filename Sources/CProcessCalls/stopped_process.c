// Stops all threads of another process. Runs in a process that was forked from a process with threads, so it uses no
// allocator.

#define _GNU_SOURCE
#include "stopped_process.h"

#if LT_CAN_STOP_THREADS

#include "listed_threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum {
  MILLISECOND = 1000000,
  // How long to wait for the first stop among the threads that may run. No thread is stopped yet. At a load of 45 on
  // two processors, a thread waits 90 ms for a processor.
  RUNNER_MILLISECONDS = 200,
  // How long to wait for the first stop among sleeping threads, which must be woken first.
  SLEEPER_MILLISECONDS = 5000,
  // How long to wait for late threads. A thread that sleeps and cannot be interrupted (state D) may wait for a kernel
  // lock, whose holder waits for a processor. Or it may wait for a device, possibly for ever.
  LATE_RUNNER_MILLISECONDS = 10000,
  LATE_SLEEPER_MILLISECONDS = 1000,
  // The same two limits, for a wait during which the other threads stay stopped.
  HELD_RUNNER_MILLISECONDS = 2000,
  HELD_SLEEPER_MILLISECONDS = 100,
  WAKE_MILLISECONDS = 2, // the longest sleep; a stop whose signal was merged with another signal is seen after it
};

/// The progress of a thread's stop. `threads[].state` is LT_THREAD_NOT_MET until the thread's registers are noted.
enum stage { LISTED, ASKED, STOPPED, LET_GO, ENDED };

static uint64_t after(uint64_t begin, uint64_t milliseconds) { return begin + milliseconds * MILLISECOND; }

static void await_report(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  struct timespec moment = {.tv_nsec = WAKE_MILLISECONDS * MILLISECOND};
  sigtimedwait(&child, NULL, &moment);
}

// --- the list --------------------------------------------------------------------------------------------------------

static bool is_known(const struct lt_stopped_process *stopped, pid_t thread, size_t *cursor) {
  // The kernel lists the threads in the same order each time.
  if (*cursor < stopped->count && stopped->threads[*cursor].thread == thread) {
    (*cursor)++;
    return true;
  }
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->threads[i].thread != thread) continue;
    *cursor = i + 1;
    return true;
  }
  return false;
}

/// Adds the threads that are not known yet. Returns 0, LT_COPY_GONE or −errno.
static int note_listed(struct lt_stopped_process *stopped, struct lt_listed_threads *list) {
  size_t cursor = 0;
  lt_listed_threads_rewind(list);
  for (pid_t thread; (thread = lt_listed_threads_next(list)) > 0;) {
    if (is_known(stopped, thread, &cursor)) continue;
    if (stopped->count == LT_MAX_THREADS) return -E2BIG;
    size_t place = stopped->count;
    struct lt_copied_thread *note = &stopped->threads[place];
    *note = (struct lt_copied_thread){.thread = thread, .state = LT_THREAD_NOT_MET};
    char standing = lt_thread_state_letter(stopped->process, thread, note->name);
    // A thread without a state has ended and was not reaped. Or it is a first thread that has ended before the others.
    stopped->stages[place] = standing ? LISTED : ENDED;
    stopped->mayRun[place] = standing == 'R' || standing == 'D';
    stopped->count++;
  }
  return list->error;
}

/// Removes the threads that have ended.
static void forget_ended(struct lt_stopped_process *stopped) {
  size_t kept = 0;
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] == ENDED) continue;
    if (kept != i) {
      stopped->threads[kept] = stopped->threads[i];
      stopped->stages[kept] = stopped->stages[i];
      stopped->mayRun[kept] = stopped->mayRun[i];
    }
    kept++;
  }
  stopped->count = kept;
}

// --- stopping --------------------------------------------------------------------------------------------------------

enum group { THOSE_THAT_MAY_RUN, ALL };

static bool is_in(const struct lt_stopped_process *stopped, size_t i, enum group group) {
  return group == ALL || stopped->mayRun[i];
}

static int ask(struct lt_stopped_process *stopped, enum group group) {
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] != LISTED || !is_in(stopped, i, group)) continue;
    int result = lt_thread_seize(stopped->threads[i].thread);
    if (result == 0) {
      stopped->stages[i] = ASKED;
      continue;
    }
    // A thread that has ended cannot be traced, nor can a first thread that ended before the others. Any other thread
    // that cannot be traced is alive, and that is an error.
    bool hasEnded = result == -ESRCH || lt_thread_state_letter(stopped->process, stopped->threads[i].thread, NULL) == 0;
    if (!hasEnded) return result == -EPERM ? LT_COPY_NOT_ALLOWED : result;
    stopped->stages[i] = ENDED;
  }
  return 0;
}

/// Checks whether a thread that was asked to stop has stopped, and if so, notes its registers.
static int meet(struct lt_stopped_process *stopped, size_t i, uint64_t deadline) {
  struct lt_copied_thread *note = &stopped->threads[i];
  int result = lt_thread_await_stop(note->thread, deadline);
  if (result == -ETIME) return result;
  stopped->stages[i] = result == 0 ? STOPPED : ENDED;
  if (result != 0) return 0;
  note->state = LT_THREAD_COMPUTING;
  return lt_thread_note(note->thread, note) == LT_COPY_OTHER_MACHINE ? LT_COPY_OTHER_MACHINE : 0;
}

/// Checks each thread that was asked to stop. Sets `awaited` to the number of threads that have not stopped. Sets `met`
/// to the number of threads that have stopped since the previous check.
static int meet_some(struct lt_stopped_process *stopped, size_t *awaited, size_t *met) {
  *awaited = *met = 0;
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] != ASKED) continue;
    int result = meet(stopped, i, 0);
    if (result > 0) return result;
    *awaited += result == -ETIME;
    *met += stopped->stages[i] == STOPPED;
  }
  return 0;
}

/// Waits for the threads that were asked to stop. Waits until `patience` for the first stop, and then `standstill`
/// nanoseconds for the others.
static int await_asked(struct lt_stopped_process *stopped, uint64_t patience, uint64_t standstill) {
  while (stopped->begin == 0) {
    uint64_t before = lt_nanoseconds();
    size_t awaited, met;
    int result = meet_some(stopped, &awaited, &met);
    if (result != 0) return result;
    // At the previous check, no thread was stopped. So the pause began after it.
    if (met > 0) stopped->begin = stopped->lastLook ? stopped->lastLook : before;
    stopped->lastLook = before;
    if (met > 0) break;
    if (awaited == 0 || before >= patience) return 0;
    await_report();
  }
  uint64_t deadline = stopped->begin + standstill;
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] != ASKED) continue;
    int result = meet(stopped, i, deadline);
    if (result > 0) return result;
  }
  return 0;
}

static int stop_listed(struct lt_stopped_process *stopped, struct lt_listed_threads *list, uint64_t standstill) {
  int result = note_listed(stopped, list);
  stopped->lastLook = lt_nanoseconds();
  if (result == 0) result = ask(stopped, THOSE_THAT_MAY_RUN);
  // The other half of the time is for the sleeping threads, which must be woken.
  if (result == 0) result = await_asked(stopped, after(lt_nanoseconds(), RUNNER_MILLISECONDS), standstill / 2);
  for (size_t known = SIZE_MAX; result == 0 && known != stopped->count;) {
    known = stopped->count;
    result = ask(stopped, ALL);
    if (result == 0) result = await_asked(stopped, after(lt_nanoseconds(), SLEEPER_MILLISECONDS), standstill);
    if (result == 0) result = note_listed(stopped, list);
  }
  return result;
}

int lt_stop_process(struct lt_stopped_process *stopped, uint32_t standstillMilliseconds) {
  static struct lt_listed_threads list;
  int result = lt_listed_threads_open(&list, stopped->process);
  if (result != 0) return result;
  stopped->count = 0;
  stopped->begin = stopped->end = 0;
  result = stop_listed(stopped, &list, standstillMilliseconds * (uint64_t)MILLISECOND);
  lt_listed_threads_close(&list);
  if (result != 0) lt_release_process(stopped);
  forget_ended(stopped);
  return result == 0 && stopped->count == 0 ? LT_COPY_GONE : result;
}

// --- letting go ------------------------------------------------------------------------------------------------------

static void release(struct lt_stopped_process *stopped, size_t i) {
  lt_thread_release(stopped->threads[i].thread);
  stopped->stages[i] = LET_GO;
}

/// Resumes all stopped threads except `kept`. Returns their number.
static size_t release_stopped(struct lt_stopped_process *stopped, size_t kept) {
  size_t released = 0;
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] != STOPPED || i == kept) continue;
    release(stopped, i);
    released++;
  }
  return released;
}

static void note_end(struct lt_stopped_process *stopped) {
  stopped->end = lt_nanoseconds();
  if (stopped->begin == 0) stopped->begin = stopped->end;
}

void lt_release_others(struct lt_stopped_process *stopped, size_t kept) {
  if (release_stopped(stopped, kept) > 0) note_end(stopped);
}

void lt_release_process(struct lt_stopped_process *stopped) {
  release_stopped(stopped, SIZE_MAX);
  if (stopped->end == 0) note_end(stopped);
}

bool lt_has_met_thread(const struct lt_stopped_process *stopped) {
  for (size_t i = 0; i < stopped->count; i++)
    if (stopped->stages[i] == STOPPED || stopped->stages[i] == LET_GO) return true;
  return false;
}

// --- late threads ----------------------------------------------------------------------------------------------------

/// True if a thread has created another thread in the system call that it was in when it was asked to stop. The new
/// thread is not listed.
static bool has_made_thread(const struct lt_copied_thread *thread) {
  bool makes = (thread->call == SYS_clone && thread->firstArgument & CLONE_THREAD) || thread->call == SYS_clone3;
  return makes && thread->result > 0;
}

static void note_made_thread(struct lt_stopped_process *stopped) {
  if (stopped->count == LT_MAX_THREADS) return;
  // The new thread's number and registers are unknown, and it is not traced.
  stopped->threads[stopped->count] = (struct lt_copied_thread){.state = LT_THREAD_NOT_MET};
  stopped->stages[stopped->count++] = LET_GO;
}

/// Releases a thread that has executed another program, if it has stopped. Such a thread gets the number of the
/// process's first thread, and is then traced under that number. Returns true if there is such a thread that has not
/// stopped yet.
static bool release_successor(const struct lt_stopped_process *stopped) {
  for (size_t i = 0; i < stopped->count; i++)
    if (stopped->threads[i].thread == stopped->process && stopped->stages[i] == ASKED) return false;
  int result = lt_thread_await_stop(stopped->process, 0);
  if (result == 0) lt_thread_release(stopped->process);
  return result == -ETIME;
}

/// True if it is worthwhile to wait longer for a thread that has not stopped.
static bool may_come(const struct lt_stopped_process *stopped, size_t i, uint64_t waited, bool isReleased) {
  uint64_t forSleeper = isReleased ? LATE_SLEEPER_MILLISECONDS : HELD_SLEEPER_MILLISECONDS;
  if (waited < forSleeper * MILLISECOND) return true;
  uint64_t forRunner = isReleased ? LATE_RUNNER_MILLISECONDS : HELD_RUNNER_MILLISECONDS;
  // A thread in any other state has been woken and waits for a processor, or has stopped just now.
  return waited < forRunner * MILLISECOND &&
         lt_thread_state_letter(stopped->process, stopped->threads[i].thread, NULL) != 'D';
}

void lt_await_late_threads(struct lt_stopped_process *stopped) {
  bool isReleased = stopped->end != 0;
  uint64_t begin = lt_nanoseconds();
  for (bool waits = true; waits;) {
    waits = false;
    uint64_t waited = lt_nanoseconds() - begin;
    size_t count = stopped->count;
    for (size_t i = 0; i < count; i++) {
      if (stopped->stages[i] != ASKED) continue;
      int result = meet(stopped, i, 0);
      if (result == -ETIME) waits |= may_come(stopped, i, waited, isReleased);
      if (stopped->stages[i] != STOPPED) continue;
      if (result != 0) stopped->threads[i].state = LT_THREAD_NOT_MET;
      else if (has_made_thread(&stopped->threads[i])) note_made_thread(stopped);
      if (isReleased) release(stopped, i);
    }
    if (isReleased) release_successor(stopped);
    if (waits) await_report();
  }
  forget_ended(stopped);
}

size_t lt_release_late_threads(struct lt_stopped_process *stopped) {
  size_t late = 0;
  for (size_t i = 0; i < stopped->count; i++) {
    if (stopped->stages[i] != ASKED) continue;
    int result = lt_thread_await_stop(stopped->threads[i].thread, 0);
    if (result == 0) lt_thread_release(stopped->threads[i].thread);
    if (result != -ETIME) stopped->stages[i] = LET_GO;
    late += result == -ETIME;
  }
  return late + release_successor(stopped);
}

// --- calls -----------------------------------------------------------------------------------------------------------

/// Makes a thread begin a call. If libc's instruction cannot be used, uses the instruction of the thread's own system
/// call.
static int begin_on(const struct lt_copied_thread *thread, const struct lt_injected_call *model,
                    struct lt_injected_call *call, uint64_t deadline) {
  *call = *model;
  int result = call->instruction ? lt_thread_begin_call(thread->thread, call, deadline) : -EFAULT;
  if (result != -EFAULT || thread->state != LT_THREAD_IN_CALL) return result;
  // The process may have executed another program since the instruction was found.
  call->instruction = thread->callInstruction;
  return lt_thread_begin_call(thread->thread, call, deadline);
}

int lt_begin_call_in_process(const struct lt_stopped_process *stopped, struct lt_injected_call *call, size_t *caller,
                             uint64_t deadline) {
  const struct lt_injected_call model = *call;
  int result = LT_COPY_NO_CALL;
  // Threads in a system call come first, since an extra call cannot disturb their work.
  for (uint32_t pass = 0; pass < 2; pass++) {
    uint32_t wanted = pass == 0 ? LT_THREAD_IN_CALL : LT_THREAD_COMPUTING;
    for (size_t i = 0; i < stopped->count; i++) {
      const struct lt_copied_thread *thread = &stopped->threads[i];
      if (stopped->stages[i] != STOPPED || thread->state != wanted || !lt_thread_can_call(thread->thread, thread))
        continue;
      *caller = i;
      result = begin_on(thread, &model, call, deadline);
      if (call->progress != LT_CALL_NOT_BEGUN) return result;
      // Another thread may have no filter, or may be in a system call with a usable instruction.
      if (result != -EFAULT && result != -EACCES) return result;
    }
  }
  return result == -EFAULT ? LT_COPY_NO_CALL : result;
}

#endif
