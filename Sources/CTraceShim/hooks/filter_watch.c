#define _GNU_SOURCE
#include "hooks/filter_watch.h"

#include "hooks/hook.h"
#include "image/heap_snapshot.h"
#include "image/thread_freeze.h"
#include "os/os.h"
#include "process/filter_program.h"
#include "process/lifecycle.h"
#include "profile/due_profiles.h"
#include "profile/heap_profile.h"
#include "thread/hook_switch.h"
#include "thread/thread_state.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

// --- the calls -------------------------------------------------------------------------------------------------------

/// The part of recording that needs a call.
enum { TO_RECORD = 1, TO_BEGIN = 2, FOR_IMAGES = 4, TO_STOP_THREADS = 8, FOR_PROFILES = 16 };

/// Every call of the recorder's, with arguments as it gives them, as far as filters look at them. A test compares the
/// list with the sources.
static const struct need {
  int number, purposes;
  uint64_t arguments[6];
} needs[] = {
    {SYS_clock_gettime, TO_RECORD | FOR_IMAGES, {CLOCK_MONOTONIC}},
    {SYS_clone, TO_RECORD, {CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS}},
    {SYS_clone,
     TO_RECORD,
     {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED |
      CLONE_CHILD_CLEARTID}},
    {SYS_clone, FOR_IMAGES, {CLONE_UNTRACED}},
    {SYS_clone, FOR_IMAGES, {CLONE_UNTRACED | CLONE_PARENT}},
    {SYS_clone, TO_STOP_THREADS, {CLONE_UNTRACED | CLONE_VM}},
    {SYS_close, TO_RECORD | FOR_IMAGES, {1000}},
    {SYS_close_range, TO_RECORD | FOR_IMAGES, {3, ~0u, 2}},
    {SYS_exit, TO_RECORD | TO_STOP_THREADS, {0}},
    {SYS_exit_group, FOR_IMAGES, {0}},
    {SYS_faccessat, TO_RECORD, {(uint64_t)AT_FDCWD}},
    {SYS_fallocate, TO_RECORD, {1000}},
    {SYS_flock, FOR_IMAGES, {1000, LOCK_EX}},
    {SYS_fstat, TO_RECORD | FOR_IMAGES, {1000}},
    {SYS_ftruncate, TO_RECORD, {1000}},
    {SYS_futex, TO_RECORD | FOR_IMAGES, {0, FUTEX_WAIT}},
    {SYS_futex, TO_RECORD | FOR_IMAGES, {0, FUTEX_WAKE}},
    {SYS_getcwd, TO_BEGIN, {0}},
    {SYS_getdents64, FOR_IMAGES, {1000}},
    {SYS_getpid, TO_RECORD, {0}},
    {SYS_getppid, FOR_IMAGES | TO_BEGIN, {0}},
    {SYS_getrandom, TO_BEGIN, {0, 8, 1}},
    {SYS_getrusage, TO_RECORD, {RUSAGE_SELF}},
    {SYS_gettid, TO_RECORD | FOR_IMAGES, {0}},
    {SYS_madvise, TO_RECORD, {0, 4096, 18}},
    {SYS_madvise, TO_RECORD, {0, 4096, MADV_DONTFORK}},
    {SYS_madvise, TO_RECORD, {0, 4096, 23}},
    {SYS_madvise, FOR_IMAGES, {0, 4096, MADV_DOFORK}},
    {SYS_mincore, FOR_IMAGES, {0}},
    {SYS_mmap,
     TO_RECORD | FOR_IMAGES,
     {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull}},
    {SYS_mmap, TO_RECORD, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 1000}},
    {SYS_mprotect, TO_RECORD, {0, 4096, PROT_READ}},
    {SYS_mremap, TO_RECORD, {0, 4096, 4096, MREMAP_MAYMOVE}},
    {SYS_munlock, TO_RECORD, {0, 4096}},
    {SYS_munmap, TO_RECORD | FOR_IMAGES, {0, 4096}},
    {SYS_newfstatat, TO_RECORD | FOR_IMAGES, {(uint64_t)AT_FDCWD}},
    {SYS_openat, TO_RECORD, {(uint64_t)AT_FDCWD, 0, O_RDWR | O_NOFOLLOW | O_CLOEXEC}},
    {SYS_openat, TO_RECORD | FOR_IMAGES, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, FOR_PROFILES, {(uint64_t)AT_FDCWD, 0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC}},
    {SYS_prctl, FOR_PROFILES, {PR_SET_PDEATHSIG}},
    {SYS_prctl, TO_RECORD, {PR_SET_NAME}},
    {SYS_prctl, FOR_IMAGES, {PR_SET_DUMPABLE}},
    {SYS_pread64, TO_RECORD | FOR_IMAGES, {1000}},
    {SYS_prlimit64, TO_RECORD | FOR_IMAGES, {0, RLIMIT_FSIZE}},
    {SYS_ptrace, TO_STOP_THREADS, {PTRACE_SEIZE}},
    {SYS_pwrite64, TO_RECORD | FOR_IMAGES, {1000}},
    {SYS_read, TO_RECORD | FOR_IMAGES, {1000}},
    {SYS_readlink, TO_RECORD | FOR_IMAGES, {0}},
    {SYS_renameat, FOR_PROFILES, {(uint64_t)AT_FDCWD, 0, (uint64_t)AT_FDCWD}},
    {SYS_rt_sigaction, TO_RECORD, {SIGTERM}},
    {SYS_rt_sigpending, TO_RECORD, {0, 8}},
    {SYS_rt_sigprocmask, TO_RECORD | FOR_IMAGES, {SIG_SETMASK}},
    {SYS_rt_sigtimedwait, TO_RECORD, {0}},
    {SYS_sched_yield, TO_RECORD, {0}},
    {SYS_tgkill, TO_RECORD, {0}},
    {SYS_truncate, TO_RECORD, {0}},
    {SYS_unlink, TO_RECORD, {0}},
    {SYS_wait4, FOR_IMAGES | TO_STOP_THREADS, {0, 0, __WALL}},
    {SYS_write, TO_RECORD | FOR_IMAGES, {1000}},
};

