// Runs the command `leaktrace` as a guest of a program in production: the program cannot notice the child process.
//
// The kernel signals the end of a process that has executed a program, with SIGCHLD, to its parent. So the command is
// the child of a keeper. The keeper is a child of the program that executes nothing, and ends without a signal.

#define _GNU_SOURCE
#include "CLeakTrace.h"

#include <stddef.h>

#if defined(__linux__) && !defined(CLEAKTRACE_NEVER) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 // the same number on all processors
#endif

enum {
  STACK_SIZE = 64 << 10,
  FIRST_DESCRIPTOR = 3,       ///< the command has only the standard descriptors
  DESCRIPTOR_LIMIT = 1 << 16, ///< the most descriptors that the keeper closes one by one
  OUTPUT_LIMIT = 1 << 30,     ///< the most bytes of output that are read
  POLL_MILLISECONDS = 5,      ///< time between two looks at a state that nothing announces
  KERNEL_SIGNALS = 64,
};

// --- the keeper ------------------------------------------------------------------------------------------------------

/// The keeper shares the memory of the program, and the thread-local variables of the thread that started it.
struct keeper {
  char *const *arguments, *const *environment;
  int output, null;
  unsigned long mask; ///< the signals that the calling thread blocked before
  int descriptorEnd;  ///< one more than the highest descriptor that may be open
  bool isCancelled;   ///< set by the calling thread: the keeper kills the command
  int status;         ///< of the command, as wait4 has it; -1 until the command has ended
};

/// Makes a system call without `errno`, which belongs to the thread that started the keeper. Always inlined, in debug
/// builds, too: otherwise the command would overwrite a frame that the keeper still needs after clone.
__attribute__((always_inline)) static inline long raw_call(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                   x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#endif
}

/// Starts the command. Only the keeper returns, after the command has begun or failed to begin. Both use this frame, so
/// the keeper needs nothing of it afterwards.
__attribute__((noinline)) static long start_command(const struct keeper *k) {
  long child = raw_call(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0);
  if (child != 0) return child;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&k->mask, 0, sizeof k->mask);
  raw_call(SYS_execve, (long)k->arguments[0], (long)k->arguments, (long)k->environment, 0);
  for (;;) raw_call(SYS_exit_group, 127, 0, 0, 0);
}

/// Runs the command and stores its status. The keeper has copies of the descriptors and of the signal dispositions.
/// Calls no function of the C library, since some have the recorder's hooks.
static int keep(void *context) {
  struct keeper *k = context;
  // If the program ends or executes another one, its memory must go.
  raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
  for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
    const unsigned long standard[4] = {0}; // the kernel's struct sigaction, with SIG_DFL
    raw_call(SYS_rt_sigaction, signal, (long)standard, 0, sizeof k->mask);
  }
  raw_call(SYS_dup3, k->null, 0, 0, 0);
  raw_call(SYS_dup3, k->output, 1, 0, 0);
  raw_call(SYS_dup3, k->null, 2, 0, 0);
  // Otherwise the command might keep a socket open that the program closes.
  if (raw_call(SYS_close_range, FIRST_DESCRIPTOR, ~0u, 0, 0) != 0)
    for (int descriptor = FIRST_DESCRIPTOR; descriptor < k->descriptorEnd; descriptor++)
      raw_call(SYS_close, descriptor, 0, 0, 0);
  long command = start_command(k);
  raw_call(SYS_close, 1, 0, 0, 0);
  for (bool isKilled = false; command > 0;) {
    int status;
    long ended = raw_call(SYS_wait4, command, (long)&status, isKilled ? 0 : WNOHANG, 0);
    if (ended == command) {
      __atomic_store_n(&k->status, status, __ATOMIC_RELEASE);
      break;
    }
    if (ended < 0 && ended != -EINTR) break;
    if (__atomic_load_n(&k->isCancelled, __ATOMIC_ACQUIRE)) {
      raw_call(SYS_kill, command, SIGKILL, 0, 0);
      isKilled = true;
    } else {
      const struct timespec pause = {.tv_nsec = POLL_MILLISECONDS * 1000000};
      raw_call(SYS_nanosleep, (long)&pause, 0, 0, 0);
    }
  }
  for (;;) raw_call(SYS_exit_group, 0, 0, 0, 0);
}

