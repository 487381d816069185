// Hooks of calls that change the process: exec, spawn, threads, filters, rights, waits for children, and exit.

#define _GNU_SOURCE
#include "hooks/process_hooks.h"

#include "check.h"
#include "hooks/hook.h"
#include "hooks/loader_watch.h"
#include "hooks/program_calls.h"
#include "hooks/swift_hooks.h"
#include "image/heap_snapshot.h"
#include "image/thread_freeze.h"
#include "image/thread_stop.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "os/process_info.h"
#include "process/environment.h"
#include "process/lifecycle.h"
#include "process/program_kind.h"
#include "process/recording.h"
#include "process/thread_entry.h"
#include "profile/function_names.h"
#include "profile/heap_profile.h"
#include "record/definitions.h"
#include "record/event_buffer.h"
#include "record/trace_file.h"
#include "recorder_calls.h"
#include "thread/thread_state.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

// === filters =========================================================================================================

// Checks the filters of system calls (seccomp) that a program installs to confine itself, before they take effect.
//
// A filter may end the process at a system call that the filter does not allow. This could be the recorder's next
// system call. Therefore the hooks watch the program's calls of prctl and syscall. They test a new filter against each
// system call that the recorder makes. If the filter does not allow all of them, recording stops, or continues without
// heap images.
//
// prctl, arch_prctl and syscall can also make two instructions that the recorder uses raise SIGSEGV: rdtsc and cpuid.
// Recording stops before that happens.

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59 // Linux 5.11
#define PR_SYS_DISPATCH_OFF 0
#endif

// --- consequences ----------------------------------------------------------------------------------------------------

typedef long system_call(long, long, long, long, long, long, long);
typedef int process_control(int, unsigned long, unsigned long, unsigned long, unsigned long);

static struct {
  _Atomic bool isBeginningForbidden; ///< needs no order: no other data depends on it
  system_call *nextSyscall;
  process_control *nextControl;
} filters;

/// True if programs that this process executes may be traced. They inherit the filters in effect, and these must allow
/// the system calls that begin a recording.
static bool lt_filter_allows_beginning(void) { return !atomic_load(&filters.isBeginningForbidden); }

static bool is_readable(const void *from, size_t size) {
  if (!from) return false;
  uintptr_t first = (uintptr_t)from, last = first + size - sizeof(uint64_t);
  for (uintptr_t at = first; at < last; at = lt_page_start(at) + lt_page_size())
    if (!lt_is_readable(at)) return false;
  return lt_is_readable(last);
}

static void give_up_profiles(void) {
  lt_heap_profile_forbid();
  lt_due_profiles_end();
}

static void give_up_images(void) {
  lt_snapshot_end();
  lt_process_warn("no heap images from here on: the program installs a filter of system calls (seccomp) that does not "
                  "allow them",
                  NULL);
}

/// Called when the process is about to confine itself. `filter`: NULL for the strict mode, which allows only four
/// system calls.
static LT_NOINLINE void before_filter(const struct sock_fprog *filter) {
  // If recording has stopped, make no system calls here: the filter that stopped it may forbid them.
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF || !lt_process_has_own_memory()) return;
  int forbidden = LT_TO_RECORD | LT_TO_BEGIN | LT_FOR_IMAGES | LT_TO_STOP_THREADS | LT_FOR_PROFILES;
  if (filter) {
    // The kernel refuses a filter that cannot be read.
    if (!is_readable(filter, sizeof *filter) || filter->len == 0 || filter->len > BPF_MAXINSNS) return;
    if (!is_readable(filter->filter, filter->len * sizeof *filter->filter)) return;
    uint64_t here = (uint64_t)(uintptr_t)&lt_filter_allows_beginning;
    forbidden = lt_purposes_forbidden_by(filter->filter, filter->len, LT_AUDIT_ARCHITECTURE, here, NULL) & ~LT_TO_JOIN;
  }
  if (!forbidden) return;
  if (forbidden & (LT_TO_BEGIN | LT_TO_RECORD)) atomic_store(&filters.isBeginningForbidden, true);
  // Like an image, the names in a profile need a copy of the process.
  if (forbidden & (LT_FOR_PROFILES | LT_FOR_IMAGES)) give_up_profiles();
  if (forbidden & LT_TO_RECORD)
    lt_process_stop("recording stops here: the program installs a filter of system calls (seccomp) that does not allow "
                    "the recorder's");
  else if (forbidden & LT_FOR_IMAGES) give_up_images();
  else if (forbidden & LT_TO_STOP_THREADS) lt_freeze_forbid();
}

