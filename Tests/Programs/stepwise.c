// Three times: allocates and frees 100 blocks of 1000 bytes and the step's number, writes its process ID to PATH.STEP,
// and waits for SIGUSR1. Usage: stepwise PATH
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int step = 1; step <= 3; step++) {
    for (int i = 0; i < 100; i++) {
      void *volatile block = malloc(1000 + (size_t)step);
      free(block);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argv[1], step);
    FILE *file = fopen(path, "w");
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    int number;
    sigwait(&set, &number);
  }
  return 0;
}