// --- turns -----------------------------------------------------------------------------------------------------------

static int64_t now_milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = POLL_MILLISECONDS * 1000000}, NULL); }

/// The process whose thread has the turn; 0 if no thread has it. Only one process can inspect this one at a time. A
/// child of fork may find the number of its parent, whose threads it does not have.
static pid_t turn;

static bool take_turn(int64_t deadline) {
  for (pid_t self = getpid();; pause_briefly()) {
    pid_t other = __atomic_load_n(&turn, __ATOMIC_RELAXED);
    if (other != self && __atomic_compare_exchange_n(&turn, &other, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
    if (now_milliseconds() >= deadline) return false;
  }
}

static void end_turn(void) { __atomic_store_n(&turn, 0, __ATOMIC_RELEASE); }

// --- running ---------------------------------------------------------------------------------------------------------

/// Starts the keeper on a stack. Returns its number, or -1.
static pid_t start(struct keeper *k, char *stack) {
  // No handler of the program may run in the keeper. The C library would leave two signals of its own unblocked.
  const unsigned long all = ~0ul;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&k->mask, sizeof all);
  pid_t keeper = clone(keep, stack + STACK_SIZE, CLONE_VM, k);
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&k->mask, 0, sizeof all);
  return keeper;
}

/// Waits for the end of the keeper. If another thread of the program waits for children of all kinds, it may have taken
/// the keeper's status. This thread then learns only that the keeper has ended.
static void wait_for(pid_t keeper, struct keeper *k, int64_t deadline) {
  for (;;) {
    long ended = raw_call(SYS_wait4, keeper, 0, __WALL | WNOHANG, 0);
    if (ended == keeper || (ended < 0 && ended != -EINTR)) return;
    if (now_milliseconds() >= deadline) __atomic_store_n(&k->isCancelled, true, __ATOMIC_RELEASE);
    pause_briefly();
  }
}

/// Reads all output until the deadline. Returns NULL if there is more, or if memory is short.
static char *read_until(int descriptor, int64_t deadline, size_t *size) {
  size_t count = 0, capacity = 1 << 16;
  char *bytes = malloc(capacity);
  while (bytes) {
    if (capacity == count) {
      char *larger = capacity < OUTPUT_LIMIT ? realloc(bytes, capacity *= 2) : NULL;
      if (!larger) break;
      bytes = larger;
    }
    int64_t left = deadline - now_milliseconds();
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    int n = left > 0 ? poll(&ready, 1, (int)left) : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    ssize_t read_ = read(descriptor, bytes + count, capacity - count);
    if (read_ < 0 && errno == EINTR) continue;
    if (read_ < 0) break;
    if (read_ == 0) {
      *size = count;
      return bytes;
    }
    count += (size_t)read_;
  }
  free(bytes);
  return NULL;
}

/// Returns a duplicate that is none of the standard descriptors, and closes the original.
static int raised(int descriptor) {
  int duplicate = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  if (descriptor >= 0) close(descriptor);
  return duplicate;
}

/// True if the kernel lets only a parent trace a process, unless the process allows it. Root may trace each process.
static bool needs_permission(void) {
  char setting = '0';
  int file = geteuid() == 0 ? -1 : open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  if (read(file, &setting, 1) != 1) setting = '0';
  close(file);
  return setting == '1';
}