/// Stops recording before an instruction that the recorder uses begins to raise SIGSEGV.
static LT_NOINLINE void before_faults(const char *why) {
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF || !lt_process_has_own_memory()) return;
  lt_process_stop(why);
}

static void before_counter_faults(void) {
  before_faults("recording stops here: the program makes reads of the processor's counter fail (PR_SET_TSC), and the "
                "recorder's clock needs them");
}

static void before_identification_faults(void) {
  before_faults("recording stops here: the program makes the instruction cpuid fail (ARCH_SET_CPUID), and the recorder "
                "uses it");
}

/// Called before the program makes the kernel redirect a thread's system calls to the program. The recorder's calls in
/// that thread would be redirected, too.
static LT_NOINLINE void before_dispatch(void) {
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF || !lt_process_has_own_memory()) return;
  lt_process_stop("recording stops here: the program takes over the system calls of a thread "
                  "(PR_SET_SYSCALL_USER_DISPATCH), including the recorder's");
}

static void watch_control(int option, unsigned long mode, unsigned long filter) {
  if (option == PR_SET_SYSCALL_USER_DISPATCH && mode != PR_SYS_DISPATCH_OFF) before_dispatch();
  if (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV) before_counter_faults();
  if (option != PR_SET_SECCOMP) return;
  if (mode == SECCOMP_MODE_STRICT) before_filter(NULL);
  else if (mode == SECCOMP_MODE_FILTER && filter) before_filter((const struct sock_fprog *)filter);
}

// syscall and prctl take variable arguments. The hooks pass on all possible arguments. Those that the caller did not
// pass have undefined values, which the kernel ignores.

LT_EXPORT long lt_hook_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (LT_UNLIKELY(number == SYS_seccomp)) {
    if (a == SECCOMP_SET_MODE_STRICT) before_filter(NULL);
    else if (a == SECCOMP_SET_MODE_FILTER && c) before_filter((const struct sock_fprog *)c);
  } else if (LT_UNLIKELY(number == SYS_prctl)) {
    watch_control((int)a, (unsigned long)b, (unsigned long)c);
  } else if (LT_UNLIKELY(lt_makes_identification_fail(number, a, b))) {
    before_identification_faults();
  }
  if (LT_UNLIKELY(!filters.nextSyscall)) filters.nextSyscall = (system_call *)lt_next_symbol("syscall");
  __attribute__((musttail)) return filters.nextSyscall(number, a, b, c, d, e, f);
}

LT_EXPORT int lt_hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  watch_control(option, a, b);
  if (LT_UNLIKELY(!filters.nextControl)) filters.nextControl = (process_control *)lt_next_symbol("prctl");
  __attribute__((musttail)) return filters.nextControl(option, a, b, c, d);
}

#ifdef SYS_arch_prctl
// No header of glibc declares arch_prctl.
LT_EXPORT int lt_hook_arch_prctl(int option, unsigned long argument) {
  if (LT_UNLIKELY(lt_makes_identification_fail(SYS_arch_prctl, option, (long)argument))) before_identification_faults();
  typedef int architecture_control(int, unsigned long);
  static architecture_control *next;
  if (LT_UNLIKELY(!next)) next = (architecture_control *)lt_next_symbol("arch_prctl");
  __attribute__((musttail)) return next(option, argument);
}
#endif

// === programs and threads ============================================================================================

// Hooks of the functions that begin and end processes, threads and images. They record no events: they keep the trace
// correct.

// --- replacing the program -------------------------------------------------------------------------------------------

static bool preloads(enum lt_program_kind kind) { return kind == LT_PROGRAM_PRELOADS || kind == LT_PROGRAM_MISSING; }

