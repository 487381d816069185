// Makes a program wait when main has returned or when it calls exit, so that it can be inspected there.
//
// This library is preloaded. HELD_PROGRAM is the program's first argument, since the recorder's command must not wait.
// HELD_END is the path of a file that does not exist yet. The waiting program creates the file and writes its process
// ID to it. It continues when the file is removed. The library allocates nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char path[PATH_MAX];
static pid_t owner; ///< the process that waits; its children do not
static int (*realMain)(int, char **, char **);

static void wait_there(void) {
  if (!path[0] || getpid() != owner) return;
  // Static, since local arrays would keep stale words of main on the stack.
  static char unfinished[PATH_MAX + 8], text[16];
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  int length = snprintf(text, sizeof text, "%d", owner), file = open(unfinished, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text, (size_t)length) != length || close(file) || rename(unfinished, path)) abort();
  struct timespec pause = {.tv_nsec = 10000000};
  while (access(path, F_OK) == 0) nanosleep(&pause, NULL);
  path[0] = 0;
}

static int held_main(int count, char **arguments, char **environment) {
  int status = realMain(count, arguments, environment);
  wait_there();
  return status;
}

int __libc_start_main(int (*program)(int, char **, char **), int count, char **arguments, void (*begin)(void),
                      void (*end)(void), void (*loader)(void), void *stack) {
  const char *given = getenv("HELD_END"), *name = getenv("HELD_PROGRAM");
  if (given && strlen(given) < sizeof path && name && strcmp(name, arguments[0]) == 0) {
    strcpy(path, given);
    owner = getpid();
    // Programs that this process starts must not wait.
    unsetenv("HELD_END");
  }
  realMain = program;
  __typeof__(&__libc_start_main) next = (__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");
  return next(held_main, count, arguments, begin, end, loader, stack);
}

_Noreturn void exit(int status) {
  wait_there();
  void (*next)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
  next(status);
  __builtin_unreachable();
}
