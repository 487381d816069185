// Allocates, says `ready PROCESS`, and waits. For another C library than glibc.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  char *block = malloc(100);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  for (;;) pause();
  free(block);
}
