// Stops and controls one thread of another process with ptrace.

#define _GNU_SOURCE
#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

#include "listed_threads.h"
#include "stopped_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
  STOP_EVENT = 128, // PTRACE_EVENT_STOP
  SYSCALL_STOP = SIGTRAP | 0x80,
  LOOK_MICROSECONDS = 10000,
  WAKE_MILLISECONDS = 5, // the longest sleep; a report whose signal was merged with another signal is seen after it
};

// Linux 5.13, include/uapi/linux/ptrace.h and rseq.h.
enum { GET_RSEQ_CONFIGURATION = 0x420f };
struct rseq_configuration {
  uint64_t area;
  uint32_t size, signature, flags, padding;
};
enum { RSEQ_SEQUENCE_OFFSET = 8 };
struct rseq_sequence {
  uint32_t version, flags;
  uint64_t start, length, abort;
};

uint64_t lt_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/// Stops that were reported while another thread's report was awaited. Each is kept until lt_thread_await_report asks
/// for it.
static struct report {
  pid_t thread;
  int status;
} kept[LT_MAX_THREADS];
static size_t keptCount;

static bool take_kept(pid_t thread, int *status) {
  for (size_t i = 0; i < keptCount; i++) {
    if (kept[i].thread != thread) continue;
    *status = kept[i].status;
    kept[i] = kept[--keptCount];
    return true;
  }
  return false;
}

/// If a report is about a tracee that has executed another program, releases the tracee immediately, and returns true.
/// Such a tracee has the number of the process's first thread, but not the registers that were noted for that thread.
static bool let_go_of_another_program(pid_t thread, int status) {
  if (!WIFSTOPPED(status) || status >> 16 != PTRACE_EVENT_EXEC) return false;
  ptrace(PTRACE_DETACH, thread, 0, 0);
  return true;
}

/// Reaps tracees that have ended, and releases tracees that have executed another program. Keeps the stops of the
/// others. waitpid returns the reports of all tracees, in any order.
static void take_reports(int signal) {
  (void)signal;
  int error = errno, status, earlier;
  for (pid_t thread; keptCount < LT_MAX_THREADS && (thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0;) {
    take_kept(thread, &earlier);
    if (WIFSTOPPED(status) && !let_go_of_another_program(thread, status))
      kept[keptCount++] = (struct report){thread, status};
  }
  errno = error;
}

void lt_threads_take_reports(void) { take_reports(0); }

int lt_thread_await_report(pid_t thread, int *status, uint64_t deadline) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (;;) {
    if (take_kept(thread, status)) return 0;
    pid_t reported = waitpid(thread, status, __WALL | WNOHANG);
    if (reported == thread) return let_go_of_another_program(thread, *status) ? -ESRCH : 0;
    if (reported < 0 && errno != EINTR) return -ESRCH;
    if (lt_nanoseconds() >= deadline) return -ETIME;
    // The kernel reports the end of a process's first thread only when no other thread is left. A thread that executes
    // another program waits for the end of its siblings. In both cases, a traced sibling is gone only when this tracer
    // has reaped it.
    take_reports(0);
    if (take_kept(thread, status)) return 0;
    struct timespec moment = {.tv_nsec = WAKE_MILLISECONDS * 1000000};
    sigtimedwait(&child, NULL, &moment);
  }
}

/// Attaches to a thread. PTRACE_SEIZE may have to wait for a lock. A thread that executes another program holds the
/// lock until its siblings are gone. A traced sibling is gone only when its tracer has reaped it (ptrace(2), "bugs").
/// So a timer interrupts the request to reap siblings, and the kernel restarts the request.
static int seize(pid_t thread) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  struct sigaction action = {.sa_handler = take_reports};
  sigaction(SIGALRM, &action, NULL);
  sigprocmask(SIG_UNBLOCK, &alarm, NULL);
  struct itimerval looking = {{0, LOOK_MICROSECONDS}, {0, LOOK_MICROSECONDS}}, never = {0};
  setitimer(ITIMER_REAL, &looking, NULL);
  int result = ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC) != 0 ? -errno : 0;
  setitimer(ITIMER_REAL, &never, NULL);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
  return result;
}

