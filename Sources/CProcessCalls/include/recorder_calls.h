// Lists every system call of the recorder, to check whether a seccomp filter allows it.

#ifndef LEAKTRACE_RECORDER_CALLS_H
#define LEAKTRACE_RECORDER_CALLS_H

#include "filter_program.h"
#include "page_presence.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/// The parts of recording that need a call. To join a process is to load the library while the process runs.
enum {
  LT_TO_RECORD = 1,
  LT_TO_BEGIN = 2,
  LT_FOR_IMAGES = 4,
  LT_TO_STOP_THREADS = 8,
  LT_FOR_PROFILES = 16,
  LT_TO_JOIN = 32
};

/// A call, with those arguments of the recorder that filters may check.
struct lt_recorder_call {
  int number;
  char name[20];
  int purposes;
  uint64_t arguments[6];
};

#define LT_CALL_NAMED(call) SYS_##call, #call

/// The number of ARCH_GET_CPUID in Linux, arch/x86/include/uapi/asm/prctl.h.
#define LT_GET_CPUID 0x1011

/// Every call of the recorder. A test compares the list with the recorder's sources. There are two kinds of calls for
/// joining. One call returns the thread to its own work. The others are made by glibc's loader (2.31 to 2.41) when it
/// loads a library whose dependencies are already loaded.
static const struct lt_recorder_call lt_recorder_calls[] = {
    {LT_CALL_NAMED(clock_gettime), LT_TO_RECORD | LT_FOR_IMAGES, {CLOCK_MONOTONIC}},
    {LT_CALL_NAMED(clone),
     LT_TO_RECORD,
     {CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS}},
    {LT_CALL_NAMED(clone),
     LT_TO_RECORD,
     {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED |
      CLONE_CHILD_CLEARTID}},
    {LT_CALL_NAMED(clone), LT_FOR_IMAGES, {CLONE_UNTRACED | CLONE_FILES}},
    {LT_CALL_NAMED(clone), LT_FOR_IMAGES, {CLONE_UNTRACED | CLONE_FILES | CLONE_PARENT}},
    {LT_CALL_NAMED(clone), LT_FOR_PROFILES, {CLONE_UNTRACED}},
    {LT_CALL_NAMED(clone), LT_TO_STOP_THREADS, {CLONE_UNTRACED | CLONE_FILES | CLONE_VM | CLONE_CHILD_CLEARTID}},
    {LT_CALL_NAMED(close), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
    {LT_CALL_NAMED(close_range), LT_TO_RECORD | LT_FOR_IMAGES, {3, ~0u, 2}},
    {LT_CALL_NAMED(close_range), LT_FOR_IMAGES, {0, ~0u, 2}},
    {LT_CALL_NAMED(exit), LT_TO_RECORD | LT_TO_STOP_THREADS, {0}},
    {LT_CALL_NAMED(exit_group), LT_FOR_IMAGES, {0}},
    {LT_CALL_NAMED(faccessat), LT_TO_RECORD, {(uint64_t)AT_FDCWD}},
    {LT_CALL_NAMED(fallocate), LT_TO_RECORD, {1000}},
    {LT_CALL_NAMED(flock), LT_FOR_IMAGES, {1000, LOCK_EX}},
    {LT_CALL_NAMED(fstat), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
    {LT_CALL_NAMED(ftruncate), LT_TO_RECORD, {1000}},
    {LT_CALL_NAMED(futex), LT_TO_RECORD | LT_FOR_IMAGES, {0, FUTEX_WAIT}},
    {LT_CALL_NAMED(futex), LT_TO_RECORD | LT_FOR_IMAGES, {0, FUTEX_WAKE}},
    {LT_CALL_NAMED(getcwd), LT_TO_BEGIN, {0}},
    {LT_CALL_NAMED(getsockopt), LT_TO_STOP_THREADS, {1000, SOL_SOCKET, SO_RCVTIMEO}},
    {LT_CALL_NAMED(getdents64), LT_FOR_IMAGES, {1000}},
    {LT_CALL_NAMED(getpid), LT_TO_RECORD, {0}},
    {LT_CALL_NAMED(getppid), LT_FOR_IMAGES | LT_TO_BEGIN, {0}},
    {LT_CALL_NAMED(getrandom), LT_TO_BEGIN, {0, 8, 1}},
    {LT_CALL_NAMED(getrusage), LT_TO_RECORD, {RUSAGE_SELF}},
    {LT_CALL_NAMED(gettid), LT_TO_RECORD | LT_FOR_IMAGES, {0}},
    {LT_CALL_NAMED(ioctl), LT_FOR_IMAGES, {1000, LT_PAGEMAP_SCAN}},
    {LT_CALL_NAMED(madvise), LT_TO_RECORD, {0, 4096, 18}},
    {LT_CALL_NAMED(madvise), LT_TO_RECORD, {0, 4096, MADV_DONTFORK}},
    {LT_CALL_NAMED(madvise), LT_TO_RECORD, {0, 4096, 23}},
    {LT_CALL_NAMED(madvise), LT_FOR_IMAGES, {0, 4096, MADV_DOFORK}},
    // Made only in a thread without filters, so no filter can forbid it.
    {LT_CALL_NAMED(membarrier), 0, {8}},
    {LT_CALL_NAMED(membarrier), 0, {16}},
    {LT_CALL_NAMED(mincore), LT_FOR_IMAGES, {0}},
    {LT_CALL_NAMED(mmap),
     LT_TO_RECORD | LT_FOR_IMAGES,
     {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull}},
    {LT_CALL_NAMED(mmap), LT_TO_RECORD, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 1000}},
    {LT_CALL_NAMED(mmap),
     LT_FOR_IMAGES,
     {4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, ~0ull}},
    {LT_CALL_NAMED(mprotect), LT_TO_RECORD, {0, 4096, PROT_READ}},
    {LT_CALL_NAMED(mremap), LT_TO_RECORD, {0, 4096, 4096, MREMAP_MAYMOVE}},
    {LT_CALL_NAMED(munlock), LT_TO_RECORD, {0, 4096}},
    {LT_CALL_NAMED(munmap), LT_TO_RECORD | LT_FOR_IMAGES, {0, 4096}},
    {LT_CALL_NAMED(newfstatat), LT_TO_RECORD | LT_FOR_IMAGES, {(uint64_t)AT_FDCWD}},
    {LT_CALL_NAMED(openat), LT_TO_RECORD, {(uint64_t)AT_FDCWD, 0, O_RDWR | O_NOFOLLOW | O_CLOEXEC}},
    {LT_CALL_NAMED(openat), LT_TO_RECORD | LT_FOR_IMAGES, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {LT_CALL_NAMED(openat),
     LT_FOR_PROFILES,
     {(uint64_t)AT_FDCWD, 0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC}},
    {LT_CALL_NAMED(pidfd_getfd), LT_TO_STOP_THREADS, {1000, 1000, 0}},
    {LT_CALL_NAMED(pidfd_open), LT_TO_STOP_THREADS, {1000, 0}},
    {LT_CALL_NAMED(prctl), LT_FOR_PROFILES, {PR_SET_PDEATHSIG}},
    {LT_CALL_NAMED(prctl), LT_TO_RECORD, {PR_SET_NAME}},
    {LT_CALL_NAMED(prctl), LT_FOR_IMAGES, {PR_SET_DUMPABLE}},
    {LT_CALL_NAMED(pread64), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
    {LT_CALL_NAMED(prlimit64), LT_TO_RECORD | LT_FOR_IMAGES, {0, RLIMIT_FSIZE}},
    {LT_CALL_NAMED(ptrace), LT_TO_STOP_THREADS, {PTRACE_SEIZE}},
    {LT_CALL_NAMED(pwrite64), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
    {LT_CALL_NAMED(read), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
#ifdef SYS_readlink
    {LT_CALL_NAMED(readlink), LT_TO_RECORD | LT_FOR_IMAGES, {0}},
#else
    {LT_CALL_NAMED(readlinkat), LT_TO_RECORD | LT_FOR_IMAGES, {(uint64_t)AT_FDCWD}},
#endif
    {LT_CALL_NAMED(renameat), LT_FOR_PROFILES, {(uint64_t)AT_FDCWD, 0, (uint64_t)AT_FDCWD}},
    {LT_CALL_NAMED(rt_sigaction), LT_TO_RECORD, {SIGTERM}},
    {LT_CALL_NAMED(rt_sigaction), LT_FOR_IMAGES, {SIGSEGV}},
    {LT_CALL_NAMED(rt_sigpending), LT_TO_RECORD, {0, 8}},
    {LT_CALL_NAMED(rt_sigprocmask), LT_TO_RECORD | LT_FOR_IMAGES, {SIG_SETMASK}},
    {LT_CALL_NAMED(rt_sigreturn), LT_FOR_IMAGES, {0}},
    {LT_CALL_NAMED(rt_sigtimedwait), LT_TO_RECORD, {0}},
    {LT_CALL_NAMED(sched_getaffinity), LT_TO_STOP_THREADS, {0}},
    {LT_CALL_NAMED(sched_setaffinity), LT_TO_STOP_THREADS, {0}},
    {LT_CALL_NAMED(sched_yield), LT_TO_RECORD, {0}},
    {LT_CALL_NAMED(tgkill), LT_TO_RECORD, {0}},
    {LT_CALL_NAMED(truncate), LT_TO_RECORD, {0}},
#ifdef SYS_unlink
    {LT_CALL_NAMED(unlink), LT_TO_RECORD, {0}},
#else
    {LT_CALL_NAMED(unlinkat), LT_TO_RECORD, {(uint64_t)AT_FDCWD}},
#endif
    {LT_CALL_NAMED(unshare), LT_FOR_IMAGES, {CLONE_FILES}},
    {LT_CALL_NAMED(wait4), LT_FOR_IMAGES | LT_TO_STOP_THREADS, {0, 0, __WALL}},
    {LT_CALL_NAMED(write), LT_TO_RECORD | LT_FOR_IMAGES, {1000}},
#ifdef SYS_arch_prctl
    {LT_CALL_NAMED(arch_prctl), LT_TO_JOIN, {LT_GET_CPUID}},
#endif
    {LT_CALL_NAMED(brk), LT_TO_JOIN, {0}},
    {LT_CALL_NAMED(fstat), LT_TO_JOIN, {1000}},
    {LT_CALL_NAMED(getcwd), LT_TO_JOIN, {0}},
    {LT_CALL_NAMED(mmap), LT_TO_JOIN, {0, 4096, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE, 1000}},
    {LT_CALL_NAMED(mmap),
     LT_TO_JOIN,
     {4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE, 1000}},
    {LT_CALL_NAMED(mmap),
     LT_TO_JOIN,
     {4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE, 1000}},
    {LT_CALL_NAMED(mmap),
     LT_TO_JOIN,
     {4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, ~0ull}},
    {LT_CALL_NAMED(mprotect), LT_TO_JOIN, {0, 4096, PROT_NONE}},
    {LT_CALL_NAMED(mprotect), LT_TO_JOIN, {0, 4096, PROT_READ | PROT_WRITE}},
    {LT_CALL_NAMED(prctl), LT_TO_JOIN, {PR_GET_TSC}},
    {LT_CALL_NAMED(rt_sigreturn), LT_TO_JOIN, {0}},
};

/// Returns the purposes that a filter does not allow, for calls that are made at the address `code`. If a filter
/// answers a call with an error, only recording, beginning and joining count as forbidden. For other purposes, the
/// recorder can do without the call. `first`, unless it is NULL, gets the first call that prevents a purpose.
static inline int lt_purposes_forbidden_by(const struct sock_filter *program, unsigned count, uint32_t architecture,
                                           uint64_t code, const struct lt_recorder_call **first) {
  const int indispensable = LT_TO_RECORD | LT_TO_BEGIN | LT_TO_JOIN;
  int forbidden = 0;
  for (size_t i = 0; i < sizeof lt_recorder_calls / sizeof *lt_recorder_calls; i++) {
    const struct lt_recorder_call *need = &lt_recorder_calls[i];
    struct seccomp_data call = {.nr = need->number, .arch = architecture, .instruction_pointer = code};
    memcpy(call.args, need->arguments, sizeof call.args);
    uint32_t action = lt_filter_run(program, count, &call) & SECCOMP_RET_ACTION_FULL;
    if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG) continue;
    bool isError = action == SECCOMP_RET_ERRNO || action == SECCOMP_RET_TRACE;
    int its = isError ? need->purposes & indispensable : need->purposes;
    if (its && !forbidden && first) *first = need;
    forbidden |= its;
  }
  return forbidden;
}

#endif
