// Situations of programs that confine themselves by filters of system calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITUATIONS_UNREPORTED // a confined process may not open files
#include "situations.h"

#ifdef __aarch64__
enum { OWN_PROCESSOR = AUDIT_ARCH_AARCH64, CALL_ACCESS = SYS_faccessat, CALL_OF_LOADER = SYS_faccessat };
#else
enum { OWN_PROCESSOR = AUDIT_ARCH_X86_64, CALL_ACCESS = SYS_access, CALL_OF_LOADER = SYS_arch_prctl };
#endif

/// The calls that the program itself makes from here on: the C library's for memory, output, threads and the end.
static const int own[] = {
    SYS_read,     SYS_write,          SYS_close,        SYS_fstat,       SYS_newfstatat, SYS_mmap,
    SYS_mprotect, SYS_munmap,         SYS_brk,          SYS_mremap,      SYS_madvise,    SYS_futex,
    SYS_exit,     SYS_exit_group,     SYS_rt_sigreturn, SYS_clone,       SYS_clone3,     SYS_set_robust_list,
    SYS_rseq,     SYS_rt_sigprocmask, SYS_wait4,        SYS_sched_yield,
};

static struct sock_filter code[256];
/// Allows the program's own calls and `more`, ended by −1; `otherwise` is what becomes of all others.
static struct sock_fprog allow_list(uint32_t otherwise, const int *more) {
  unsigned n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_PROCESSOR, 1, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)own[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  for (; more && *more >= 0; more++) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*more, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
  return (struct sock_fprog){(unsigned short)n, code};
}