/// True if the new program exists, and will not remove this program's live file when it begins.
static bool is_last(enum lt_program_kind kind) {
  if (kind == LT_PROGRAM_MISSING) return false;
  return kind != LT_PROGRAM_PRELOADS || !lt_settings.preload[0] || !lt_filter_allows_beginning();
}

/// Returns the environment for a program that this process, or its child, is about to execute. Returns `environment`
/// itself if no change is needed. A program that replaces the traced one (`isOurs`) is traced. A program that a child
/// executes is traced if children are followed. A program that cannot be traced gets none of the recorder's variables,
/// unless its children may be traced.
static char **environment_for(enum lt_program_kind kind, char *const environment[], bool isOurs) {
  bool follows = lt_settings.followsChildren;
  bool isTraced = (preloads(kind) || (kind == LT_PROGRAM_STATIC && follows)) && lt_filter_allows_beginning();
  if (!isTraced && !follows) return (char **)environment;
  return lt_environment_for_child(environment, isTraced, isTraced && isOurs ? lt_trace.file.path : NULL);
}

/// Makes `call`, which replaces the program. `kind` is the new program's kind.
#define REPLACE(kind, environment, call)                                                                           \
  do {                                                                                                             \
    bool isOurs = lt_recording_is_on();                                                                            \
    bool mayTrace = isOurs || lt_settings.followsChildren;                                                         \
    enum lt_program_kind its = mayTrace ? (kind) : LT_PROGRAM_MISSING;                                             \
    char **made = mayTrace ? environment_for(its, (environment), isOurs) : (char **)(environment);                 \
    struct lt_exec_copies copies = {0};                                                                            \
    if (isOurs) lt_isolated_task_await(), lt_snapshot_finish(), lt_process_before_exec(is_last(its), &copies);     \
    else if (lt_trace_is_writable()) lt_process_count_untraced_child(); /* vfork child: has its parent's memory */ \
    int result = (call);                                                                                           \
    lt_process_after_failed_exec(&copies);                                                                         \
    lt_environment_free(made, (environment));                                                                      \
    return result;                                                                                                 \
  } while (0)

LT_EXPORT int lt_hook_execve(const char *path, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_at(path), environment, NEXT(execve)(path, arguments, made));
}
LT_EXPORT int lt_hook_execvpe(const char *file, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_named(file), environment, NEXT(execvpe)(file, arguments, made));
}
LT_EXPORT int lt_hook_fexecve(int descriptor, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_of_descriptor(descriptor), environment, NEXT(fexecve)(descriptor, arguments, made));
}
LT_EXPORT int lt_hook_execv(const char *path, char *const arguments[]) {
  return lt_hook_execve(path, arguments, environ);
}
LT_EXPORT int lt_hook_execvp(const char *file, char *const arguments[]) {
  return lt_hook_execvpe(file, arguments, environ);
}

/// Defines `arguments`, an array on the stack: the variable arguments from `first` to the null that ends them. `last`
/// runs after them, and may read further arguments from `list`.
#define COLLECT(arguments, first, last)                                    \
  va_list list;                                                            \
  size_t count = 1;                                                        \
  va_start(list, first);                                                   \
  while (va_arg(list, char *)) count++;                                    \
  va_end(list);                                                            \
  char **arguments = alloca((count + 1) * sizeof(char *));                 \
  va_start(list, first);                                                   \
  arguments[0] = (char *)first;                                            \
  for (size_t i = 1; i <= count; i++) arguments[i] = va_arg(list, char *); \
  last;                                                                    \
  va_end(list)

LT_EXPORT int lt_hook_execl(const char *path, const char *first, ...) {
  COLLECT(arguments, first, (void)0);
  return lt_hook_execve(path, arguments, environ);
}
LT_EXPORT int lt_hook_execlp(const char *file, const char *first, ...) {
  COLLECT(arguments, first, (void)0);
  return lt_hook_execvpe(file, arguments, environ);
}
LT_EXPORT int lt_hook_execle(const char *path, const char *first, ...) {
  COLLECT(arguments, first, char **environment = va_arg(list, char **));
  return lt_hook_execve(path, arguments, environment);
}

// --- children --------------------------------------------------------------------------------------------------------

