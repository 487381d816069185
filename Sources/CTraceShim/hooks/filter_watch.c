#define _GNU_SOURCE
#include "hooks/filter_watch.h"

#include "hooks/hook.h"
#include "image/heap_snapshot.h"
#include "image/thread_freeze.h"
#include "os/os.h"
#include "process/lifecycle.h"
#include "profile/due_profiles.h"
#include "profile/heap_profile.h"
#include "recorder_calls.h"
#include "thread/hook_switch.h"
#include "thread/thread_state.h"

#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59 // Linux 5.11
#define PR_SYS_DISPATCH_OFF 0
#endif

// --- consequences ----------------------------------------------------------------------------------------------------

static _Atomic bool isBeginningForbidden;

bool lt_filter_allows_beginning(void) { return !atomic_load(&isBeginningForbidden); }

static bool is_readable(const void *from, size_t size) {
  if (!from) return false;
  uintptr_t first = (uintptr_t)from, last = first + size - sizeof(uint64_t);
  for (uintptr_t at = first; at < last; at = (at & ~(uintptr_t)4095) + 4096)
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

/// The process is about to confine itself. `filter`: NULL for the strict mode, which leaves it four calls.
static LT_NOINLINE void before_filter(const struct sock_fprog *filter) {
  // A recording that was stopped makes no more calls, under the filter that stopped it.
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF || !lt_process_has_own_memory()) return;
  int forbidden = LT_TO_RECORD | LT_TO_BEGIN | LT_FOR_IMAGES | LT_TO_STOP_THREADS | LT_FOR_PROFILES;
  if (filter) {
    // The kernel refuses what cannot be read.
    if (!is_readable(filter, sizeof *filter) || filter->len == 0 || filter->len > BPF_MAXINSNS) return;
    if (!is_readable(filter->filter, filter->len * sizeof *filter->filter)) return;
    uint64_t here = (uint64_t)(uintptr_t)&lt_filter_allows_beginning;
    forbidden = lt_purposes_forbidden_by(filter->filter, filter->len, LT_AUDIT_ARCHITECTURE, here, NULL) & ~LT_TO_JOIN;
  }
  if (!forbidden) return;
  if (forbidden & (LT_TO_BEGIN | LT_TO_RECORD)) atomic_store(&isBeginningForbidden, true);
  // The names in a profile are found in a copy of the process, as images are written.
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

typedef long system_call(long, long, long, long, long, long, long);
typedef int process_control(int, unsigned long, unsigned long, unsigned long, unsigned long);

static system_call *nextSyscall;
static process_control *nextControl;

/// The program is about to have the kernel hand it the calls of one of its threads, the recorder's among them.
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

// Both take variable arguments; arguments that a caller did not give are passed on as they stand.

LT_EXPORT long lt_watched_syscall(long number, long a, long b, long c, long d, long e, long f) LT_NAMED(syscall);
LT_EXPORT long lt_watched_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (LT_UNLIKELY(number == SYS_seccomp)) {
    if (a == SECCOMP_SET_MODE_STRICT) before_filter(NULL);
    else if (a == SECCOMP_SET_MODE_FILTER && c) before_filter((const struct sock_fprog *)c);
  } else if (LT_UNLIKELY(number == SYS_prctl)) {
    watch_control((int)a, (unsigned long)b, (unsigned long)c);
  } else if (LT_UNLIKELY(lt_makes_identification_fail(number, a, b))) {
    before_identification_faults();
  }
  if (LT_UNLIKELY(!nextSyscall)) nextSyscall = (system_call *)lt_next_symbol("syscall");
  __attribute__((musttail)) return nextSyscall(number, a, b, c, d, e, f);
}

LT_EXPORT int lt_watched_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
    LT_NAMED(prctl);
LT_EXPORT int lt_watched_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  watch_control(option, a, b);
  if (LT_UNLIKELY(!nextControl)) nextControl = (process_control *)lt_next_symbol("prctl");
  __attribute__((musttail)) return nextControl(option, a, b, c, d);
}

// glibc declares it nowhere.
LT_EXPORT int lt_watched_arch_prctl(int option, unsigned long argument) LT_NAMED(arch_prctl);
LT_EXPORT int lt_watched_arch_prctl(int option, unsigned long argument) {
  if (LT_UNLIKELY(lt_makes_identification_fail(SYS_arch_prctl, option, (long)argument))) before_identification_faults();
  typedef int architecture_control(int, unsigned long);
  static architecture_control *next;
  if (LT_UNLIKELY(!next)) next = (architecture_control *)lt_next_symbol("arch_prctl");
  __attribute__((musttail)) return next(option, argument);
}
