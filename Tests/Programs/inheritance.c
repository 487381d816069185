// Prints the state that a program inherits: ignored and blocked signals, environment, inherited descriptors, group,
// limits, niceness.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
  for (int i = 0; i < argc; i++) printf("argument %s\n", argv[i]);
  for (char **entry = environ; *entry != NULL; entry++) printf("variable %s\n", *entry);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int i = 1; i < 65; i++) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL) {
      printf("signal %d is %s\n", i, action.sa_handler == SIG_IGN ? "ignored" : "handled");
    }
    if (sigismember(&mask, i) == 1) printf("signal %d is blocked\n", i);
  }
  for (int i = 0; i < 1024; i++) {
    int flags = fcntl(i, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) printf("descriptor %d is open\n", i);
  }
  printf("group of its own: %d, session of its own: %d\n", getpgrp() == getpid(), getsid(0) == getpid());
  for (int i = 0; i < RLIM_NLIMITS; i++) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
      printf("limit %d: %lu %lu\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
  }
  printf("niceness %d, umask %o\n", getpriority(PRIO_PROCESS, 0), (unsigned)umask(0));
  printf("locale %s\n", getenv("LANG") ? getenv("LANG") : "none");
  return 0;
}