int lt_thread_seize(pid_t thread) {
  // Drop a kept report of an earlier thread with the same number.
  int earlier;
  take_kept(thread, &earlier);
  int result = seize(thread);
  if (result != 0) return result;
  lt_own_call_note(thread);
  return ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 ? -errno : 0;
}

int lt_thread_await_stop(pid_t thread, uint64_t deadline) {
  for (;;) {
    int status;
    int result = lt_thread_await_report(thread, &status, deadline);
    if (result != 0) return result;
    if (!WIFSTOPPED(status)) return -ESRCH;
    // The thread was stopped by the request, or because a signal has stopped the whole process.
    if (status >> 16 == STOP_EVENT) return 0;
    int signal = status >> 16 ? 0 : WSTOPSIG(status);
    if (signal == SYSCALL_STOP) signal = 0;
    if (signal != 0) lt_own_call_forget(thread);
    if (ptrace(PTRACE_CONT, thread, 0, signal) != 0) return -ESRCH;
  }
}

bool lt_thread_await_end(pid_t thread, uint64_t deadline) {
  for (;;) {
    int status;
    int result = lt_thread_await_report(thread, &status, deadline);
    if (result == -ESRCH) return true;
    if (result != 0) return false;
    if (!WIFSTOPPED(status)) return true;
  }
}

int lt_thread_note(pid_t thread, struct lt_copied_thread *note) {
  struct lt_thread_registers registers;
  int result = lt_registers_read(thread, &registers);
  if (result == 0) lt_registers_describe(thread, &registers, note);
  return result;
}

static bool read_memory(pid_t thread, uint64_t address, void *into, size_t size) {
  struct iovec local = {into, size}, remote = {(void *)address, size};
  return process_vm_readv(thread, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool lt_thread_can_call(pid_t thread, const struct lt_copied_thread *note) {
  if (note->state == LT_THREAD_NOT_MET) return false;
  if (note->state == LT_THREAD_IN_CALL) return true;
  struct rseq_configuration configuration = {0};
  if (ptrace(GET_RSEQ_CONFIGURATION, thread, sizeof configuration, &configuration) < 0) return false;
  if (configuration.area == 0) return true;
  uint64_t address = 0;
  if (!read_memory(thread, configuration.area + RSEQ_SEQUENCE_OFFSET, &address, sizeof address)) return false;
  if (address == 0) return true;
  struct rseq_sequence sequence;
  if (!read_memory(thread, address, &sequence, sizeof sequence)) return false;
  return note->programCounter - sequence.start >= sequence.length;
}

static long usual_options(const struct lt_injected_call *call) {
  return PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | (call->endsWithTracer ? PTRACE_O_EXITKILL : 0);
}

static void note_child(pid_t thread, struct lt_injected_call *call) {
  unsigned long child = 0;
  ptrace(PTRACE_GETEVENTMSG, thread, 0, &child);
  call->child = (pid_t)child;
  call->progress = LT_CALL_HAS_CHILD;
}

/// Resumes the thread until its call has progressed to `until`.
static int pass_call(pid_t thread, struct lt_injected_call *call, enum lt_call_progress until, uint64_t deadline) {
  while (call->progress < until) {
    int status;
    // The thread is still running if an earlier wait was given up.
    if (!call->isRunning && ptrace(PTRACE_SYSCALL, thread, 0, 0) != 0) return -errno;
    call->isRunning = true;
    int result = lt_thread_await_report(thread, &status, deadline);
    if (result != 0) return result;
    call->isRunning = false;
    if (!WIFSTOPPED(status)) return -ESRCH;
    if (status >> 16 == PTRACE_EVENT_CLONE || status >> 16 == PTRACE_EVENT_FORK) note_child(thread, call);
    if (WSTOPSIG(status) != SYSCALL_STOP) continue;
    // There is one such stop at the call's entry, and one at its exit. Signals cannot intervene: all are blocked,
    // except those that end the process.
    bool enters = call->progress == LT_CALL_UNDER_WAY;
    if (enters && call->isCancelled) lt_entered_call_skip(thread);
    else if (enters) lt_entered_call_confirm(thread, call->number);
    call->progress = enters ? LT_CALL_ENTERED : LT_CALL_RETURNED;
  }
  return 0;
}

int lt_thread_begin_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline) {
  struct lt_saved_thread *before = &call->saved;
  uint64_t all = ~0ull;
  call->progress = LT_CALL_NOT_BEGUN;
  call->child = 0;
  call->isRunning = call->isCancelled = false;
  int result = lt_registers_read(thread, &before->registers);
  if (result != 0) return result < 0 ? result : -EFAULT;
  if (ptrace(PTRACE_GETSIGMASK, thread, sizeof before->mask, &before->mask) != 0) return -errno;
  if (!lt_is_call_instruction(thread, call->instruction)) return -EFAULT;
  struct lt_thread_registers registers = before->registers;
  lt_registers_set_call(&registers, call->instruction, call->number, call->arguments);
  // Each thread may have a different filter.
  bool suspendsFilter = !call->allowFiltered && lt_thread_is_filtered(thread);
  long options = usual_options(call);
  if (call->followsChild) options |= PTRACE_O_TRACECLONE;
  if (suspendsFilter) options |= PTRACE_O_SUSPEND_SECCOMP;
  if (ptrace(PTRACE_SETOPTIONS, thread, 0, options) != 0) return suspendsFilter ? -EACCES : -errno;
  if (ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all) != 0) return -errno;
  result = lt_registers_write(thread, &registers);
  if (result != 0) return result;
  call->progress = LT_CALL_UNDER_WAY;
  result = pass_call(thread, call, LT_CALL_ENTERED, deadline);
  call->isCancelled = result == -ETIME;
  return result;
}

