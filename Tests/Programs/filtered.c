// Confines itself by a filter of system calls, says `ready PROCESS`, and works until it is ended. Usage: filtered KIND
//   container  an allow-list as a container's runtime has it (moby's default profile); other calls fail
//   kills      flock ends the process, which only images of a recording need
//   fails      flock fails
//   no-files   openat fails, which recording needs
//   thread     one thread has a filter that ends the process for clone; the others have none, and compute
//   strict     one thread may do no more than read, write and end
//   place      the filter checks the address of each call

#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Without those that take a capability; clone and clone3 have rules of their own.
static const int ofContainers[] = {
    SYS_accept,
    SYS_accept4,
    SYS_access,
    SYS_alarm,
    SYS_arch_prctl,
    SYS_bind,
    SYS_brk,
    SYS_capget,
    SYS_capset,
    SYS_chdir,
    SYS_chmod,
    SYS_chown,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_close_range,
    SYS_connect,
    SYS_copy_file_range,
    SYS_creat,
    SYS_dup,
    SYS_dup2,
    SYS_dup3,
    SYS_epoll_create,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_eventfd2,
    SYS_execve,
    SYS_execveat,
    SYS_exit,
    SYS_exit_group,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_fchdir,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_fcntl,
    SYS_fdatasync,
    SYS_fgetxattr,
    SYS_flistxattr,
    SYS_flock,
    SYS_fork,
    SYS_fremovexattr,
    SYS_fsetxattr,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fsync,
    SYS_ftruncate,
    SYS_futex,
    SYS_futimesat,
    SYS_getcpu,
    SYS_getcwd,
    SYS_getdents,
    SYS_getdents64,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getitimer,
    SYS_getpeername,
    SYS_getpgid,
    SYS_getpgrp,
    SYS_getpid,
    SYS_getppid,
    SYS_getpriority,
    SYS_getrandom,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getrlimit,
    SYS_get_robust_list,
    SYS_getrusage,
    SYS_getsid,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_get_thread_area,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_getxattr,
    SYS_inotify_add_watch,
    SYS_inotify_init,
    SYS_inotify_init1,
    SYS_inotify_rm_watch,
    SYS_io_cancel,
    SYS_ioctl,
    SYS_io_destroy,
    SYS_io_getevents,
    SYS_io_pgetevents,
    SYS_ioprio_get,
    SYS_ioprio_set,
    SYS_io_setup,
    SYS_io_submit,
    SYS_kill,
    SYS_lchown,
    SYS_link,
    SYS_linkat,
    SYS_listen,
    SYS_listxattr,
    SYS_lseek,
    SYS_lstat,
    SYS_madvise,
    SYS_membarrier,
    SYS_memfd_create,
    SYS_mincore,
    SYS_mkdir,
    SYS_mkdirat,
    SYS_mknod,
    SYS_mknodat,
    SYS_mlock,
    SYS_mlock2,
    SYS_mlockall,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_msync,
    SYS_munlock,
    SYS_munlockall,
    SYS_munmap,
    SYS_nanosleep,
    SYS_newfstatat,
    SYS_open,
    SYS_openat,
    SYS_openat2,
    SYS_pause,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_pipe,
    SYS_pipe2,
    SYS_poll,
    SYS_ppoll,
    SYS_prctl,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_prlimit64,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pselect6,
    SYS_ptrace,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_read,
    SYS_readahead,
    SYS_readlink,
    SYS_readlinkat,
    SYS_readv,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_recvmsg,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    SYS_restart_syscall,
    SYS_rmdir,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigqueueinfo,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_rt_tgsigqueueinfo,
    SYS_sched_getaffinity,
    SYS_sched_getattr,
    SYS_sched_getparam,
    SYS_sched_get_priority_max,
    SYS_sched_getscheduler,
    SYS_sched_setaffinity,
    SYS_sched_setattr,
    SYS_sched_yield,
    SYS_seccomp,
    SYS_select,
    SYS_semctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_sendfile,
    SYS_sendmmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_setfsgid,
    SYS_setfsuid,
    SYS_setgid,
    SYS_setgroups,
    SYS_setitimer,
    SYS_setpgid,
    SYS_setpriority,
    SYS_set_robust_list,
    SYS_setsid,
    SYS_setsockopt,
    SYS_set_tid_address,
    SYS_setuid,
    SYS_shutdown,
    SYS_sigaltstack,
    SYS_signalfd4,
    SYS_socketpair,
    SYS_splice,
    SYS_stat,
    SYS_statfs,
    SYS_statx,
    SYS_symlink,
    SYS_symlinkat,
    SYS_sync,
    SYS_sysinfo,
    SYS_tee,
    SYS_tgkill,
    SYS_time,
    SYS_timer_create,
    SYS_timer_delete,
    SYS_timer_settime,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_times,
    SYS_tkill,
    SYS_truncate,
    SYS_umask,
    SYS_uname,
    SYS_unlink,
    SYS_unlinkat,
    SYS_utimensat,
    SYS_vfork,
    SYS_wait4,
    SYS_waitid,
    SYS_write,
    SYS_writev,
};

