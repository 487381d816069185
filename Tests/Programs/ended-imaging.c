// Writes one heap image after the other. As soon as the Nth is written, a child process sends SIGTERM, so that the
// signal interrupts the next image somewhere.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int (*written)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot_written");
  int ends[2], count = argc > 1 ? atoi(argv[1]) : 1;
  if (!written || pipe(ends) != 0) return 1;
  if (fork() == 0) {
    char byte;
    for (int i = 0; i < count; i++)
      if (read(ends[0], &byte, 1) != 1) _exit(1);
    kill(getppid(), SIGTERM);
    _exit(0);
  }
  for (;;)
    if (written("again") <= 0 || write(ends[1], "x", 1) != 1) return 2;
}
