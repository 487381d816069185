// Waits for a child of its own where no signal reaches it, for some seconds, and then for ever. Usage: waits-in-vfork
// SECONDS
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  char *volatile block = malloc(10); // so that the allocator has books
  struct timespec time = {.tv_sec = atoi(argv[1])};
  pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    nanosleep(&time, NULL);
    _exit(block == NULL);
  }
  for (;;) pause();
}
