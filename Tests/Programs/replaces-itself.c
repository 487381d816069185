// At each signal, tries to become /bin/sleep: with more arguments than the kernel takes as long as there are ATTEMPTS,
// and then so that it succeeds. Allocates a block of 300 bytes after each attempt that failed.
// Usage: replaces-itself ATTEMPTS
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  size_t size = 64 << 20;
  char *tooLong = malloc(size);
  memset(tooLong, 'x', size - 1);
  tooLong[size - 1] = 0;
  printf("ready %d\n", getpid());
  fflush(stdout);
  int number;
  for (int i = atoi(argv[1]); i > 0; i--) {
    sigwait(&signals, &number);
    execl("/bin/sleep", "sleep", tooLong, (char *)NULL);
    if (!malloc(300)) return 3;
    printf("ready %d\n", getpid());
    fflush(stdout);
  }
  sigwait(&signals, &number);
  execl("/bin/sleep", "sleep", "1000", (char *)NULL);
  return 1;
}
