// Makes another process create a thread, as a debugger would.

#define _GNU_SOURCE
#include "CProcessCalls.h"

#include "processor/processor.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool lt_change_word(uint32_t *word, uint32_t expected, uint32_t desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#if LT_CAN_STOP_THREADS

enum { STOP_EVENT = 128, SYSCALL_STOP = SIGTRAP | 0x80, STOP_MILLISECONDS = 1000 };

enum patience { FOR_A_WHILE, TO_THE_END };

/// Waits for the tracee's next stop. Returns false if it does not stop in time or has ended. TO_THE_END waits without a
/// limit: a thread whose registers were changed must not be released before they are restored.
static bool await(pid_t thread, int *status, enum patience patience) {
  for (int millisecond = 0; patience == TO_THE_END || millisecond < STOP_MILLISECONDS; millisecond++) {
    pid_t reported = waitpid(thread, status, __WALL | WNOHANG);
    if (reported == thread) return WIFSTOPPED(*status);
    if (reported < 0 && errno != EINTR) return false;
    struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
  }
  return false;
}

/// Makes the thread call clone. The thread must be stopped in a system call, about to return to its program.
static int make_call(pid_t thread, const struct lt_thread_order *order, struct lt_thread_registers registers) {
  // The kernel writes the new thread's number before either thread continues.
  uint64_t arguments[LT_CALL_ARGUMENTS];
  lt_arrange_clone(arguments, order->flags, order->stack, order->threadWord, order->threadPointer);
  lt_registers_set_call(&registers, order->call, SYS_clone, arguments);
  int result = lt_registers_write(thread, &registers), status;
  if (result != 0) return result;
  // Continue to the call's entry and exit. Ignore other stops, such as one by SIGSTOP: the process stops again when it
  // is released.
  for (int stops = 0; stops < 2;) {
    if (ptrace(PTRACE_SYSCALL, thread, 0, 0) != 0) return -errno;
    if (!await(thread, &status, TO_THE_END)) return -ESRCH;
    if (WSTOPSIG(status) != SYSCALL_STOP) continue;
    if (stops++ == 0) lt_entered_call_confirm(thread, SYS_clone);
  }
  result = lt_registers_read(thread, &registers);
  if (result != 0) return result < 0 ? result : -EFAULT;
  // The kernel restarts a system call only after a PTRACE_INTERRUPT stop.
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || ptrace(PTRACE_CONT, thread, 0, 0) != 0) return -errno;
  if (!await(thread, &status, TO_THE_END)) return -ESRCH;
  int64_t made = lt_registers_result(&registers);
  return made > 0 ? 0 : (int)made;
}

static int order_thread(pid_t thread, const struct lt_thread_order *order) {
  if (ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD) != 0) return -errno;
  lt_own_call_note(thread);
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0) return -errno;
  int status;
  if (!await(thread, &status, FOR_A_WHILE)) return -EBUSY;
  if (status >> 16 != STOP_EVENT || WSTOPSIG(status) != SIGTRAP) {
    // The thread got a signal, which is delivered now, or the whole process is stopped.
    ptrace(PTRACE_DETACH, thread, 0, status >> 16 ? 0 : WSTOPSIG(status));
    return -EBUSY;
  }
  struct lt_thread_registers registers;
  struct lt_copied_thread note = {.call = -1};
  uint64_t mask, all = ~0ull;
  int result = lt_registers_read(thread, &registers);
  if (result == 0) lt_registers_describe(thread, &registers, &note);
  if (result == 0 && ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask) != 0) result = -errno;
  // The thread must be in a system call. Otherwise it may be in a restartable sequence (rseq(2)), where code relies on
  // the kernel noticing an interruption. The kernel would not notice this interruption, since the thread resumes
  // elsewhere.
  if (result == 0 && note.call < 0) result = -EAGAIN;
  if (result > 0 || (result == 0 && !lt_is_call_instruction(thread, order->call))) result = -EFAULT;
  if (result == 0 && ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all) != 0) result = -errno;
  if (result == 0) {
    result = make_call(thread, order, registers);
    lt_registers_resume_own_call(thread, &registers);
    lt_registers_write(thread, &registers);
    ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask);
    lt_own_call_repeat(thread);
  }
  ptrace(PTRACE_DETACH, thread, 0, 0);
  return result;
}

int lt_order_thread(pid_t thread, const struct lt_thread_order *order) {
  // The tracer is a separate process with all signals blocked, so no signal ends it midway. If it still traces the
  // thread when it exits, the kernel releases the thread.
  int answer[2];
  if (pipe(answer) != 0) return -errno;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t tracer = fork();
  if (tracer == 0) {
    int result = order_thread(thread, order);
    (void)!write(answer[1], &result, sizeof result);
    _exit(0);
  }
  int result = tracer < 0 ? -errno : -ESRCH;
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(answer[1]);
  while (tracer > 0 && read(answer[0], &result, sizeof result) < 0 && errno == EINTR) {}
  close(answer[0]);
  while (tracer > 0 && waitpid(tracer, NULL, 0) < 0 && errno == EINTR) {}
  return result;
}

#else

int lt_order_thread(pid_t thread, const struct lt_thread_order *order) {
  (void)thread, (void)order;
  return -ENOSYS;
}

#endif
