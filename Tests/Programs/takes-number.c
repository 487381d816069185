// Starts a process of a number that is free, which says `ready PROCESS` and waits. Usage: takes-number NUMBER

#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 2) return 64;
  pid_t wanted = atoi(arguments[1]);
  struct clone_args arguments3 = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};
  pid_t child = (pid_t)syscall(SYS_clone3, &arguments3, sizeof arguments3);
  if (child < 0) {
    fprintf(stderr, "number %d: %s\n", wanted, strerror(errno));
    return 1;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    printf("ready %d\n", (int)syscall(SYS_getpid));
    fflush(stdout);
    for (;;) pause();
  }
  waitpid(child, NULL, 0);
  return 0;
}