#define SPAWN(kind, environment, call)                                                               \
  do {                                                                                               \
    bool isTraced = lt_settings.followsChildren && lt_settings.preload[0];                           \
    char **made = isTraced ? environment_for((kind), (environment), false) : (char **)(environment); \
    int result = (call);                                                                             \
    lt_environment_free(made, (environment));                                                        \
    if (result == 0 && lt_recording_is_on()) lt_process_count_untraced_child();                      \
    return result;                                                                                   \
  } while (0)

LT_EXPORT int lt_hook_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                                  const posix_spawnattr_t *attributes, char *const arguments[],
                                  char *const environment[]) {
  SPAWN(lt_program_kind_at(path), environment, NEXT(posix_spawn)(pid, path, actions, attributes, arguments, made));
}
LT_EXPORT int lt_hook_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                                   const posix_spawnattr_t *attributes, char *const arguments[],
                                   char *const environment[]) {
  SPAWN(lt_program_kind_named(file), environment, NEXT(posix_spawnp)(pid, file, actions, attributes, arguments, made));
}
LT_EXPORT int lt_hook_system(const char *command) {
  if (command && lt_recording_is_on()) lt_process_count_untraced_child();
  return NEXT(system)(command);
}
LT_EXPORT FILE *lt_hook_popen(const char *command, const char *mode) {
  if (lt_recording_is_on()) lt_process_count_untraced_child();
  return NEXT(popen)(command, mode);
}
LT_EXPORT pid_t lt_hook_fork(void) {
  if (lt_settings.followsChildren && lt_recording_is_on()) lt_description_note_threads(lt_own_threads_has_others());
  pid_t child = NEXT(fork)();
  if (child > 0 && lt_recording_is_on()) lt_process_count_untraced_child();
  return child;
}

// --- threads and images ----------------------------------------------------------------------------------------------

LT_EXPORT int lt_hook_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                                     void *argument) {
  // From the second thread's first event on, the times of all threads' events must be comparable.
  if (atomic_load_explicit(&lt_hook_mode, memory_order_relaxed)) lt_exact_time_require();
  return NEXT(pthread_create)(thread, attributes, start, argument);
}

LT_EXPORT int lt_hook_dlclose(void *handle) {
  lt_tls.isClosingImage++;
  int result = NEXT(dlclose)(handle);
  lt_tls.isClosingImage--;
  if (!lt_loader_watch_is_on()) lt_swift_relatives_unsettle();
  struct lt_thread *t = lt_enter();
  if (t) {
    lt_image_list_refresh(t);
    lt_leave();
  }
  return result;
}

// === reach ===========================================================================================================

// Hooks of calls that change the root directory, the user or the namespaces. After such a call, a process may not reach
// its trace file. So the hook first extends the trace's files to the greatest length that they may need. It also waits
// until the recorder's own task has ended, because the kernel refuses some of the calls to a process with several
// threads.

#define LOSE_REACH(name, arguments)                  \
  do {                                               \
    lt_isolated_task_await();                        \
    lt_trace_before_losing_reach();                  \
    __typeof__(&name) next = NEXT(name);             \
    __attribute__((musttail)) return next arguments; \
  } while (0)

LT_EXPORT int lt_hook_chroot(const char *path) { LOSE_REACH(chroot, (path)); }
LT_EXPORT int lt_hook_setuid(uid_t user) { LOSE_REACH(setuid, (user)); }
LT_EXPORT int lt_hook_seteuid(uid_t user) { LOSE_REACH(seteuid, (user)); }
LT_EXPORT int lt_hook_setreuid(uid_t real, uid_t effective) { LOSE_REACH(setreuid, (real, effective)); }
LT_EXPORT int lt_hook_setresuid(uid_t real, uid_t effective, uid_t saved) {
  LOSE_REACH(setresuid, (real, effective, saved));
}
LT_EXPORT int lt_hook_setgid(gid_t group) { LOSE_REACH(setgid, (group)); }
LT_EXPORT int lt_hook_setegid(gid_t group) { LOSE_REACH(setegid, (group)); }
LT_EXPORT int lt_hook_setregid(gid_t real, gid_t effective) { LOSE_REACH(setregid, (real, effective)); }
LT_EXPORT int lt_hook_setresgid(gid_t real, gid_t effective, gid_t saved) {
  LOSE_REACH(setresgid, (real, effective, saved));
}

