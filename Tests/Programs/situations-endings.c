// All the ways a process can end.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "situations.h"

SITUATION(ends_by_exit, "the process ends by exit") { allocate(100), exit(11); }
SITUATION(ends_by_underscore, "the process ends by _exit") { allocate(100), _exit(12); }
SITUATION(ends_by_quick_exit, "the process ends by quick_exit") { allocate(100), quick_exit(13); }
SITUATION(ends_by_system_call, "the process ends by the bare system call") {
  return allocate(100), (int)syscall(SYS_exit_group, 14);
}
SITUATION(ends_by_abort, "the process aborts") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  allocate(100), abort();
}
SITUATION(ends_by_null, "the process reads address 0") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  allocate(100);
  return *(volatile int *)(size_t)(getpid() == 0);
}
static int end_by(int number) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  allocate(100);
  raise(number);
  return 0;
}
SITUATION(ends_by_sigterm, "SIGTERM ends the process") { return end_by(SIGTERM); }
SITUATION(ends_by_sigint, "SIGINT ends the process") { return end_by(SIGINT); }
SITUATION(ends_by_sighup, "SIGHUP ends the process") { return end_by(SIGHUP); }
SITUATION(ends_by_sigkill, "SIGKILL ends the process") { return end_by(SIGKILL); }
SITUATION(ends_by_sigusr1, "SIGUSR1 ends the process") { return end_by(SIGUSR1); }
SITUATION(ends_by_real_time_signal, "a real-time signal ends the process") { return end_by(SIGRTMIN + 5); }

static void *end_here(void *unused) {
  (void)unused;
  allocate(10);
  exit(15);
}
SITUATION(ends_in_thread, "a thread ends the process while the first waits for it") {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, end_here, NULL) == 0);
  pthread_join(thread, NULL);
  return 9;
}

static void *outlive(void *unused) {
  (void)unused;
  allocate(1000);
  exit(16);
}
SITUATION(first_thread_ends, "the first thread ends before the others") {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, outlive, NULL) == 0);
  pthread_exit(NULL);
}

static void at_end(void) {
  allocate(100);
  dprintf(1, "at the end\n");
}
SITUATION(exit_handlers, "40 handlers run at the end") {
  for (int i = 0; i < 40; i++) MUST(atexit(at_end) == 0);
  return 3;
}
