// Makes a copy of the process at a moment in which no thread of it runs.
//
// A thread cannot stop its siblings, a tracer can. So a process is made for it that shares the memory, as LeakSanitizer does (compiler-rt,
// sanitizer_stoptheworld_linux_libcdep.cpp): it attaches to every thread, and forks the copy while they stand still. The copy is made a child of the
// host's, not of the tracer's, so that nobody adopts it when the tracer is gone. Neither has an exit signal: calls of wait do not see such children.
// The tracer shares this thread's thread-local memory: nothing here may use errno or any other of it, or call what does.

#include "thread_freeze.h"

#include "apart_task.h"
#include "clone_call.h"
#include "expectation_watcher.h"
#include "own_stack.h"
#include "serving_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <interrupted_calls.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

enum {
  STACK_SIZE = 256 << 10, THREAD_NUMBER_LIMIT = 1 << 22, STOP_EVENT = 128, PASS_LIMIT = 1000,
  PATIENCE_MILLISECONDS = 200, ///< for threads to stop that the kernel does not let run
  STOP_MILLISECONDS = 5000,     ///< for all threads to stop, on a machine with more to do
};

/// What is known of the thread at the same index of `lt_freeze.threads`.
struct tracee {
  bool isStopped, isGone;
  int signal; ///< that was about to be delivered when it stopped
};

static uint8_t *stack;
static struct tracee *tracees;
static uint32_t *indexOf; ///< by thread number; 0: not seen
static bool isForbidden;
static bool mayNeedPermission; ///< the kernel lets only ancestors trace, unless told otherwise

bool lt_freeze_init(void) {
  char scope = '0';
  int descriptor = lt_open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY, 0);
  if (descriptor >= 0) {
    lt_read(descriptor, &scope, 1);
    lt_close(descriptor);
  }
  mayNeedPermission = scope != '0';
  return true;
}

void lt_freeze_forbid(void) { isForbidden = true; }

void lt_freeze_reset(void) {
  stack = NULL;
  tracees = NULL;
  indexOf = NULL;
}

// --- processes ----------------------------------------------------------------------------------------------------------

static long copy_process(unsigned long flags) { return lt_syscall6(SYS_clone, (long)(flags | CLONE_UNTRACED), 0, 0, 0, 0, 0); }

static void sleep_microseconds(unsigned microseconds) {
  struct timespec time = {.tv_nsec = (long)microseconds * 1000};
  lt_syscall(SYS_nanosleep, &time, 0, 0);
}

// --- the tracer ------------------------------------------------------------------------------------------------------------

static char *put_decimal(char *p, unsigned value) {
  char digits[12];
  int n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while (value /= 10);
  while (n) *p++ = digits[--n];
  *p = 0;
  return p;
}

/// Appends "/proc/PROCESS/task".
static char *put_task_path(char *p, pid_t process) {
  memcpy(p, "/proc/", 6);
  p = put_decimal(p + 6, (unsigned)process);
  memcpy(p, "/task", 6);
  return p + 5;
}

/// The thread's state as the kernel writes it: R running, D in a wait that nothing interrupts, Z ended … 0 when it is gone.
static char thread_state(pid_t process, uint32_t thread) {
  char path[64], text[256], *p = put_task_path(path, process);
  *p++ = '/';
  p = put_decimal(p, thread);
  memcpy(p, "/stat", 6);
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return 0;
  long n = lt_read(descriptor, text, sizeof text);
  lt_close(descriptor);
  // number (name) state: the name may hold anything, parentheses too.
  for (long i = n - 3; i >= 0; i--)
    if (text[i] == ')' && text[i + 1] == ' ') return text[i + 2];
  return 0;
}

/// Attaches to threads that were not seen yet. Returns their number, or −errno when attaching is refused.
static int attach_new(struct lt_freeze *f) {
  char path[64];
  put_task_path(path, f->process);
  int descriptor = lt_open(path, O_RDONLY | O_DIRECTORY, 0), found = 0;
  if (descriptor < 0) return descriptor;
  _Alignas(8) char buffer[8192];
  for (long size; found >= 0 && (size = lt_syscall(SYS_getdents64, descriptor, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < size && found >= 0;) {
      const struct { uint64_t inode; int64_t next; uint16_t length; uint8_t type; char name[]; } *entry = (const void *)(buffer + at);
      at += entry->length;
      uint32_t thread = 0;
      for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) thread = thread * 10 + (uint32_t)(*c - '0');
      if (thread == 0 || thread >= THREAD_NUMBER_LIMIT || thread == f->threads[0].osThread || indexOf[thread]) continue;
      long error = lt_syscall6(SYS_ptrace, PTRACE_SEIZE, thread, 0, 0, 0, 0);
      if (error) {
        char state = error == -ESRCH ? 0 : thread_state(f->process, thread);
        if (state != 0 && state != 'Z' && state != 'X') found = (int)error;
        continue;
      }
      if (f->threadCount == f->threadLimit) {
        found = -E2BIG;
        continue;
      }
      found++;
      indexOf[thread] = f->threadCount;
      tracees[f->threadCount] = (struct tracee){0};
      f->threads[f->threadCount++] = (struct lt_snapshot_thread){.osThread = thread};
      lt_syscall6(SYS_ptrace, PTRACE_INTERRUPT, thread, 0, 0, 0, 0);
    }
  }
  lt_close(descriptor);
  return found;
}