// The kernel refuses these calls to a process with several threads. A thread that serves an image can begin at any
// moment, so a refused call is repeated.
#define LOSE_REACH_ALONE(name, arguments)                                 \
  do {                                                                    \
    lt_isolated_task_await();                                             \
    lt_serving_await_other();                                             \
    lt_trace_before_losing_reach();                                       \
    int before = errno, result = NEXT(name) arguments;                    \
    for (int i = 0; result != 0 && errno == EINVAL && i < RETRIES; i++) { \
      lt_serving_await_other();                                           \
      errno = before;                                                     \
      result = NEXT(name) arguments;                                      \
    }                                                                     \
    return result;                                                        \
  } while (0)
enum { RETRIES = 2 };

LT_EXPORT int lt_hook_unshare(int flags) { LOSE_REACH_ALONE(unshare, (flags)); }
LT_EXPORT int lt_hook_setns(int descriptor, int kind) { LOSE_REACH_ALONE(setns, (descriptor, kind)); }

// === waits ===========================================================================================================

// The recorder starts child processes that write heap images. The hooks hide these children from the host's calls that
// wait for children of any kind. They also hide them from calls that return sums over all children.

static bool is_for_all_kinds(int options) { return options & (__WALL | __WCLONE); }

static bool is_helper(pid_t child) { return lt_snapshot_is_helper(child) || lt_function_names_is_helper(child); }

static pid_t wait_for_others(pid_t which, int *status, int options, struct rusage *usage) {
  for (;;) {
    int ended = 0;
    struct rusage its;
    pid_t child = NEXT(wait4)(which, &ended, options, &its);
    if (child > 0 && is_helper(child)) {
      lt_child_usage_note(&its);
      continue;
    }
    if (child > 0 && status) *status = ended;
    if (child > 0 && usage) *usage = its;
    return child;
  }
}

LT_EXPORT pid_t lt_hook_waitpid(pid_t which, int *status, int options) {
  if (is_for_all_kinds(options)) return wait_for_others(which, status, options, NULL);
  __typeof__(&waitpid) next = NEXT(waitpid);
  __attribute__((musttail)) return next(which, status, options);
}

LT_EXPORT pid_t lt_hook_wait4(pid_t which, int *status, int options, struct rusage *usage) {
  if (is_for_all_kinds(options)) return wait_for_others(which, status, options, usage);
  __typeof__(&wait4) next = NEXT(wait4);
  __attribute__((musttail)) return next(which, status, options, usage);
}

LT_EXPORT int lt_hook_waitid(idtype_t kind, id_t which, siginfo_t *information, int options) {
  if (is_for_all_kinds(options)) {
    for (;;) {
      siginfo_t found = {0};
      int result = NEXT(waitid)(kind, which, &found, options);
      if (result == 0 && found.si_pid > 0 && is_helper(found.si_pid)) {
        // With WNOWAIT, the helper stays waitable, and this loop would find it again and again.
        if (options & WNOWAIT) lt_reap(found.si_pid, 0);
        continue;
      }
      if (result == 0 && information) *information = found;
      return result;
    }
  }
  __typeof__(&waitid) next = NEXT(waitid);
  __attribute__((musttail)) return next(kind, which, information, options);
}

LT_EXPORT int lt_hook_getrusage(__rusage_who_t who, struct rusage *usage) {
  int result = NEXT(getrusage)(who, usage);
  if (result == 0 && who == RUSAGE_CHILDREN) lt_child_usage_hide(usage);
  return result;
}

/// Converts a time to the ticks of `times`, which are 100 a second (USER_HZ) for all programs.
static clock_t ticks(struct timeval time) { return time.tv_sec * 100 + time.tv_usec / 10000; }

LT_EXPORT clock_t lt_hook_times(struct tms *used) {
  clock_t result = NEXT(times)(used);
  struct rusage children;
  // Compute the ticks from sums in microseconds: a difference of ticks would be rounded twice.
  if (used && NEXT(getrusage)(RUSAGE_CHILDREN, &children) == 0) {
    lt_child_usage_hide(&children);
    used->tms_cutime = ticks(children.ru_utime);
    used->tms_cstime = ticks(children.ru_stime);
  }
  return result;
}

