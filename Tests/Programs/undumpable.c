// Keeps other processes of its user from looking at it, says `ready PROCESS`, and waits.

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
  void *block = malloc(100);
  prctl(PR_SET_DUMPABLE, 0);
  printf("ready %d\n", getpid());
  fflush(stdout);
  for (;;) pause();
  free(block);
}