/// Returns the purposes that a filter forbids. The recorder does without a call that fails with an error, except for
/// recording itself.
static int forbidden_by(const struct sock_filter *program, unsigned count) {
  int forbidden = 0;
  for (unsigned i = 0; i < sizeof needs / sizeof *needs; i++) {
    struct seccomp_data call = {.nr = needs[i].number,
                                .arch = LT_AUDIT_ARCHITECTURE,
                                .instruction_pointer = (uint64_t)(uintptr_t)&forbidden_by};
    memcpy(call.args, needs[i].arguments, sizeof call.args);
    uint32_t action = lt_filter_run(program, count, &call) & SECCOMP_RET_ACTION_FULL;
    if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG) continue;
    bool isError = action == SECCOMP_RET_ERRNO || action == SECCOMP_RET_TRACE;
    forbidden |= isError ? needs[i].purposes & (TO_RECORD | TO_BEGIN) : needs[i].purposes;
  }
  return forbidden;
}

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
  lt_process_warn("no heap images from here on: the program confines itself by a filter of system calls (seccomp) that "
                  "does not allow them",
                  NULL);
}

/// The process is about to confine itself. `filter`: NULL for the strict mode, which leaves it four calls.
static LT_NOINLINE void before_filter(const struct sock_fprog *filter) {
  // A recording that was stopped makes no more calls, under the filter that stopped it.
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF || !lt_process_has_own_memory()) return;
  int forbidden = TO_RECORD | TO_BEGIN | FOR_IMAGES | TO_STOP_THREADS | FOR_PROFILES;
  if (filter) {
    // The kernel refuses what cannot be read.
    if (!is_readable(filter, sizeof *filter) || filter->len == 0 || filter->len > BPF_MAXINSNS) return;
    if (!is_readable(filter->filter, filter->len * sizeof *filter->filter)) return;
    forbidden = forbidden_by(filter->filter, filter->len);
  }
  if (!forbidden) return;
  if (forbidden & (TO_BEGIN | TO_RECORD)) atomic_store(&isBeginningForbidden, true);
  // The names in a profile are found in a copy of the process, as images are written.
  if (forbidden & (FOR_PROFILES | FOR_IMAGES)) give_up_profiles();
  if (forbidden & TO_RECORD)
    lt_process_stop("recording stops here: the program confines itself by a filter of system calls (seccomp) that does "
                    "not allow the recorder's");
  else if (forbidden & FOR_IMAGES) give_up_images();
  else if (forbidden & TO_STOP_THREADS) lt_freeze_forbid();
}

typedef long system_call(long, long, long, long, long, long, long);
typedef int process_control(int, unsigned long, unsigned long, unsigned long, unsigned long);

static system_call *nextSyscall;
static process_control *nextControl;

static void watch_control(int option, unsigned long mode, unsigned long filter) {
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
  }
  if (LT_UNLIKELY(!nextSyscall)) nextSyscall = (system_call *)dlsym(RTLD_NEXT, "syscall");
  __attribute__((musttail)) return nextSyscall(number, a, b, c, d, e, f);
}

LT_EXPORT int lt_watched_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
    LT_NAMED(prctl);
LT_EXPORT int lt_watched_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  watch_control(option, a, b);
  if (LT_UNLIKELY(!nextControl)) nextControl = (process_control *)dlsym(RTLD_NEXT, "prctl");
  __attribute__((musttail)) return nextControl(option, a, b, c, d);
}
