// Says when it is ready, then prints each signal it gets, and ends 0.3 s after the last. Usage: waiting READY-FILE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  sigset_t set;
  sigemptyset(&set);
  const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  for (int i = 0; i < 6; i++) sigaddset(&set, numbers[i]);
  sigprocmask(SIG_BLOCK, &set, NULL);
  free(malloc(10));
  char text[32];
  int ready = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
  if (write(ready, text, (size_t)length) != length) return 1;
  close(ready);
  // Ends a moment after the last signal, so that one delivered twice is seen.
  const struct timespec first = {100, 0}, later = {0, 300000000};
  int number = sigtimedwait(&set, NULL, &first);
  while (number > 0) {
    printf("got signal %d\n", number);
    number = sigtimedwait(&set, NULL, &later);
  }
  return 42;
}
