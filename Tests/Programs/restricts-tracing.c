// A library to preload: the program sees a kernel that lets only parents trace a process (Yama's ptrace_scope 1), and
// is not root. Appends the program's permissions for tracers to the file that TRACERS names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

uid_t geteuid(void) { return 1000; }

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (strcmp(path, "/proc/sys/kernel/yama/ptrace_scope") != 0) {
    int (*original)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return original(path, flags, mode);
  }
  int file = memfd_create("ptrace_scope", MFD_CLOEXEC);
  if (file >= 0 && (write(file, "1\n", 2) != 2 || lseek(file, 0, SEEK_SET) != 0)) abort();
  return file;
}

int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long), c = va_arg(list, unsigned long),
                d = va_arg(list, unsigned long);
  va_end(list);
  if (option != PR_SET_PTRACER) {
    int (*original)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
    return original(option, a, b, c, d);
  }
  FILE *log = fopen(getenv("TRACERS"), "a");
  if (!log) abort();
  fprintf(log, "%s\n", (pid_t)a == getpid() ? "descendants" : a == 0 ? "nobody" : "others");
  fclose(log);
  return 0;
}
