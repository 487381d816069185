// PID namespaces and others that a process enters, or makes for its children.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "situations.h"

SITUATION(pid_namespace, "the program's next child begins a PID namespace, and an image is asked for before") {
  if (unshare(CLONE_NEWPID) != 0) return puts("not allowed"), 0;
  snapshot();
  pid_t child = fork();
  MUST(child >= 0);
  if (child == 0) {
    allocate(100);
    int number = getpid();
    pid_t second = fork();
    if (second == 0) _exit(7);
    int status;
    MUST(waitpid(second, &status, 0) == second);
    _exit(number * 10 + WEXITSTATUS(status));
  }
  await("first of the namespace", child);
  return 0;
}

SITUATION(pid_namespace_alive, "images are taken while a PID namespace for children has processes") {
  if (unshare(CLONE_NEWPID) != 0) return puts("not allowed"), 0;
  int ends[2];
  MUST(pipe(ends) == 0);
  pid_t first = fork();
  if (first == 0) {
    char c;
    close(ends[1]);
    _exit(read(ends[0], &c, 1) == 0 ? 4 : 5);
  }
  for (int i = 0; i < 3; i++) snapshot();
  pid_t second = fork();
  if (second == 0) _exit(6);
  await("second", second);
  close(ends[1]);
  await("first", first);
  return 0;
}

SITUATION(pid_namespace_threads, "a process with threads enters a PID namespace with its children") {
  volatile int stop = 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) MUST(pthread_create(&threads[i], NULL, churn, (void *)&stop) == 0);
  if (unshare(CLONE_NEWPID) != 0) return puts("not allowed"), 0;
  snapshot();
  pid_t child = fork();
  if (child == 0) _exit(getpid());
  await("first of the namespace", child);
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}

/// Runs `run` as the first process of a PID namespace, by the bare system call.
static void in_new_namespace(void (*run)(void)) {
  long child = syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0);
  if (child < 0) {
    puts("not allowed");
    return;
  }
  if (child == 0) {
    run();
    _exit(getpid());
  }
  await("child", (pid_t)child);
}
static void allocate_as_first(void) { allocate(500); }
static void nest_as_first(void) {
  allocate(500);
  in_new_namespace(allocate_as_first);
  allocate(500);
}
SITUATION(raw_clone_namespace,
          "a child made by the bare system call is the first process of its PID namespace, as its parent is") {
  allocate(100);
  in_new_namespace(nest_as_first);
  return 0;
}

static char **ownArguments;
__attribute__((constructor)) static void keep(int count, char **arguments) {
  (void)count;
  ownArguments = arguments;
}
SITUATION(first_process, "the first process of a PID namespace is replaced by a program that makes such a process") {
  if (getpid() == 1) {
    allocate(500);
    in_new_namespace(nest_as_first);
    return 0;
  }
  if (unshare(CLONE_NEWPID) != 0) return puts("not allowed"), 0;
  pid_t child = fork();
  if (child == 0) {
    execv("/proc/self/exe", ownArguments);
    _exit(9);
  }
  await("first", child);
  return 0;
}

SITUATION(unshare_files, "the process gets a descriptor table and a mount namespace of its own") {
  allocate(100);
  printf("%d\n", unshare(CLONE_FILES | CLONE_FS));
  allocate(100);
  snapshot();
  return 0;
}

SITUATION(user_namespace, "the process enters a user namespace of its own") {
  allocate(100);
  int result = unshare(CLONE_NEWUSER);
  printf("%d %d\n", result, result ? errno : 0);
  allocate(1000);
  snapshot();
  return 0;
}