/// Notes which threads have stopped or ended.
static void take_reports(uint32_t *running) {
  int status;
  for (long thread; (thread = lt_syscall6(SYS_wait4, -1, (long)&status, __WALL | WNOHANG, 0, 0, 0)) > 0;) {
    if (thread >= THREAD_NUMBER_LIMIT || !indexOf[thread]) continue;
    struct tracee *t = &tracees[indexOf[thread]];
    if (!t->isStopped && !t->isGone) --*running;
    if (WIFSTOPPED(status)) {
      t->isStopped = true;
      t->signal = status >> 16 == STOP_EVENT ? 0 : WSTOPSIG(status);
    } else {
      t->isGone = true;
    }
  }
}

/// Whether threads that have not stopped are all in waits that nothing interrupts, a parent in vfork for example. Those stand still: they stop
/// before they are back in the program.
static bool stand_still(const struct lt_freeze *f) {
  for (uint32_t i = 1; i < f->threadCount; i++) {
    if (tracees[i].isStopped || tracees[i].isGone) continue;
    char state = thread_state(f->process, f->threads[i].osThread);
    if (state != 'D' && state != 0 && state != 'Z' && state != 'X') return false;
  }
  return true;
}

/// Whether the thread slept in a system call when it was stopped. The kernel ends the call for the stop: with EINTR, or with one of the numbers
/// by which it begins the call anew afterwards. A call that was about to return has its result.
static bool is_interrupted_wait(const struct user_regs_struct *r) {
  if ((long)r->orig_rax < 0) return false;
  switch (-(long)r->rax) {
    case EINTR: case LT_RESTART: case LT_RESTART_NO_INTERRUPT: case LT_RESTART_NO_HANDLER: case LT_RESTART_BLOCK: return true;
    default: return false;
  }
}

/// Has the kernel begin the wait anew, unless a handler of the host's runs first: then it returns EINTR, as it would have.
static void repeat_wait(uint32_t thread, const struct user_regs_struct *r) {
  if ((long)r->orig_rax < 0 || (long)r->rax != -EINTR || !lt_call_is_repeatable((long)r->orig_rax)) return;
  lt_syscall6(SYS_ptrace, PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax), -LT_RESTART_NO_HANDLER, 0, 0);
}

static void read_registers(struct lt_snapshot_thread *thread, const struct tracee *tracee) {
  struct user_regs_struct r;
  if (lt_syscall6(SYS_ptrace, PTRACE_GETREGS, thread->osThread, 0, (long)&r, 0, 0) != 0) return;
  if (!tracee->signal) repeat_wait(thread->osThread, &r);
  thread->flags = LT_SNAPSHOT_THREAD_REGISTERS | (is_interrupted_wait(&r) ? LT_SNAPSHOT_THREAD_WAITING : 0);
  thread->stackPointer = lt_own_stack_left_at(r.rsp);
  thread->threadPointer = r.fs_base;
  thread->instructionPointer = r.rip;
  // The recorder's own thread: what it looks at is in use by nobody.
  if (thread->osThread == (uint32_t)lt_watcher_thread() || lt_serving_is(thread->osThread)) return;
  const uint64_t registers[16] = {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  memcpy(thread->registers, registers, sizeof registers);
}

/// Stops all threads but the one that waits for this. False when that is refused, or takes too long.
static bool stop_all(struct lt_freeze *f) {
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  uint32_t running = 0;
  for (int pass = 0; pass < PASS_LIMIT; pass++) {
    int found = attach_new(f);
    if (found < 0) return false;
    // Threads that stand still make no new ones.
    if (found == 0) return true;
    running += (uint32_t)found;
    for (unsigned round = 0; running > 0; round++) {
      take_reports(&running);
      if (running == 0) break;
      uint64_t milliseconds = (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin) / 1000000;
      if (milliseconds > STOP_MILLISECONDS) return false;
      if (milliseconds > PATIENCE_MILLISECONDS && stand_still(f)) break;
      sleep_microseconds(round < 8 ? 20 : 500);
    }
  }
  return true;
}

/// Puts those behind the others that have ended meanwhile, and the recorder's tasks apart, which have nothing of the host's.
static void leave_out_passing(struct lt_freeze *f) {
  f->attachedCount = f->threadCount;
  for (uint32_t i = f->threadCount; i-- > 1;) {
    if (!tracees[i].isGone && !lt_apart_has_stack(f->threads[i].stackPointer)) continue;
    uint32_t last = --f->threadCount;
    struct lt_snapshot_thread thread = f->threads[i];
    struct tracee tracee = tracees[i];
    f->threads[i] = f->threads[last];
    tracees[i] = tracees[last];
    f->threads[last] = thread;
    tracees[last] = tracee;
  }
}

static void trace(void *freeze) {
  struct lt_freeze *f = freeze;
  // Attaching may have to be allowed first.
  while (!atomic_load(&f->isAllowed)) {
    struct timespec limit = {.tv_nsec = 50000000};
    lt_syscall6(SYS_futex, (long)&f->isAllowed, FUTEX_WAIT, 0, (long)&limit, 0, 0);
    if (lt_parent_process_id() != f->process) return;
  }
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  // When this process ends, whoever is still attached to is let go.
  if (!stop_all(f)) return;
  if (lt_parent_process_id() != f->process) return;
  for (uint32_t i = 1; i < f->threadCount; i++)
    if (tracees[i].isStopped && !tracees[i].isGone) read_registers(&f->threads[i], &tracees[i]);
  leave_out_passing(f);
  f->stopped(f->argument);
  f->isFrozen = true;
  f->copy = (pid_t)copy_process(CLONE_PARENT);
  if (f->copy == 0) f->copied(f->argument);
  for (uint32_t i = 1; i < f->attachedCount; i++)
    if (tracees[i].isStopped && !tracees[i].isGone) lt_syscall6(SYS_ptrace, PTRACE_DETACH, f->threads[i].osThread, 0, tracees[i].signal, 0, 0);
  atomic_store(f->pauseNanoseconds, lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin);
  atomic_store(&f->isDone, 1);
}

// --- the thread that waits for it ---------------------------------------------------------------------------------------------

/// Whether this process has threads besides the calling one and the recorder's own, which touches nothing of the host's.
static bool has_other_threads(void) {
  // A directory of threads: its links are those threads, itself and its parent.
  struct stat info;
  pid_t watcher = lt_watcher_thread();
  unsigned own = watcher && watcher != lt_thread_id() ? 1 : 0;
  return lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&info, 0, 0, 0) != 0 || info.st_nlink != 3 + own;
}

