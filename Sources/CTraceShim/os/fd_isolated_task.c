// Makes calls that need file descriptors where the host cannot close or reuse the descriptors.
//
// A host may close, replace or reuse any descriptor number at any moment, even one that the recorder has just opened.
// So the recorder opens files in a separate task of the same process. The task is a thread that the C library does not
// know. First of all, it leaves the shared descriptor table. Its mappings belong to the whole process. The task has the
// calling thread's rights, root directory and namespaces. It has ended when the call returns, so a host that must be
// single-threaded finds only one thread.

#define _GNU_SOURCE
#include "os/fd_isolated_task.h"

#include "check.h"
#include "os/os.h"

#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum {
  STACK_SIZE = 64 << 10,
  TASK_LIMIT = 4, ///< the most tasks at a time; when all are in use, a thread waits
  TURN_MILLISECONDS = 2000,
  FIRST_UNSHARED = 3, ///< the first descriptor that a task drops. A task keeps the standard descriptors, since messages
                      ///< may go to one of them
};

struct task {
  _Atomic uint32_t isTaken; ///< held by the thread that fills in the other members. The exchange pairs with stores of 0
  _Atomic uint32_t thread;  ///< cleared by the kernel when the task no longer uses its stack, after all its stores
  _Atomic(uint8_t *) stack; ///< NULL until the first use; does not change after that
  bool isCalled;            ///< the task has called `function`; unused for the unawaited task
  void (*function)(void *);
  void *argument;
};

static struct {
  struct task tasks[TASK_LIMIT];
  /// The task of lt_call_isolated_async. Its caller does not wait for it.
  struct task unawaited;
  _Atomic pid_t unawaitedProcess; ///< the process that started the task; a child may see a copy of this memory
  _Atomic uint32_t isAlone;
  _Atomic uint32_t isUnshareRefused; ///< the kernel cannot leave the shared table without copying it (before 5.9)
} isolation;

void lt_isolated_task_set_single(void) { atomic_store(&isolation.isAlone, 1); }

void lt_isolated_task_reset_after_fork(void) {
  for (int i = 0; i < TASK_LIMIT; i++) atomic_store(&isolation.tasks[i].isTaken, 0);
  atomic_store(&isolation.unawaited.thread, 0);
}

static struct task *taken_task(void) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  for (;;) {
    for (int i = 0; i < TASK_LIMIT; i++) {
      uint32_t no = 0;
      if (!atomic_load(&isolation.tasks[i].isTaken) &&
          atomic_compare_exchange_strong(&isolation.tasks[i].isTaken, &no, 1))
        return &isolation.tasks[i];
    }
    if (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin > TURN_MILLISECONDS * 1000000ull) return NULL;
    lt_sleep(50000);
  }
}

static bool has_stack(const struct task *t, uintptr_t stackPointer) {
  uintptr_t stack = (uintptr_t)atomic_load(&t->stack);
  // A new task's stack is empty, so its stack pointer is at the end.
  return stack && stackPointer > stack && stackPointer <= stack + STACK_SIZE;
}

bool lt_isolated_task_has_stack(uintptr_t stackPointer) {
  for (int i = 0; i < TASK_LIMIT; i++)
    if (has_stack(&isolation.tasks[i], stackPointer)) return true;
  return has_stack(&isolation.unawaited, stackPointer);
}

static void run(void *task) {
  struct task *t = task;
  LT_CHECK(has_stack(t, (uintptr_t)__builtin_frame_address(0)));
  LT_CHECK(t->function && (t == &isolation.unawaited || !t->isCalled));
  // Get a table with only the descriptors below FIRST_UNSHARED. The kernel copies no others, and closes none of the
  // host's.
  if (!atomic_load(&isolation.isUnshareRefused)) {
    if (lt_syscall(SYS_close_range, FIRST_UNSHARED, ~0u, CLOSE_RANGE_UNSHARE) != 0) {
      atomic_store(&isolation.isUnshareRefused, 1);
      return;
    }
  }
  t->isCalled = true;
  t->function(t->argument);
}

static long start(struct task *t, uint8_t *stack) {
  long flags =
      CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED | CLONE_CHILD_CLEARTID;
  if (!atomic_load(&isolation.isUnshareRefused)) flags |= CLONE_FILES;
  LT_CHECK(stack == atomic_load(&t->stack) && atomic_load(&t->thread) == 1);
  return lt_clone_call(flags, stack + STACK_SIZE, run, t, &t->thread, 0);
}