int lt_thread_await_call(pid_t thread, struct lt_injected_call *call, uint64_t deadline) {
  uint64_t begin = lt_nanoseconds();
  int result = pass_call(thread, call, LT_CALL_HAS_CHILD, deadline);
  call->nanoseconds = lt_nanoseconds() - begin;
  return result;
}

int lt_thread_end_call(pid_t thread, struct lt_injected_call *call) {
  struct lt_saved_thread *before = &call->saved;
  struct lt_thread_registers registers;
  int result = pass_call(thread, call, LT_CALL_RETURNED, UINT64_MAX);
  if (result == 0) result = lt_registers_read(thread, &registers);
  if (result == 0) {
    call->result = lt_registers_result(&registers);
    // Continue to a PTRACE_INTERRUPT stop. After a stop of this kind, the kernel can restart the thread's own call.
    bool goes = ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 && ptrace(PTRACE_CONT, thread, 0, 0) == 0;
    result = goes ? lt_thread_await_stop(thread, UINT64_MAX) : -errno;
  }
  lt_registers_resume_own_call(thread, &before->registers);
  lt_registers_write(thread, &before->registers);
  ptrace(PTRACE_SETSIGMASK, thread, sizeof before->mask, &before->mask);
  ptrace(PTRACE_SETOPTIONS, thread, 0, usual_options(call));
  return result == 0 && call->isCancelled ? -ECANCELED : result;
}

int lt_thread_call(pid_t thread, struct lt_injected_call *call) {
  int result = lt_thread_begin_call(thread, call, UINT64_MAX);
  if (call->progress == LT_CALL_NOT_BEGUN) return result;
  int ended = lt_thread_end_call(thread, call);
  return result != 0 ? result : ended;
}

void lt_thread_release(pid_t thread) {
  lt_own_call_repeat(thread);
  int earlier;
  take_kept(thread, &earlier);
  ptrace(PTRACE_DETACH, thread, 0, 0);
}

#endif