/// Whether children of this thread belong to another PID namespace. The first of them is that namespace's first process, with which all others end; and that
/// one's end waits until the parent of every other has taken note of its end (Linux, kernel/pid_namespace.c, zap_pid_ns_processes), which the program may
/// itself wait for. The link is there once the namespace has a first process (pid_namespaces(7)).
static bool is_namespace_of_children_another(void) {
  char own[64], childrens[64];
  long length = lt_syscall(SYS_readlink, "/proc/thread-self/ns/pid", own, sizeof own);
  if (length <= 0) return false; // no /proc, and so no image
  return lt_syscall(SYS_readlink, "/proc/thread-self/ns/pid_for_children", childrens, sizeof childrens) != length || memcmp(own, childrens, (size_t)length) != 0;
}

static bool has_memory(const struct lt_freeze *f) {
  if (!stack) stack = lt_map_private(STACK_SIZE);
  if (!tracees) tracees = lt_map_private(f->threadLimit * sizeof *tracees);
  if (!indexOf) indexOf = lt_map_private(THREAD_NUMBER_LIMIT * sizeof *indexOf);
  return stack && tracees && indexOf;
}

void lt_freeze_and_copy(struct lt_freeze *f) {
  f->threadCount = 1;
  f->attachedCount = 0;
  f->isFrozen = false;
  f->copy = -EAGAIN;
  atomic_store(&f->isAllowed, 0);
  atomic_store(&f->isDone, 0);
  if (is_namespace_of_children_another()) {
    f->stopped(f->argument);
    f->copy = -ENOTSUP;
    return;
  }
  bool isAlone = !has_other_threads();
  long tracer = !isAlone && !isForbidden && has_memory(f) ? lt_clone_call(CLONE_VM | CLONE_UNTRACED, stack + STACK_SIZE, trace, f, NULL, 0) : -ENOMEM;
  if (tracer > 0) {
    atomic_store(&f->tracer, (pid_t)tracer);
    if (mayNeedPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, tracer, 0, 0, 0, 0);
    atomic_store(&f->isAllowed, 1);
    lt_syscall(SYS_futex, &f->isAllowed, FUTEX_WAKE, 1);
    int status;
    while (lt_syscall6(SYS_wait4, tracer, (long)&status, __WALL, 0, 0, 0) == -EINTR) {}
    if (mayNeedPermission) lt_syscall6(SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0, 0);
    uint32_t attached = f->attachedCount ? f->attachedCount : f->threadCount;
    for (uint32_t i = 1; i < attached; i++) indexOf[f->threads[i].osThread] = 0;
    if (atomic_load(&f->isDone)) return;
    f->threadCount = 1;
    f->isFrozen = false;
  }
  f->stopped(f->argument);
  atomic_store(f->pauseNanoseconds, 0);
  f->isFrozen = isAlone;
  f->copy = (pid_t)copy_process(0);
  if (f->copy == 0) f->copied(f->argument);
}