/// Waits until the task has left the process. Some calls work only in a process with a single thread, such as entering
/// a user namespace.
static void wait_for_end(struct task *t, pid_t thread) {
  for (uint32_t value; (value = atomic_load(&t->thread)) != 0;)
    lt_syscall6(SYS_futex, (long)&t->thread, FUTEX_WAIT, value, 0, 0, 0);
  pid_t process = lt_process_id();
  while (lt_thread_exists(process, thread)) lt_syscall(SYS_sched_yield, 0, 0, 0);
}

static uint8_t *stack_of(struct task *t) {
  uint8_t *stack = atomic_load(&t->stack);
  if (stack) return stack;
  stack = lt_map_private(STACK_SIZE);
  atomic_store(&t->stack, stack);
  return stack;
}

static bool call(struct task *t, void (*function)(void *), void *argument) {
  LT_CHECK(t >= isolation.tasks && t < isolation.tasks + TASK_LIMIT && atomic_load(&t->isTaken) == 1);
  uint8_t *stack = stack_of(t);
  if (!stack) return false;
  for (int attempt = 0; attempt < 2; attempt++) {
    t->function = function;
    t->argument = argument;
    t->isCalled = false;
    atomic_store(&t->thread, 1);
    long thread = start(t, stack);
    if (thread < 0) return false;
    wait_for_end(t, (pid_t)thread);
    LT_CHECK(atomic_load(&t->thread) == 0);
    // If the task could not leave the shared table, it did not call the function. The second attempt starts with a copy
    // of the table.
    if (t->isCalled) return true;
  }
  return false;
}

bool lt_call_isolated(void (*function)(void *), void *argument) {
  LT_CHECK(function);
  if (atomic_load(&isolation.isAlone) || lt_isolated_task_has_stack((uintptr_t)__builtin_frame_address(0))) {
    function(argument);
    return true;
  }
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  struct task *t = taken_task();
  bool result = t && call(t, function, argument);
  LT_CHECK(!t || atomic_load(&t->isTaken) == 1);
  if (t) atomic_store(&t->isTaken, 0);
  lt_restore_signals(before);
  return result;
}

bool lt_call_isolated_async(void (*function)(void *), void *argument) {
  uint32_t none = 0;
  if (atomic_load(&isolation.isAlone) || !atomic_compare_exchange_strong(&isolation.unawaited.thread, &none, 1))
    return false;
  LT_CHECK(function);
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  uint8_t *stack = stack_of(&isolation.unawaited);
  atomic_store(&isolation.unawaitedProcess, lt_process_id());
  isolation.unawaited.function = function;
  isolation.unawaited.argument = argument;
  long thread = stack ? start(&isolation.unawaited, stack) : -1;
  if (thread < 0) atomic_store(&isolation.unawaited.thread, 0);
  lt_restore_signals(before);
  return thread > 0;
}

void lt_isolated_task_await(void) {
  if (LT_LIKELY(!atomic_load(&isolation.unawaited.thread)) ||
      has_stack(&isolation.unawaited, (uintptr_t)__builtin_frame_address(0)))
    return;
  if (atomic_load(&isolation.unawaitedProcess) != lt_process_id()) return;
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  for (uint32_t value; (value = atomic_load(&isolation.unawaited.thread)) != 0;)
    lt_syscall6(SYS_futex, (long)&isolation.unawaited.thread, FUTEX_WAIT, value, 0, 0, 0);
  lt_restore_signals(before);
}

void lt_call_isolated_or_here(void (*function)(void *), void *argument) {
  if (lt_call_isolated(function, argument)) return;
  // The recorder consumes the signals that the function raises, unless they were already pending.
  const uint64_t raised = 1ull << (SIGXFSZ - 1) | 1ull << (SIGPIPE - 1);
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS), pending = 0;
  lt_syscall(SYS_rt_sigpending, &pending, sizeof pending, 0);
  function(argument);
  uint64_t taken = raised & ~pending;
  const struct timespec now = {0};
  while (taken && lt_syscall6(SYS_rt_sigtimedwait, (long)&taken, 0, (long)&now, sizeof taken, 0, 0) > 0) {}
  lt_restore_signals(before);
}
