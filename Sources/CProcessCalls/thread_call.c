// Makes a thread call functions. processor/…/signal_frame.c has the frame that they return to.

#define _GNU_SOURCE
#include "thread_call.h"

#if LT_CAN_STOP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  PATH_SIZE = 64,
  SYSCALL_STOP = SIGTRAP | 0x80,
  RELEASE_MILLISECONDS = 60000, // for a thread to get a processor
};

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

bool lt_visit_write_memory(pid_t thread, uint64_t address, const void *bytes, size_t size) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/mem", thread);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t written = pwrite(file, bytes, size, (off_t)address);
  close(file);
  return written == (ssize_t)size;
}

int lt_visit_begin(struct lt_thread_visit *visit, pid_t thread, const struct lt_return_code *code, const void *text,
                   size_t size) {
  *visit = (struct lt_thread_visit){.thread = thread, .code = *code};
  if (size > LT_CALL_TEXT_BYTES) return LT_VISIT_NOT_BEGUN;
  if (lt_registers_read(thread, &visit->before) != 0) return LT_VISIT_NOT_BEGUN;
  if (ptrace(PTRACE_GETSIGMASK, thread, sizeof visit->mask, &visit->mask) != 0) return LT_VISIT_NOT_BEGUN;
  return lt_frame_write(visit, text, size) ? LT_VISIT_DONE : LT_VISIT_NOT_BEGUN;
}

// --- a call ----------------------------------------------------------------------------------------------------------

/// True if the processor or the kernel sent a signal because of an error in the function.
static bool is_fault(pid_t thread, int signal) {
  bool isKind = false;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) isKind |= signal == faults[i];
  siginfo_t information;
  return isKind && ptrace(PTRACE_GETSIGINFO, thread, 0, &information) == 0 && information.si_code > 0;
}

static int await_report(pid_t thread, int *status, uint64_t deadline) {
  int result = lt_thread_await_report(thread, status, deadline);
  if (result == -ETIME) return LT_VISIT_LATE;
  return result == 0 && WIFSTOPPED(*status) ? LT_VISIT_DONE : LT_VISIT_GONE;
}

int lt_visit_await_call(const struct lt_thread_visit *visit, uint64_t end, uint64_t stack, uint64_t deadline,
                        struct lt_thread_registers *registers) {
  for (int signal = 0;;) {
    if (ptrace(PTRACE_SYSCALL, visit->thread, 0, signal) != 0) return LT_VISIT_GONE;
    int status, waited = await_report(visit->thread, &status, deadline);
    if (waited != LT_VISIT_DONE) return waited;
    signal = 0;
    if (WSTOPSIG(status) == SYSCALL_STOP) {
      if (lt_registers_read(visit->thread, registers) != 0) return LT_VISIT_GONE;
      if (lt_registers_program_counter(registers) == end && lt_registers_stack_pointer(registers) == stack)
        return LT_VISIT_DONE;
    } else if (status >> 16 == 0) {
      signal = WSTOPSIG(status);
      if (is_fault(visit->thread, signal)) return LT_VISIT_FAULT;
    }
    // If a signal stops the whole process, that takes effect when the thread is released.
  }
}

void lt_visit_block_signals(const struct lt_thread_visit *visit) {
  uint64_t held = ~0ull;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) held &= ~(1ull << (faults[i] - 1));
  ptrace(PTRACE_SETSIGMASK, visit->thread, sizeof held, &held);
}

int lt_visit_await_restorer(struct lt_thread_visit *visit, uint64_t deadline) {
  struct lt_thread_registers registers;
  visit->isAtRestorer = false;
  int result = lt_visit_await_call(visit, visit->code.restorer + LT_RESTORER_CALL_OFFSET + LT_CALL_SIZE, visit->context,
                                   deadline, &registers);
  visit->isAtRestorer = result == LT_VISIT_DONE;
  return result;
}

/// If the thread is in a system call, the function takes its place. The first change sets all registers in one step.
/// Whatever happens after that, the thread returns to its own work.
int lt_visit_call(struct lt_thread_visit *visit, uint64_t function, uint64_t first, uint64_t second,
                  uint64_t deadline) {
  int result = lt_frame_begin_function(visit, function, (uint64_t[]){first, second});
  return result == LT_VISIT_DONE ? lt_visit_await_restorer(visit, deadline) : result;
}

// --- the end ---------------------------------------------------------------------------------------------------------

bool lt_visit_await_any_stop(pid_t thread) {
  int status;
  return await_report(thread, &status, lt_nanoseconds() + RELEASE_MILLISECONDS * 1000000ull) == LT_VISIT_DONE;
}

/// Releases a thread that is still in a function.
static void leave_alone(pid_t thread) {
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 && lt_visit_await_any_stop(thread))
    ptrace(PTRACE_DETACH, thread, 0, 0);
}

void lt_visit_end(struct lt_thread_visit *visit, int outcome) {
  pid_t thread = visit->thread;
  if (outcome == LT_VISIT_GONE) return;
  if (outcome == LT_VISIT_LATE) {
    leave_alone(thread);
    return;
  }
  if (visit->isUnderWay) {
    struct iovec all = {visit->state, visit->stateSize};
    ptrace(PTRACE_SETREGSET, thread, visit->stateSet, &all);
    ptrace(PTRACE_SETSIGMASK, thread, sizeof visit->mask, &visit->mask);
    if (visit->isAtRestorer && !lt_frame_leave_restorer(visit)) return;
    // The kernel restarts a system call only after a PTRACE_INTERRUPT stop.
    struct lt_thread_registers before = visit->before;
    lt_registers_resume_own_call(thread, &before);
    lt_registers_write(thread, &before);
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || ptrace(PTRACE_CONT, thread, 0, 0) != 0) return;
    if (lt_thread_await_stop(thread, lt_nanoseconds() + RELEASE_MILLISECONDS * 1000000ull) != 0) return;
  }
  lt_thread_release(thread);
}

#endif