enum { NAMESPACES = 0x7E020000, MOST_STEPS = 1024, ARGUMENT = offsetof(struct seccomp_data, args) };
static struct sock_filter steps[MOST_STEPS];

static void add(unsigned short *count, struct sock_filter step) { steps[(*count)++] = step; }

static void load(unsigned short *count, unsigned place) {
  add(count, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place));
}
static void answer(unsigned short *count, uint32_t action) {
  add(count, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}
/// Applies the next instruction to this number alone.
static void on(unsigned short *count, int number) {
  add(count, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1));
}

static struct sock_fprog as_container(void) {
  unsigned short count = 0;
  load(&count, offsetof(struct seccomp_data, arch));
  add(&count, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  answer(&count, SECCOMP_RET_ERRNO | EPERM);
  load(&count, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof ofContainers / sizeof *ofContainers; i++) {
    on(&count, ofContainers[i]);
    answer(&count, SECCOMP_RET_ALLOW);
  }
  on(&count, SYS_clone3);
  answer(&count, SECCOMP_RET_ERRNO | ENOSYS);
  add(&count, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
  load(&count, ARGUMENT);
  add(&count, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 1, 0));
  answer(&count, SECCOMP_RET_ALLOW);
  answer(&count, SECCOMP_RET_ERRNO | EPERM);
  return (struct sock_fprog){count, steps};
}

static struct sock_fprog but(int number, uint32_t action) {
  unsigned short count = 0;
  load(&count, offsetof(struct seccomp_data, nr));
  on(&count, number);
  answer(&count, action);
  answer(&count, SECCOMP_RET_ALLOW);
  return (struct sock_fprog){count, steps};
}

static struct sock_fprog by_place(void) {
  unsigned short count = 0;
  load(&count, offsetof(struct seccomp_data, instruction_pointer));
  answer(&count, SECCOMP_RET_ALLOW);
  return (struct sock_fprog){count, steps};
}

static void confine(struct sock_fprog program) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
    exit(3);
}

static _Atomic int isConfined;
static int ends[2];

static void *wait_confined(void *kind) {
  char byte;
  if (strcmp(kind, "strict") == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) exit(3);
  } else {
    confine(but(SYS_clone, SECCOMP_RET_KILL_PROCESS));
  }
  isConfined = 1;
  while (read(ends[0], &byte, 1) == 1) {}
  return NULL;
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  const char *kind = arguments[1];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int isOneThread = strcmp(kind, "thread") == 0 || strcmp(kind, "strict") == 0;
  if (isOneThread) {
    pthread_t thread;
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, wait_confined, arguments[1]) != 0) return 3;
    while (!isConfined) usleep(1000);
  } else if (strcmp(kind, "container") == 0) {
    confine(as_container());
  } else if (strcmp(kind, "kills") == 0) {
    confine(but(SYS_flock, SECCOMP_RET_KILL_PROCESS));
  } else if (strcmp(kind, "fails") == 0) {
    confine(but(SYS_flock, SECCOMP_RET_ERRNO | EPERM));
  } else if (strcmp(kind, "no-files") == 0) {
    confine(but(SYS_openat, SECCOMP_RET_ERRNO | EACCES));
  } else if (strcmp(kind, "place") == 0) {
    confine(by_place());
  } else {
    return 64;
  }
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  for (unsigned i = 0;; i++) {
    free(malloc(16 + i % 1000));
    if (isOneThread) sched_yield();
    else usleep(1000);
  }
}
