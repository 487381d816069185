// Does not let itself be traced, and takes a snapshot of itself while it has threads.
// Usage: snapshot-refused error | kill | no-dumps
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *idle(void *unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  pthread_t thread;
  for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, idle, NULL);
  if (strcmp(argv[1], "no-dumps") == 0) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  } else {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, argv[1][0] == 'k' ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return 3;
  }
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  if (snapshot && snapshot("refused") <= 0) return 4;
  puts("still there");
  return 0;
}
