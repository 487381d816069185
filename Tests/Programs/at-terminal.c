// Says that it is ready, and when it was continued. Exits with 40 plus the number of SIGINT and SIGQUIT that it got.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t continued, interrupted;
static void onContinue(int number) { (void)number, continued++; }
static void onInterrupt(int number) { (void)number, interrupted++; }

int main(void) {
  struct sigaction action = {0};
  action.sa_handler = onContinue;
  sigaction(SIGCONT, &action, NULL);
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGQUIT, &action, NULL);
  free(malloc(10));
  printf("ready\n");
  fflush(stdout);
  int told = 0;
  for (int i = 0; i < 5000 && !interrupted; i++) {
    usleep(20000);
    if (continued > told) {
      told = continued;
      printf("continued\n");
      fflush(stdout);
    }
  }
  // Waits, so that another signal would still arrive and be counted.
  for (int i = 0; i < 10; i++) usleep(20000);
  return 40 + interrupted;
}