// === exit ============================================================================================================

// Hooks of process exit. They take a snapshot before anything is torn down, and close the trace afterwards.
//
// When main returns, the C library calls its own exit, and no hook sees that call. So every handler that is registered
// to run at exit is wrapped, and the first wrapper that runs takes the snapshot. The hooks and the wrappers tail-call
// the original functions, so the recorder appears in no stack.

extern int __cxa_atexit(void (*)(void *), void *, void *);

// --- handlers --------------------------------------------------------------------------------------------------------

struct handler {
  void (*function)(void *);
  void *argument;
};
/// Handlers beyond the limit are registered unwrapped. They run first, and then a wrapped handler takes the snapshot.
enum { HANDLER_LIMIT = 1 << 15 };
static struct {
  struct handler *list;
  _Atomic uint32_t count; ///< gives out entries. The C library's lock publishes an entry to the thread that ends
} exitHandlers;

static void run_wrapped(void *context) {
  LT_CHECK((struct handler *)context >= exitHandlers.list &&
           (struct handler *)context < exitHandlers.list + HANDLER_LIMIT);
  struct handler h = *(struct handler *)context;
  // The destructors of an image are registered in the same way. If dlclose runs them, the process is not ending.
  if (!lt_tls.isClosingImage) lt_snapshot_at_exit();
  __attribute__((musttail)) return h.function(h.argument);
}

static void take_snapshot(void *unused) {
  (void)unused;
  lt_snapshot_at_exit();
}

LT_EXPORT int lt_hook___cxa_atexit(void (*function)(void *), void *argument, void *image) {
  if (exitHandlers.list && atomic_load_explicit(&lt_hook_mode, memory_order_relaxed)) {
    uint32_t index = atomic_fetch_add(&exitHandlers.count, 1);
    if (index < HANDLER_LIMIT) {
      struct handler *handler = &exitHandlers.list[index];
      *handler = (struct handler){function, argument};
      function = run_wrapped;
      argument = handler;
    } else {
      atomic_store(&exitHandlers.count, HANDLER_LIMIT);
    }
  }
  __typeof__(&__cxa_atexit) next = NEXT(__cxa_atexit);
  __attribute__((musttail)) return next(function, argument, image);
}

void lt_exit_hooks_init(void (*finish)(void *)) {
  exitHandlers.list = lt_map_private(HANDLER_LIMIT * sizeof *exitHandlers.list);
  if (finish) NEXT(__cxa_atexit)(finish, NULL, NULL);
  NEXT(__cxa_atexit)(take_snapshot, NULL, NULL);
}

// --- ends ------------------------------------------------------------------------------------------------------------

// The C library declares that exit and quick_exit never return. The compiler would not tail-call such a function, so
// the hooks call them through a type without that property.

typedef void ending(int);

LT_EXPORT void lt_hook_exit(int status) {
  if (lt_recording_is_on()) lt_mark_end(LT_HOOK_FRAME);
  lt_snapshot_at_exit();
  ending *next = (ending *)NEXT(exit);
  __attribute__((musttail)) return next(status);
}

LT_EXPORT void lt_hook_quick_exit(int status) {
  if (lt_recording_is_on()) lt_mark_end(LT_HOOK_FRAME);
  lt_snapshot_at_exit();
  if (lt_recording_is_on()) lt_process_finish(LT_CLOSE_UNDERSCORE_EXIT);
  ending *next = (ending *)NEXT(quick_exit);
  __attribute__((musttail)) return next(status);
}

LT_EXPORT _Noreturn void lt_hook__exit(int status) {
  lt_snapshot_at_exit();
  if (lt_recording_is_on()) lt_process_finish(LT_CLOSE_UNDERSCORE_EXIT);
  lt_syscall(SYS_exit_group, status, 0, 0);
  __builtin_unreachable();
}
LT_EXPORT _Noreturn void lt_hook__Exit(int status) { lt_hook__exit(status); }