/// Allows all calls but one.
static struct sock_fprog deny(int number, uint32_t action) {
  code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
  code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  code[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return (struct sock_fprog){4, code};
}

static void confine(struct sock_fprog program) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

static void say(const char *text) { MUST(write(1, text, strlen(text)) > 0); }

static int work(void) {
  allocate(200000);
  void *kept[300];
  for (int i = 0; i < 300; i++) kept[i] = malloc(5000);
  for (int i = 0; i < 300; i++) free(kept[i]);
  say("worked\n");
  return 0;
}

SITUATION(filter_kills, "an allow-list ends the process for any other call; it returns from main") {
  allocate(100);
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, NULL));
  return work();
}
SITUATION(filter_kills_exit, "an allow-list ends the process for any other call; it ends by _exit") {
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, NULL));
  work();
  _exit(5);
}
static void on_call(int number, siginfo_t *information, void *context) {
  (void)number, (void)information, (void)context;
  say("a call that is not the program's\n");
  _exit(7);
}
SITUATION(filter_traps, "an allow-list sends SIGSYS for any other call") {
  struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
  MUST(sigaction(SIGSYS, &action, NULL) == 0);
  confine(allow_list(SECCOMP_RET_TRAP, NULL));
  return work();
}
SITUATION(filter_errors, "an allow-list fails any other call with EPERM") {
  confine(allow_list(SECCOMP_RET_ERRNO | EPERM, NULL));
  return work();
}
SITUATION(filter_by_system_call, "an allow-list is set by the system call seccomp, for all threads") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  struct sock_fprog program = allow_list(SECCOMP_RET_KILL_PROCESS, NULL);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
  return work();
}
static void *work_in_thread(void *unused) {
  allocate(100000);
  return unused;
}
SITUATION(filter_then_threads, "a confined process starts threads, which allocate") {
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, NULL));
  for (int round = 0; round < 5; round++) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) MUST(pthread_create(&threads[i], NULL, work_in_thread, NULL) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  }
  return work();
}
static volatile int stop;
static void *work_until_stopped(void *unused) {
  while (!stop) allocate(100);
  return unused;
}
SITUATION(filter_over_threads, "a filter is set for all threads while these allocate") {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) MUST(pthread_create(&threads[i], NULL, work_until_stopped, NULL) == 0);
  usleep(20000);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  struct sock_fprog program = allow_list(SECCOMP_RET_KILL_PROCESS, NULL);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
  work();
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
static void *confine_itself(void *unused) {
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, NULL));
  allocate(100000);
  return unused;
}
SITUATION(filter_on_one_thread, "one thread confines itself, the others go on") {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, confine_itself, NULL) == 0);
  pthread_join(thread, NULL);
  return work();
}
SITUATION(filter_twice, "two filters are set, one after the other") {
  static const int more[] = {SYS_prctl, -1};
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, more));
  allocate(100);
  struct sock_fprog program = allow_list(SECCOMP_RET_KILL_PROCESS, NULL);
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
  return work();
}
SITUATION(filter_then_fork, "a confined process has children") {
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, NULL));
  for (int i = 0; i < 5; i++) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      allocate(1000);
      syscall(SYS_exit_group, 3);
    }
    int status = 0;
    MUST(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
  }
  return work();
}
SITUATION(filter_then_exec, "a confined process is replaced by a program") {
  static const int more[] = {SYS_execve,  CALL_ACCESS,   SYS_openat,    CALL_OF_LOADER, SYS_set_tid_address,
                             SYS_pread64, SYS_prlimit64, SYS_getrandom, SYS_lseek,      SYS_fadvise64,
                             -1};
  confine(allow_list(SECCOMP_RET_KILL_PROCESS, more));
  execl("/bin/echo", "echo", "after the filter", NULL);
  return 9;
}
SITUATION(filter_in_child, "a child confines itself before it runs a program, as sandboxes do") {
  static const int more[] = {SYS_execve,  CALL_ACCESS,   SYS_openat,    CALL_OF_LOADER, SYS_set_tid_address,
                             SYS_pread64, SYS_prlimit64, SYS_getrandom, SYS_lseek,      SYS_fadvise64,
                             -1};
  pid_t child = fork();
  if (child == 0) {
    allocate(10);
    confine(allow_list(SECCOMP_RET_KILL_PROCESS, more));
    execl("/bin/echo", "echo", "in the sandbox", NULL);
    _exit(9);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  dprintf(1, "%x\n", (unsigned)status);
  return work();
}
SITUATION(filter_refused, "a filter is refused, and the process goes on") {
  struct sock_fprog none = {1, NULL};
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none, 0, 0) == -1);
  struct sock_fprog wild = {64, (struct sock_filter *)8};
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &wild, 0, 0) == -1);
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (void *)16) == -1 && errno == EFAULT);
  return work();
}
SITUATION(strict_mode, "the strict mode leaves four calls") {
  char *block = malloc(1000);
  allocate(100);
  MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
  block[0] = 'x';
  allocate(1000);
  free(block);
  say("worked\n");
  syscall(SYS_exit, 6);
  return 9;
}
static volatile char dispatchSwitch; // SYSCALL_DISPATCH_FILTER_ALLOW
static volatile int dispatchedCalls;
static void count_dispatched(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  dispatchedCalls++;
}
static int find_code(struct dl_phdr_info *info, size_t size, void *range) {
  (void)size;
  if (!strstr(info->dlpi_name, "libc.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    ((uintptr_t *)range)[0] = info->dlpi_addr + segment->p_vaddr;
    ((uintptr_t *)range)[1] = segment->p_memsz;
  }
  return 1;
}
SITUATION(calls_dispatched, "the kernel hands the program all calls of a thread but the C library's") {
  enum { SET_DISPATCH = 59, OFF = 0, ON = 1 };
  struct sigaction action = {.sa_sigaction = count_dispatched, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  uintptr_t code[2] = {0};
  MUST(dl_iterate_phdr(find_code, code) == 1 && code[0]);
  allocate(1000);
  MUST(prctl(SET_DISPATCH, ON, code[0], code[1], &dispatchSwitch) == 0);
  dispatchSwitch = 1;
  int status = work();
  dispatchSwitch = 0;
  MUST(prctl(SET_DISPATCH, OFF, 0, 0, 0) == 0);
  dprintf(1, "dispatched %d\n", dispatchedCalls);
  return status;
}
SITUATION(filter_denies_tracing, "a filter ends whoever traces; images are taken while threads run") {
  pthread_t threads[2];
  confine(deny(SYS_ptrace, SECCOMP_RET_KILL_PROCESS));
  for (int i = 0; i < 2; i++) MUST(pthread_create(&threads[i], NULL, work_until_stopped, NULL) == 0);
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  if (snapshot) MUST(snapshot("confined") > 0);
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return work();
}
SITUATION(filter_denies_waiting, "a filter ends the process for a call that heap images alone need") {
  confine(deny(SYS_mincore, SECCOMP_RET_KILL_PROCESS));
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  if (snapshot) snapshot("confined");
  return work();
}
SITUATION(filter_denies_nothing_needed, "a filter refuses calls that nobody here makes") {
  confine(deny(SYS_reboot, SECCOMP_RET_KILL_PROCESS));
  return work();
}
SITUATION(privileges_dropped, "the process gives up all its rights") {
  allocate(100);
  MUST(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
  return work();
}