/// Returns the environment without the variables that load or set the recorder; NULL if memory is short.
static char **plain_environment(void) {
  size_t count = 0, kept = 0;
  while (environ && environ[count]) count++;
  char **environment = calloc(count + 1, sizeof *environment);
  for (size_t i = 0; environment && i < count; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LEAKTRACE_", 10) != 0)
      environment[kept++] = environ[i];
  return environment;
}

/// Runs the command with the prepared descriptors, and returns its output if it ended with status 0.
static char *run_prepared(struct keeper *k, int *ends, int64_t deadline, size_t *size) {
  char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return NULL;
  bool isPermitted = needs_permission() && prctl(PR_SET_PTRACER, getpid(), 0, 0, 0) == 0;
  pid_t keeper = start(k, stack);
  close(ends[1]);
  ends[1] = -1;
  char *bytes = keeper > 0 ? read_until(ends[0], deadline, size) : NULL;
  // If the output was not read to its end, the rest does not matter.
  if (keeper > 0) wait_for(keeper, k, bytes ? deadline : 0);
  if (isPermitted) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  munmap(stack, STACK_SIZE);
  int status = __atomic_load_n(&k->status, __ATOMIC_ACQUIRE);
  if (bytes && status == 0) return bytes;
  free(bytes);
  return NULL;
}

static char *run_in_turn(char *const arguments[], int64_t deadline, size_t *size) {
  int ends[2] = {-1, -1}, null = raised(open("/dev/null", O_RDWR | O_CLOEXEC));
  char **environment = plain_environment(), *bytes = NULL;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    ends[0] = raised(ends[0]);
    ends[1] = raised(ends[1]);
  }
  if (environment && null >= 0 && ends[0] >= 0 && ends[1] >= 0) {
    struct rlimit limit;
    bool isLow = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTOR_LIMIT;
    struct keeper k = {.arguments = arguments,
                       .environment = environment,
                       .output = ends[1],
                       .null = null,
                       .descriptorEnd = isLow ? (int)limit.rlim_cur : DESCRIPTOR_LIMIT,
                       .status = -1};
    bytes = run_prepared(&k, ends, deadline, size);
  }
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0) close(ends[i]);
  if (null >= 0) close(null);
  free(environment);
  return bytes;
}

char *cleaktrace_run_as_guest(char *const arguments[], int milliseconds, size_t *size) {
  int64_t deadline = now_milliseconds() + milliseconds;
  int cancelState, error = errno;
  // A cancelled thread would leave the child and the descriptors.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelState);
  char *bytes = NULL;
  if (take_turn(deadline)) {
    bytes = run_in_turn(arguments, deadline, size);
    end_turn();
  }
  pthread_setcancelstate(cancelState, &cancelState);
  errno = error;
  return bytes;
}

// --- finding the command ---------------------------------------------------------------------------------------------

static bool is_command(const char *path) { return path[0] == '/' && access(path, X_OK) == 0; }

bool cleaktrace_find_installed_command(char *path, size_t size) {
  const char *named = secure_getenv("LEAKTRACE_COMMAND");
  if (named && *named) {
    int length = snprintf(path, size, "%s", named);
    return length > 0 && (size_t)length < size && is_command(path);
  }
  if (cleaktrace_is_present() && cleaktrace_find_command(path, size)) return true;
  const char *list = secure_getenv("PATH");
  while (list && *list) {
    size_t length = strcspn(list, ":");
    int written = snprintf(path, size, "%.*s/leaktrace", (int)length, list);
    if (written > 0 && (size_t)written < size && is_command(path)) return true;
    list += length + (list[length] == ':');
  }
  return false;
}

int cleaktrace_process_number(void) { return (int)getpid(); }

#else

char *cleaktrace_run_as_guest(char *const arguments[], int milliseconds, size_t *size) {
  return (void)arguments, (void)milliseconds, (void)size, NULL;
}
bool cleaktrace_find_installed_command(char *path, size_t size) { return (void)path, (void)size, false; }
int cleaktrace_process_number(void) { return 0; }

#endif
